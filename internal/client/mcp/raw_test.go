package mcp_test

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/testkit"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
	"mcptest/internal/server/mcpserver"
)

func TestAsks(t *testing.T) {
	for raw, want := range map[string]protocol.Asking{
		`{"jsonrpc":"2.0","id":"a","method":"ping"}`:                    protocol.AsksResponse,
		`[{"jsonrpc":"2.0","id":5,"method":"ping"}]`:                    protocol.AsksResponse,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n": protocol.AsksNothing,
		`{"jsonrpc":"2.0","id":1,"result":{}}`:                          protocol.AsksNothing,
		`{"jsonrpc":`:                                                   protocol.AsksUnclearly,
		`{}`:                                                            protocol.AsksUnclearly,
		`{"method":"x"}` + "\n" + `{"id":1,"method":"ping"}`:            protocol.AsksResponse,
		`{"method":"x"}` + "\n" + `{"method":"y"}`:                      protocol.AsksUnclearly,
		``: protocol.AsksUnclearly,
	} {
		if got := protocol.Asks([]byte(raw)); got != want {
			t.Errorf("%s: %v, want %v", raw, got, want)
		}
	}
}

func TestSendRaw(t *testing.T) {
	for _, tc := range []struct {
		name, send, answer string
		result, rpcErr     string
		response           string
		session            string
	}{
		{name: "own id", send: `{"jsonrpc":"2.0","id":"abc","method":"ping"}`, answer: `{"jsonrpc":"2.0","id":"abc","result":{}}`, result: "{}"},
		{name: "no JSON", send: `{nope`, answer: `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}`, rpcErr: `{"code":-32700,"message":"Parse error"}`},
		{name: "no version", send: `{"id":77,"method":"ping"}`, answer: `{"jsonrpc":"2.0","id":77,"error":{"code":-32600,"message":"x"}}`, rpcErr: `{"code":-32600,"message":"x"}`},
		{name: "other id in response", send: `{"jsonrpc":"2.0","id":77,"method":"ping"}`, answer: `{"jsonrpc":"2.0","id":78,"result":{}}`, result: "{}"},
		{name: "used id", send: `{"jsonrpc":"2.0","id":1,"method":"initialize"}`, answer: `{"jsonrpc":"2.0","id":1,"error":{"code":0,"message":"again"}}`, rpcErr: `{"code":0,"message":"again"}`},
		{name: "line end", send: "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"ping\"}\r\n", answer: `{"jsonrpc":"2.0","id":5,"result":{}}`, result: "{}"},
		{name: "batch", send: `[{"jsonrpc":"2.0","id":5,"method":"ping"}]`, answer: `[{"jsonrpc":"2.0","id":5,"result":{}}]`, response: `[{"jsonrpc":"2.0","id":5,"result":{}}]`},
		{
			name: "notification first", send: `{"jsonrpc":"2.0","id":5,"method":"ping"}`,
			answer: `{"jsonrpc":"2.0","method":"notifications/x"}` + "\nnoise\n" + `{"jsonrpc":"2.0","id":5,"result":{}}`, result: "{}", session: protocol.StrayOutput,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := scripted(t, mcp.Options{Protocol: ""}, func(p *peer) {
				if got := p.read(); got != strings.TrimRight(tc.send, "\r\n") {
					t.Errorf("sent %q", got)
				}
				p.write(tc.answer)
				id := idOf([]byte(p.read()))
				p.write(`{"jsonrpc":"2.0","id":` + id + `,"result":{}}`)
			})
			x := s.SendRaw(within(t, time.Minute), []byte(tc.send))
			got := outcomeOf(x)
			testkit.Equal(t, "the call", got, outcome{Result: tc.result, Error: tc.rpcErr, Violations: got.Violations, During: got.During})
			if tc.response != "" && string(x.Response) != tc.response {
				t.Errorf("response %s", x.Response)
			}
			if tc.name != "batch" && len(x.Violations) > 0 {
				t.Error(x.Violations)
			}
			if y := s.Do(within(t, time.Minute), mcp.Call{Method: "ping"}); y.Cause != nil {
				t.Error(y.Cause)
			}
			if vs := s.TakeViolations(); kinds(vs) != tc.session {
				t.Error(vs)
			}
		})
	}
}

func TestSendRawTimeout(t *testing.T) {
	s := scripted(t, mcp.Options{}, func(p *peer) {
		p.read()
		id := idOf([]byte(p.read()))
		p.write(`{"jsonrpc":"2.0","id":` + id + `,"result":{}}`)
	})
	x := s.SendRaw(within(t, 30*time.Millisecond), []byte(`{"jsonrpc":"2.0","method":"notifications/x"}`))
	if x.Cause == nil || !strings.Contains(x.Cause.Error(), "notifications/x timed out") {
		t.Error(x.Cause)
	}
	if y := s.Do(within(t, time.Minute), mcp.Call{Method: "ping"}); y.Cause != nil {
		t.Error(y.Cause)
	}
}

// A server that floods a call with notifications costs bounded memory.
func TestNotificationFlood(t *testing.T) {
	const n = 200_000
	line := `{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"` + strings.Repeat("x", 200) + `"}}`
	chunk := strings.Repeat(line+"\n", 100)
	s := scripted(t, mcp.Options{Limits: wire.Limits{During: 1 << 20}}, func(p *peer) {
		id := idOf([]byte(p.read()))
		for range n / 100 {
			p.rw.Write([]byte(chunk))
		}
		p.write(`{"jsonrpc":"2.0","id":` + id + `,"result":{}}`)
	})
	x := s.Do(within(t, 2*time.Minute), mcp.Call{Method: "tools/call"})
	if x.Cause != nil {
		t.Fatal(x.Cause)
	}
	if len(x.During)+x.Dropped != n || x.DroppedBytes < int64(n*len(line)-2<<20) {
		t.Errorf("%d kept, %d dropped of %d bytes", len(x.During), x.Dropped, x.DroppedBytes)
	}
	var mem runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&mem)
	if mem.HeapAlloc > 32<<20 {
		t.Errorf("%d MiB in use", mem.HeapAlloc>>20)
	}
	runtime.KeepAlive(x)
}

// A server that does not read can't block a caller beyond its context, nor Close.
func TestServerThatDoesNotRead(t *testing.T) {
	t.Parallel()
	over := make(chan struct{})
	defer close(over)
	s := scripted(t, mcp.Options{}, func(*peer) {
		select {
		case <-over:
		case <-time.After(time.Minute):
		}
	})
	big := []byte(`{"x":"` + strings.Repeat("x", 4<<20) + `"}`)
	start := time.Now()
	x := s.Do(within(t, 2*time.Second), mcp.Call{Method: "tools/call", Params: big})
	if x.Cause == nil || !strings.Contains(x.Cause.Error(), "(limit: timeout 2s); the server does not read its input") {
		t.Error(x.Cause)
	}
	if d := time.Since(start); d > 40*time.Second {
		t.Errorf("took %s", d)
	}
}

func TestParse(t *testing.T) {
	s := handled(t, mcp.Options{}, func(context.Context, *mcpserver.Request) *mcpserver.Reply {
		return &mcpserver.Reply{Result: []byte(`{"a":{"b":1,"b":2},"s":"\ud800"}`)}
	})
	x := s.Do(within(t, time.Minute), mcp.Call{Method: "tools/call"})
	v, vs, err := x.Parse(jsonv.Options{})
	testkit.Equal(t, "the error", err, nil)
	testkit.Equal(t, "the last of the equal keys", v.Lookup("result", "a", "b").Literal(), "2")
	testkit.Equal(t, "the violations", kinds(vs), protocol.DuplicateKey+","+protocol.LoneSurrogate)
	testkit.Equal(t, "the id of the first one", vs[0].ID, x.ID)
}
