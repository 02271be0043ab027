package cli_test

import (
	"bytes"
	"context"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"mcptest/internal/cli"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/server/mcpserver"
)

// Whole cassettes as input of each command that reads them: it may refuse them, but it always ends with an exit code.

// cassetteSeeds are recordings with frames before, between and after requests, over both transports.
var cassetteSeeds = []string{
	`{"mcptest_cassette":1,"server":{"name":"s","command":["s"]},"protocol":"2025-11-25","transport":"stdio","masks":[]}
{"session":1,"at_ms":0.1,"stderr":"starting\n"}
{"session":1,"at_ms":0.2,"dir":"from-server","text":"listening"}
{"session":1,"at_ms":1,"dir":"to-server","message":{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{}},"clientInfo":{"name":"c","version":"1"}}}}
{"session":1,"at_ms":2,"dir":"from-server","message":{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}}
{"session":1,"at_ms":3,"dir":"to-server","message":{"jsonrpc":"2.0","method":"notifications/initialized"}}
{"session":1,"at_ms":4,"dir":"from-server","message":{"jsonrpc":"2.0","id":7,"method":"roots/list"}}
{"session":1,"at_ms":5,"dir":"to-server","message":{"jsonrpc":"2.0","id":7,"result":{"roots":[{"uri":"file:///a"}]}}}
{"session":1,"at_ms":6,"dir":"to-server","message":{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"a":1},"_meta":{"progressToken":9}}}}
{"session":1,"at_ms":6.5,"dir":"from-server","message":{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":9,"progress":1}}}
{"session":1,"at_ms":7,"dir":"from-server","message":{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"ok"}]}}}
{"session":1,"at_ms":8,"dir":"to-server","message":{"jsonrpc":"2.0","id":3,"method":"tools/list"}}
{"session":1,"at_ms":9,"dir":"from-server","message":{"jsonrpc":"2.0","id":3,"result":{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}}}
{"session":1,"at_ms":9.5,"dir":"to-server","message":{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"crash","arguments":{}}}}
{"session":1,"at_ms":10,"stderr":"bye\n"}
{"session":1,"at_ms":11,"end":{"reason":"the server exited","exit":{"code":3}}}
`,
	`{"mcptest_cassette":1,"server":{"url":"http://127.0.0.1:9/mcp"},"protocol":"2026-07-28","transport":"streamable-http","masks":["secrets","session-ids"]}
{"session":1,"at_ms":0,"dir":"from-server","stream":3,"message":{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"early"}}}
{"session":1,"at_ms":1,"dir":"to-server","stream":1,"http":{"method":"POST"},"message":{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}}
{"session":1,"at_ms":2,"dir":"from-server","stream":1,"http":{"status":200,"header":{"Content-Type":["application/json"]}},"message":{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}}}}
{"session":1,"at_ms":3,"dir":"to-server","stream":2,"http":{"method":"GET"}}
{"session":1,"at_ms":4,"dir":"from-server","stream":2,"http":{"status":405}}
{"session":1,"at_ms":5,"dir":"to-server","stream":4,"http":{"method":"POST"},"message":{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"add","arguments":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}}
{"session":1,"at_ms":6,"dir":"from-server","stream":4,"http":{"status":200,"header":{"Content-Type":["text/event-stream"]}}}
{"session":1,"at_ms":7,"dir":"from-server","stream":4,"event":{"id":"1"},"message":{"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","content":[{"type":"text","text":"3"}]}}}
{"session":1,"at_ms":8,"stream":4,"end":{}}
{"session":1,"at_ms":9,"dir":"to-server","stream":5,"http":{"method":"POST"},"message":{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"add","arguments":{"a":"[redacted]"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}}
{"session":1,"at_ms":10,"stream":5,"end":{"reason":"connection reset by peer"}}
`,
}

// cassetteTrial runs one command with a cassette at path, in a folder of its own.
type cassetteTrial struct {
	t        *testing.T
	path     string
	out, err bytes.Buffer
}

// oddFrames are further lines of cassettes.
const oddFrames = `{"session":2,"at_ms":1,"dir":"to-server","message":{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"echo","arguments":{"a":1}}}}
{"session":2,"at_ms":2,"dir":"from-server","message":{"jsonrpc":"2.0","id":"a","error":{"code":-32602,"message":"no"}}}
{"session":2,"at_ms":3,"end":{"client":true,"exit":{"code":0}}}
{"session":1,"at_ms":3,"end":{"exit":{"code":-1,"signal":"segmentation fault"}}}
{"session":1,"at_ms":3,"note":{"a":1}}
{"session":1,"at_ms":3,"dir":"to-server","message":{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}}
{"session":1,"at_ms":3,"dir":"to-server","message":{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}}
{"session":1,"at_ms":3,"dir":"to-server","message":[{"jsonrpc":"2.0","id":2,"method":"ping"},{"jsonrpc":"2.0","id":3,"method":"tools/list"}]}
{"session":1,"at_ms":3,"dir":"from-server","message":[{"jsonrpc":"2.0","id":2,"result":{}},{"jsonrpc":"2.0","id":3,"result":{"tools":[{"name":"echo"},{"name":1},7],"nextCursor":"x"}}]}
{"session":1,"at_ms":3,"dir":"to-server","text":"hello"}
{"session":1,"at_ms":3,"dir":"from-server","bytes":"/w=="}
{"session":1,"at_ms":3,"dir":"from-server","text":"{\"jsonrpc\":\"2.0\",\"id\":2,","omitted":999999,"tail":",\"id\":2}","unterminated":true}
{"session":1,"at_ms":3,"dir":"from-server","message":{"jsonrpc":"2.0","id":2,"result":{"resultType":"input_required","inputRequests":{"q":{"method":"elicitation/create","params":{"message":"?"}}},"requestState":"s"}}}
{"session":1,"at_ms":3,"dir":"to-server","message":{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"echo","arguments":{"a":1},"requestState":"s","inputResponses":{"q":{"action":"decline"}}}}}
{"session":1,"at_ms":3,"dir":"to-server","message":{"jsonrpc":"2.0","id":5,"method":"resources/read","params":{"uri":"x://y"}}}
{"session":1,"at_ms":3,"dir":"from-server","message":{"jsonrpc":"2.0","id":5,"result":{"contents":[{"uri":"x://y","blob":"aGk="}],"isError":true}}}
{"session":1,"at_ms":3,"dir":"to-server","stream":9,"http":{"method":"GET","header":{"Last-Event-Id":["1"]}}}
{"session":1,"at_ms":3,"dir":"from-server","stream":9,"http":{"status":200,"header":{"Content-Type":["text/event-stream"]}}}
{"session":1,"at_ms":3,"dir":"from-server","stream":9,"event":{"type":"endpoint"},"text":"/messages?sessionId=1"}
{"session":1,"at_ms":3,"stream":9,"end":{"client":true,"reason":"gone"}}
`

// fuzzCassettes adds a target for a command. Each byte of its input selects a line of a cassette, the first one its header.
func fuzzCassettes(f *testing.F, check func(*cassetteTrial)) {
	var headers, frames []string
	for _, seed := range cassetteSeeds {
		lines := strings.SplitAfter(strings.TrimSuffix(seed, "\n"), "\n")
		order := []byte{byte(len(headers))}
		headers = append(headers, lines[0])
		for _, line := range lines[1:] {
			order = append(order, byte(len(frames)))
			frames = append(frames, strings.TrimSuffix(line, "\n")+"\n")
		}
		f.Add(order)
		f.Add(append(order[:1:1], order[4:]...))
		f.Add(order[:4:4])
	}
	frames = append(frames, strings.SplitAfter(strings.TrimSuffix(oddFrames, "\n"), "\n")...)
	f.Fuzz(func(t *testing.T, order []byte) {
		t.Parallel() // verify waits for late messages
		if len(order) == 0 || len(order) > 100 {
			return
		}
		text := headers[int(order[0])%len(headers)]
		for _, n := range order[1:] {
			text += strings.TrimSuffix(frames[int(n)%len(frames)], "\n") + "\n"
		}
		x := &cassetteTrial{t: t, path: filepath.Join(t.TempDir(), "s.cassette.ndjson")}
		if err := os.WriteFile(x.path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		check(x)
		if t.Failed() {
			t.Log(text)
		}
	})
}

// run returns the exit code of a command, which must be one that is documented.
func (x *cassetteTrial) run(in io.Reader, args ...string) int {
	x.out.Reset()
	x.err.Reset()
	code := cli.Main(args, cmdutil.Streams{In: in, Out: &x.out, Err: &x.err, Env: []string{"HOME=" + filepath.Dir(x.path)}, Exit: func(int) {}, Args: args})
	if crash := args[0] == "serve"; !crash && (code < 0 || code == 3 || code > 7) { // serve ends like the recorded server
		x.t.Errorf("exit code %d\n%s%s", code, &x.out, &x.err)
	}
	return code
}

func FuzzCassetteShow(f *testing.F) {
	fuzzCassettes(f, func(x *cassetteTrial) { x.run(nil, "cassette", "show", x.path) })
}

// A cassette has no differences from itself.
func FuzzCassetteDiff(f *testing.F) {
	fuzzCassettes(f, func(x *cassetteTrial) {
		if code := x.run(nil, "cassette", "diff", x.path, x.path); code == 6 {
			x.t.Errorf("%s%s", &x.out, &x.err)
		}
	})
}

// What redact writes can be read.
func FuzzCassetteRedact(f *testing.F) {
	fuzzCassettes(f, func(x *cassetteTrial) {
		out := filepath.Join(filepath.Dir(x.path), "out.ndjson")
		if x.run(nil, "cassette", "redact", x.path, "-o", out) != 0 {
			return
		}
		if code := x.run(nil, "cassette", "show", out); code != 0 {
			x.t.Errorf("show of what was written: %d\n%s", code, &x.err)
		}
	})
}

// A promoted suite loads.
func FuzzCassettePromote(f *testing.F) {
	fuzzCassettes(f, func(x *cassetteTrial) {
		out := filepath.Join(filepath.Dir(x.path), "s.mcptest.yaml")
		if x.run(nil, "cassette", "promote", x.path, "-o", out) != 0 {
			return
		}
		if code := x.run(nil, "validate", out); code != 0 {
			text, _ := os.ReadFile(out)
			x.t.Errorf("the suite does not load: %s\n%s", &x.err, text)
		}
	})
}

// The client sends what the recorded one sent.
func FuzzCassetteServe(f *testing.F) {
	message := regexp.MustCompile(`"dir":"to-server".*"message":(\{.*\})\}`)
	fuzzCassettes(f, func(x *cassetteTrial) {
		text, _ := os.ReadFile(x.path)
		var in strings.Builder
		for _, found := range message.FindAllStringSubmatch(string(text), -1) {
			in.WriteString(found[1] + "\n")
		}
		x.run(strings.NewReader(in.String()), "serve", "--cassette", x.path)
	})
}

// The other build answers each request with an empty object.
func FuzzCassetteVerify(f *testing.F) {
	web := httptest.NewServer(mcpserver.NewHTTPServer(func() mcpserver.Handler {
		return mcpserver.HandlerFunc(func(_ context.Context, req *mcpserver.Request) *mcpserver.Reply {
			if req.Method == "initialize" {
				return &mcpserver.Reply{Result: []byte(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}`)}
			}
			return &mcpserver.Reply{Result: []byte(`{"tools":[]}`)}
		})
	}))
	f.Cleanup(web.Close)
	fuzzCassettes(f, func(x *cassetteTrial) {
		x.run(nil, "cassette", "verify", x.path, "--timeout", "1s", "--url", web.URL+"/mcp")
	})
}

func FuzzCassetteReplay(f *testing.F) {
	fuzzCassettes(f, func(x *cassetteTrial) {
		suite := filepath.Join(filepath.Dir(x.path), "s.mcptest.yaml")
		err := os.WriteFile(suite, []byte(`servers: {s: {command: [s], connect_timeout: 1s}}
tools:
  - {name: echo, tool: echo, args: {a: 1}, timeout: 1s}
  - {name: crash, tool: crash, timeout: 1s}
`), 0o600)
		if err != nil {
			x.t.Fatal(err)
		}
		x.run(nil, "run", "--replay", filepath.Dir(x.path), suite)
	})
}
