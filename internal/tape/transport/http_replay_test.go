package transport_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mcptest/internal/base/secret"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/wire"
	"mcptest/internal/run/connect"
	"mcptest/internal/tape/cassette"
	"mcptest/internal/tape/transport"
)

// httpCassette writes a recording of a server over Streamable HTTP after its
// handshake, followed by lines.
func httpCassette(t *testing.T, lines ...string) string {
	t.Helper()
	const handshake = `{"mcptest_cassette":1,"server":{"name":"s","url":"http://127.0.0.1:1/mcp"},"transport":"streamable-http","masks":[]}
{"session":1,"at_ms":1,"dir":"to-server","stream":1,"http":{"method":"POST"},"message":{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}}
{"session":1,"at_ms":2,"dir":"from-server","stream":1,"http":{"status":200,"header":{"Content-Type":["application/json"]}},"message":{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"logging":{}},"serverInfo":{"name":"s","version":"1"}}}}
{"session":1,"at_ms":3,"stream":1,"end":{}}
{"session":1,"at_ms":4,"dir":"to-server","stream":2,"http":{"method":"POST"},"message":{"jsonrpc":"2.0","method":"notifications/initialized"}}
{"session":1,"at_ms":5,"dir":"from-server","stream":2,"http":{"status":202,"header":{"Content-Type":["text/plain"]}},"text":"Accepted"}
{"session":1,"at_ms":6,"stream":2,"end":{}}
{"session":1,"at_ms":7,"dir":"to-server","stream":3,"http":{"method":"GET"}}
{"session":1,"at_ms":8,"dir":"from-server","stream":3,"http":{"status":200,"header":{"Content-Type":["text/event-stream"]}}}
`
	dir := t.TempDir()
	text := handshake + strings.Join(lines, "\n") + "\n"
	if err := os.WriteFile(filepath.Join(dir, "s"+cassette.Suffix), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// recordedCall returns the lines of a call of echo, with what the server sends on the
// stream of the session during it and after it.
func recordedCall(session, stream int, args, during, after string) string {
	at := stream * 10
	line := func(format string, a ...any) string {
		at++
		return fmt.Sprintf(`{"session":%d,"at_ms":%d,`, session, at) + fmt.Sprintf(format, a...) + "}"
	}
	lines := []string{line(`"dir":"to-server","stream":%d,"http":{"method":"POST"},"message":{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo","arguments":%s}}`, stream, stream, args)}
	if during != "" {
		lines = append(lines, line(`"dir":"from-server","stream":3,"message":%s`, during))
	}
	lines = append(lines, line(`"dir":"from-server","stream":%d,"http":{"status":200,"header":{"Content-Type":["application/json"]}},"message":{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"ok"}]}}`, stream, stream))
	lines = append(lines, line(`"stream":%d,"end":{}`, stream))
	if after != "" {
		lines = append(lines, line(`"dir":"from-server","stream":3,"message":%s`, after))
	}
	return strings.Join(lines, "\n")
}

// replayed replays tests and returns their statuses.
func replayed(t *testing.T, dir, tests string) string {
	t.Helper()
	p := compile(t, t.TempDir(), "servers:\n  s: {url: \"http://127.0.0.1:1/mcp\"}\ntools:\n"+tests)
	f, err := transport.Replay(dir, p, transport.Options{Redact: secret.NewRedactor()})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	_, statuses := outcome(p, f.Dial)
	return statuses
}

const logged = `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}`

// What the server sent on the stream of the session belongs to the call during which
// it came, not to the next one, whichever goroutine of the client is faster.
func TestHTTPReplayKeepsOrderOfStreams(t *testing.T) {
	dir := httpCassette(t, recordedCall(1, 4, `{"n":1}`, logged, logged), recordedCall(1, 5, `{"n":2}`, "", logged), recordedCall(1, 6, `{"n":3}`, logged, ""))
	test := func(n, notifications int) string {
		return fmt.Sprintf("  - {name: t%d, tool: echo, args: {n: %d}, expect: [{target: notifications, matcher: {length: %d}}]}\n", n, n, notifications)
	}
	for range 20 {
		if got := replayed(t, dir, test(1, 1)+test(2, 0)+test(3, 1)); strings.Count(got, "pass") != 3 {
			t.Fatal(got)
		}
	}
}

// One more session than was recorded has a stream too: what was recorded on that of
// another session arrives on it.
func TestHTTPReplayOffersStreamToEachSession(t *testing.T) {
	dir := httpCassette(t, recordedCall(1, 4, `{"n":1}`, logged, ""), recordedCall(1, 5, `{"n":2}`, logged, ""))
	test := "  - {name: t%d, tool: echo, args: {n: %d}, expect: [{target: notifications, matcher: {length: 1}}]}\n"
	if got := replayed(t, dir, fmt.Sprintf(test+test, 1, 1, 2, 2)); strings.Count(got, "pass") != 2 {
		t.Error(got)
	}
	if got := replayed(t, dir, fmt.Sprintf(test+test, 1, 1, 2, 2)+"run_options: {restart_policy: per_test}\n"); strings.Count(got, "pass") != 2 {
		t.Error(got)
	}
}

// HTTP+SSE needs the recorded endpoint event, so one more session than was recorded is
// refused immediately.
func TestHTTPReplayRefusesUnrecordedSSESession(t *testing.T) {
	dir := t.TempDir()
	const text = `{"mcptest_cassette":1,"server":{"name":"s","url":"http://127.0.0.1:1/sse"},"transport":"sse","masks":[]}
{"session":1,"at_ms":1,"dir":"to-server","stream":1,"http":{"method":"GET"}}
{"session":1,"at_ms":2,"dir":"from-server","stream":1,"http":{"status":200,"header":{"Content-Type":["text/event-stream"]}}}
{"session":1,"at_ms":3,"dir":"from-server","stream":1,"event":{"type":"endpoint"},"text":"/messages"}
`
	if err := os.WriteFile(filepath.Join(dir, "s"+cassette.Suffix), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p := compile(t, t.TempDir(), "servers:\n  s: {url: \"http://127.0.0.1:1/sse\", transport: sse}\ntools:\n  - {name: t, tool: t}\n")
	f, err := transport.Replay(dir, p, transport.Options{Redact: secret.NewRedactor()})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for n := range 2 {
		tr, err := f.Dial(t.Context(), p.Files[0].Servers[0], connect.Options{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = mcp.Open(t.Context(), tr, mcp.Options{Protocol: "2024-11-05", ConnectTimeout: 30 * time.Second})
		if refused := errors.As(err, new(*wire.HTTPError)); refused != (n == 1) {
			t.Errorf("session %d: %v", n+1, err)
		}
	}
}
