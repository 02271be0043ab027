package serve_test

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"mcptest/internal/cassette"
	"mcptest/internal/cassette/serve"
	"mcptest/internal/mcpserver"
)

// Some clients lose progress that they read together with the response.
func TestResponseAfterProgressWaits(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "c.cassette.ndjson")
	err := os.WriteFile(file, []byte(`{"mcptest_cassette":1,"server":{},"protocol":"2025-11-25","transport":"stdio","masks":[]}
{"session":1,"at_ms":1,"dir":"to-server","message":{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}}
{"session":1,"at_ms":2,"dir":"from-server","message":{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}}
{"session":1,"at_ms":3,"dir":"to-server","message":{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"work","_meta":{"progressToken":2}}}}
{"session":1,"at_ms":4,"dir":"from-server","message":{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":2,"progress":1}}}
{"session":1,"at_ms":4,"dir":"from-server","message":{"jsonrpc":"2.0","id":2,"result":{"content":[]}}}
`), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	c, err := cassette.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	s, err := serve.New(c, serve.Options{Report: func(string) {}})
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		in, send := io.Pipe()
		receive, out := io.Pipe()
		go func() {
			_ = mcpserver.ServeStdio(t.Context(), in, out, s.Handler())
			_ = out.Close()
		}()
		lines := bufio.NewScanner(receive)
		ask := func(message string, want ...string) (last time.Duration) {
			t.Helper()
			_, _ = io.WriteString(send, message+"\n")
			var begin time.Time
			for _, text := range want {
				if begin = time.Now(); !lines.Scan() || !strings.Contains(lines.Text(), text) {
					t.Fatalf("got %q, expected %s", lines.Text(), text)
				}
				last = time.Since(begin)
			}
			return last
		}
		ask(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`, `"id":1`)
		took := ask(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"work","_meta":{"progressToken":7}}}`, "notifications/progress", `"id":7`)
		if took < 10*time.Millisecond {
			t.Errorf("the response came %s after the progress", took)
		}
		_ = send.Close()
	})
}
