package mcp_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/testkit"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
)

func TestServerRequests(t *testing.T) {
	answer := func(_ context.Context, method string, _ []byte) ([]byte, *protocol.RPCError) {
		switch method {
		case "roots/list":
			return []byte("{\n\"roots\": []\n}"), nil
		case "sampling/createMessage":
			return nil, &protocol.RPCError{Code: -1, Message: "no", Data: []byte("[1]")}
		}
		return nil, nil
	}
	own := func(context.Context, string, []byte) ([]byte, *protocol.RPCError) { return []byte(`{"own":true}`), nil }
	for _, tc := range []struct {
		name, ask, want string
		session, call   mcp.Answerer
		violations      string
	}{
		{name: "ping", ask: `{"jsonrpc":"2.0","id":"p","method":"ping"}`, want: `{"jsonrpc":"2.0","id":"p","result":{}}`},
		{name: "scripted", session: answer, ask: `{"jsonrpc":"2.0","id":0,"method":"roots/list"}`, want: `{"jsonrpc":"2.0","id":0,"result":{ "roots": [] }}`},
		{
			name: "error", session: answer, ask: `{"jsonrpc":"2.0","id":7,"method":"sampling/createMessage","params":{}}`,
			want: `{"jsonrpc":"2.0","id":7,"error":{"code":-1,"message":"no","data":[1]}}`,
		},
		{
			name: "unscripted", session: answer, ask: `{"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{}}`,
			want: `{"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"Method not found"}}`,
		},
		{name: "unanswered", ask: `{"jsonrpc":"2.0","id":7,"method":"roots/list"}`, want: `{"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"Method not found"}}`},
		{name: "the call's own", session: answer, call: own, ask: `{"jsonrpc":"2.0","id":7,"method":"roots/list"}`, want: `{"jsonrpc":"2.0","id":7,"result":{"own":true}}`},
		{name: "same id as ours", ask: `{"jsonrpc":"2.0","id":2,"method":"ping"}`, want: `{"jsonrpc":"2.0","id":2,"result":{}}`},
		{name: "wrong params", session: answer, ask: `{"jsonrpc":"2.0","id":2,"method":"roots/list","params":3}`, want: `{"jsonrpc":"2.0","id":2,"result":{ "roots": [] }}`, violations: protocol.BadMessage},
		{name: "fractional id", ask: `{"jsonrpc":"2.0","id":2.5,"method":"ping"}`, want: `{"jsonrpc":"2.0","id":2.5,"result":{}}`, violations: protocol.BadMessage},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := scripted(t, mcp.Options{Answer: tc.session}, func(p *peer) {
				id := idOf([]byte(p.read()))
				p.write(tc.ask)
				if got := p.read(); got != tc.want {
					t.Errorf("answered %s, want %s", got, tc.want)
				}
				p.write(`{"jsonrpc":"2.0","id":` + id + `,"result":{}}`)
			})
			x := s.Do(within(t, time.Minute), mcp.Call{Method: "tools/call", Answer: tc.call})
			testkit.Equal(t, "the cause", x.Cause, nil)
			testkit.Equal(t, "the violations of the call", kinds(x.Violations), "")
			testkit.Equal(t, "the violations of the session", kinds(s.TakeViolations()), tc.violations)
			if len(x.During) != 2 {
				t.Fatalf("during: %s", methods(x.During))
			}
			asked, answered := x.During[0], x.During[1]
			testkit.Equal(t, "the kinds", []string{asked.Kind.String(), answered.Kind.String()}, []string{"request", "answer"})
			testkit.Equal(t, "the messages", []string{string(asked.Raw), string(answered.Raw)}, []string{tc.ask, tc.want})
			testkit.Equal(t, "the id of the response", answered.ID, asked.ID)
			testkit.Equal(t, "the direction of the response", answered.Dir, wire.ToServer)
		})
	}
}

// A server that sends requests endlessly and never reads is stopped by the limit.
func TestRequestFlood(t *testing.T) {
	block := func(ctx context.Context, _ string, _ []byte) ([]byte, *protocol.RPCError) {
		<-ctx.Done()
		return nil, nil
	}
	s := scripted(t, mcp.Options{Answer: block, Limits: wire.Limits{Requests: 8}}, func(p *peer) {
		id := idOf([]byte(p.read()))
		for i := range 100 {
			p.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":"r%d","method":"roots/list"}`, i))
		}
		p.write(`{"jsonrpc":"2.0","id":"r0","method":"roots/list"}`, `{"jsonrpc":"2.0","id":`+id+`,"result":{}}`)
	})
	before := runtime.NumGoroutine()
	x := s.Do(within(t, time.Minute), mcp.Call{Method: "tools/call"})
	if n := runtime.NumGoroutine() - before; n > 10 {
		t.Errorf("%d goroutines more", n)
	}
	vs := s.TakeViolations()
	testkit.Equal(t, "the cause", x.Cause, nil)
	testkit.Equal(t, "the violations", kinds(vs), protocol.Flood+","+protocol.BadMessage)
	testkit.Equal(t, "the numbers of violations and messages", []int{len(vs), len(x.During)}, []int{93, 101})
}

func TestServerCancelsItsRequest(t *testing.T) {
	cancelled := make(chan struct{})
	s := scripted(t, mcp.Options{Answer: func(ctx context.Context, _ string, _ []byte) ([]byte, *protocol.RPCError) {
		<-ctx.Done()
		close(cancelled)
		return []byte("{}"), nil
	}}, func(p *peer) {
		id := idOf([]byte(p.read()))
		p.write(`{"jsonrpc":"2.0","id":"x","method":"roots/list"}`, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"x"}}`)
		<-cancelled
		p.write(`{"jsonrpc":"2.0","id":` + id + `,"result":{}}`)
	})
	x := s.Do(within(t, time.Minute), mcp.Call{Method: "tools/call"})
	testkit.Equal(t, "the cause", x.Cause, nil)
	testkit.Equal(t, "the messages", methods(x.During), "request roots/list, notification notifications/cancelled")
}

// Progress belongs to the call with its token, other notifications to every call in flight.
func TestAttribution(t *testing.T) {
	s := scripted(t, mcp.Options{}, func(p *peer) {
		a := p.read()
		b := p.read()
		if strings.Contains(a, `"b"`) {
			a, b = b, a
		}
		ida, idb := idOf([]byte(a)), idOf([]byte(b))
		if want := `"params":{"name":"a","_meta":{"progressToken":` + ida + `}}`; !strings.Contains(a, want) {
			t.Errorf("sent %s, want %s", a, want)
		}
		p.write(
			`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":`+ida+`,"progress":1}}`,
			`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"mine","progress":1}}`,
			`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"`+ida+`","progress":2}}`,
			`{"jsonrpc":"2.0","method":"notifications/message","params":{}}`,
			`{"jsonrpc":"2.0","id":`+idb+`,"result":{}}`,
			`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"mine","progress":2}}`,
			`{"jsonrpc":"2.0","id":`+ida+`,"result":{}}`)
	})
	var wg sync.WaitGroup
	var a, b *mcp.Exchange
	wg.Go(func() {
		a = s.Do(within(t, time.Minute), mcp.Call{Method: "tools/call", Params: []byte(`{"name":"a"}`), ProgressToken: true})
	})
	wg.Go(func() {
		b = s.Do(within(t, time.Minute), mcp.Call{Method: "tools/call", Params: []byte(`{"name":"b","_meta":{"progressToken":"mine"}}`), ProgressToken: true})
	})
	wg.Wait()
	const progress, message = "notification notifications/progress", "notification notifications/message"
	testkit.Equal(t, "call a", outcomeOf(a), outcome{Result: "{}", Violations: protocol.ProgressToken, During: progress + ", " + progress + ", " + message + ", " + progress})
	testkit.Equal(t, "call b", outcomeOf(b), outcome{Result: "{}", During: progress + ", " + message})
	if len(b.During) == 2 {
		testkit.Equal(t, "which messages of call b are shared", []bool{b.During[0].Shared, b.During[1].Shared}, []bool{false, true})
	}
	testkit.Equal(t, "the violations of the session", kinds(s.TakeViolations()), "")
}

// Many concurrent calls, with responses in reverse order and stray output between them.
func TestConcurrent(t *testing.T) {
	const n = 50
	s := scripted(t, mcp.Options{}, func(p *peer) {
		for range 20 {
			var ids []string
			for range n {
				l := p.read()
				if l == "" {
					return
				}
				ids = append(ids, idOf([]byte(l)))
			}
			for i := n - 1; i >= 0; i-- {
				p.write("noise", `{"jsonrpc":"2.0","id":`+ids[i]+`,"result":{"id":`+ids[i]+`}}`)
			}
		}
	})
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			for range 20 {
				x := s.Do(within(t, time.Minute), mcp.Call{Method: "tools/call"})
				testkit.Equal(t, "the call", outcomeOf(x), outcome{Result: `{"id":` + x.ID + `}`})
			}
		})
	}
	wg.Wait()
	if vs := s.TakeViolations(); len(vs) != n*20 || kinds(vs) != protocol.StrayOutput {
		t.Errorf("%d violations", len(vs))
	}
}

// A request beyond what the client declares is refused, and is a violation of the version
// that forbids it.
func TestUndeclaredRequest(t *testing.T) {
	answer := func(context.Context, string, []byte) ([]byte, *protocol.RPCError) { return []byte(`{}`), nil }
	s := scripted(t, mcp.Options{Answer: answer, Capabilities: jsonv.ObjectOf("sampling", jsonv.Object())}, func(p *peer) {
		id := idOf([]byte(p.read()))
		for _, c := range []struct{ ask, want string }{
			{`{"jsonrpc":"2.0","id":7,"method":"roots/list"}`, `{"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"the client does not declare roots"}}`},
			{`{"jsonrpc":"2.0","id":8,"method":"sampling/createMessage","params":{"tools":[]}}`, `{"jsonrpc":"2.0","id":8,"error":{"code":-32602,"message":"the client does not declare sampling.tools"}}`},
			{`{"jsonrpc":"2.0","id":9,"method":"sampling/createMessage","params":{}}`, `{"jsonrpc":"2.0","id":9,"result":{}}`},
		} {
			p.write(c.ask)
			if got := p.read(); got != c.want {
				t.Errorf("answered %s, want %s", got, c.want)
			}
		}
		p.write(`{"jsonrpc":"2.0","id":` + id + `,"result":{}}`)
	})
	s.Do(within(t, time.Minute), mcp.Call{Method: "tools/call"})
	testkit.Equal(t, "the number of violations", len(s.TakeViolations()), 2)
}
