package serve_test

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"mcptest/internal/server/mcpserver"
	"mcptest/internal/tape/cassette"
	"mcptest/internal/tape/serve"
)

// Over HTTP, a recorded crash resets the connection, and a version that was not recorded is refused.
func TestCrashOverHTTP(t *testing.T) {
	t.Parallel()
	const hello = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	for version, row := range map[string]struct{ cassette, first, call string }{
		"2025-11-25": {
			`{"mcptest_cassette":1,"server":{},"protocol":"2025-11-25","transport":"stdio","masks":[]}
{"session":1,"at_ms":1,"dir":"to-server","message":{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}}
{"session":1,"at_ms":2,"dir":"from-server","message":{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}}
{"session":1,"at_ms":3,"dir":"to-server","message":{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"crash","arguments":{}}}}
{"session":1,"at_ms":4,"end":{"exit":{"code":7}}}
`, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`,
			`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"crash","arguments":{}}}`,
		},
		"2026-07-28": {
			`{"mcptest_cassette":1,"server":{},"protocol":"2026-07-28","transport":"streamable-http","masks":[]}
{"session":1,"at_ms":3,"dir":"to-server","stream":1,"http":{"method":"POST"},"message":{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"crash","arguments":{},` + hello + `}}}
{"session":1,"at_ms":4,"stream":1,"end":{"reason":"read: connection reset by peer"}}
`, `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{` + hello + `}}`,
			`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"crash","arguments":{},` + hello + `}}`,
		},
	} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			c, err := cassette.Read("c", strings.NewReader(row.cassette), int64(len(row.cassette)))
			if err != nil {
				t.Fatal(err)
			}
			s, err := serve.New(c, serve.Options{HTTP: true, Report: func(string) {}})
			if err != nil {
				t.Fatal(err)
			}
			web := httptest.NewServer(mcpserver.NewHTTPServer(s.Handler))
			defer web.Close()
			session := ""
			post := func(body, version string) (text string, err error) {
				req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, web.URL+"/mcp", strings.NewReader(body))
				req.Header.Set("Mcp-Protocol-Version", version)
				req.Header.Set("Mcp-Method", regexp.MustCompile(`"method":"(.*?)"`).FindStringSubmatch(body)[1])
				req.Header.Set("Mcp-Name", "crash")
				if session != "" {
					req.Header.Set("Mcp-Session-Id", session)
				}
				res, err := http.DefaultClient.Do(req)
				if err != nil {
					return "", err
				}
				defer res.Body.Close()
				session = res.Header.Get("Mcp-Session-Id")
				got, err := io.ReadAll(res.Body)
				return res.Status + " " + string(got), err
			}
			if got, err := post(row.first, version); err != nil || !strings.Contains(got, `"result"`) {
				t.Errorf("%s %v", got, err)
			}
			if got, err := post(row.call, version); !errors.Is(err, syscall.ECONNRESET) {
				t.Errorf("expected a reset, got %s %v", got, err)
			}
			session = ""
			if version == "2025-11-25" {
				got, err := post(strings.Replace(row.call, `"arguments":{}`, `"arguments":{},`+hello, 1), "2026-07-28")
				if err != nil || !strings.Contains(got, `400 Bad Request`) || !strings.Contains(got, `-32022`) || !strings.Contains(got, `"supported":["2025-11-25"]`) {
					t.Errorf("%s %v", got, err)
				}
			}
		})
	}
}

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
