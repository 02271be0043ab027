package mcpserver_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/server/mcpserver"
)

// serveText runs a server over the text and returns what it wrote, sorted by line.
func serveText(t *testing.T, in string, h mcpserver.HandlerFunc) []string {
	t.Helper()
	var out bytes.Buffer
	if err := mcpserver.ServeStdio(context.Background(), strings.NewReader(in), &out, h); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	slices.Sort(lines)
	return lines
}

func TestServeLines(t *testing.T) {
	h := func(_ context.Context, r *mcpserver.Request) *mcpserver.Reply {
		switch r.Method {
		case "ok":
			return &mcpserver.Reply{Result: []byte("{}")}
		case "fail":
			return &mcpserver.Reply{Error: &protocol.RPCError{Code: -1, Message: "m"}}
		case "raw":
			return &mcpserver.Reply{Raw: []byte("junk\n")}
		case "empty":
			return &mcpserver.Reply{}
		}
		return nil
	}
	const parse, invalid = `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid Request`
	for _, tc := range []struct {
		in   string
		want []string // beginnings
	}{
		{`{"jsonrpc":"2.0","id":1,"method":"ok"}`, []string{`{"jsonrpc":"2.0","id":1,"result":{}}`}},
		{`{"jsonrpc":"2.0","id":"a","method":"fail"}`, []string{`{"jsonrpc":"2.0","id":"a","error":{"code":-1,"message":"m"}}`}},
		{`{"jsonrpc":"2.0","id":1,"method":"raw"}`, []string{"junk"}},
		{`{"jsonrpc":"2.0","id":1,"method":"empty"}`, []string{""}},
		{`{"jsonrpc":"2.0","id":1,"method":"none"}`, []string{""}},
		{`{"jsonrpc":"2.0","method":"ok"}`, []string{""}},
		{"\r\n\n", []string{""}},
		{`{nope`, []string{parse}},
		{`42`, []string{invalid}},
		{`[]`, []string{invalid}},
		{`[1]`, []string{invalid}},
		{`[`, []string{parse}},
		{`{"jsonrpc":"2.0","id":null,"method":"ok"}`, []string{invalid}},
		{`{"jsonrpc":"2.0","id":1,"method":3}`, []string{invalid}},
		{`{"jsonrpc":"2.0","id":99,"result":{}}`, []string{""}},
		{`[{"jsonrpc":"2.0","id":1,"method":"ok"},{"jsonrpc":"2.0","method":"ok"}]`, []string{`[{"jsonrpc":"2.0","id":1,"result":{}}]`}},
		{`[{"jsonrpc":"2.0","id":1,"method":"none"}]`, []string{""}},
		{
			"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ok\"}\n{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ok\"}\r\n",
			[]string{`{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","id":2,"result":{}}`},
		},
	} {
		got := serveText(t, tc.in, h)
		if len(got) != len(tc.want) {
			t.Errorf("%s: got %q", tc.in, got)
			continue
		}
		for i := range got {
			if !strings.HasPrefix(got[i], tc.want[i]) || tc.want[i] == "" && got[i] != "" {
				t.Errorf("%s: got %q, want %q", tc.in, got[i], tc.want[i])
			}
		}
	}
}

// Answers that are being made when the input ends are still written.
func TestServeFinishes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got := serveText(t, `{"jsonrpc":"2.0","id":1,"method":"slow"}`, func(context.Context, *mcpserver.Request) *mcpserver.Reply {
			<-time.After(time.Hour)
			return &mcpserver.Reply{Result: []byte("{}")}
		})
		if got[0] != `{"jsonrpc":"2.0","id":1,"result":{}}` {
			t.Errorf("%q", got)
		}
	})
}

func TestServeCancel(t *testing.T) {
	cancelled := make(chan struct{})
	s := handled(t, mcp.Options{}, func(ctx context.Context, r *mcpserver.Request) *mcpserver.Reply {
		if r.Method == "tools/call" {
			<-ctx.Done()
			close(cancelled)
		}
		return nil
	})
	s.Do(t.Context(), mcp.Call{Method: "tools/call", CancelAfter: 10 * time.Millisecond})
	select {
	case <-cancelled:
	case <-time.After(time.Minute):
		t.Error("the request was not cancelled")
	}
}

func TestServeAsk(t *testing.T) {
	declared := jsonv.ObjectOf("roots", jsonv.Object(), "sampling", jsonv.Object())
	s := handled(t, mcp.Options{Capabilities: declared, Answer: func(_ context.Context, m string, p []byte) ([]byte, *protocol.RPCError) {
		if m == "roots/list" {
			return []byte(`{"roots":[]}`), nil
		}
		return nil, nil
	}}, func(ctx context.Context, r *mcpserver.Request) *mcpserver.Reply {
		if r.Notification {
			return nil
		}
		v, err := r.Ask(ctx, "roots/list", nil)
		if err != nil || v.String() != `{"roots":[]}` {
			t.Errorf("%s %v", v, err)
		}
		var rpc *protocol.RPCError
		if _, err = r.Ask(ctx, "sampling/createMessage", []byte("{}")); !errors.As(err, &rpc) || rpc.Code != protocol.CodeMethodNotFound {
			t.Errorf("%v", err)
		}
		if err := r.WriteRaw([]byte("stray\n")); err != nil {
			t.Error(err)
		}
		if err := r.Notify("notifications/x", nil); err != nil {
			t.Error(err)
		}
		return &mcpserver.Reply{Result: []byte("{}")}
	})
	x := s.Do(within(t, time.Minute), mcp.Call{Method: "tools/call"})
	want := "request roots/list, answer roots/list, request sampling/createMessage, answer sampling/createMessage, notification notifications/x"
	if x.Cause != nil || methods(x.During) != want {
		t.Errorf("%v %s", x.Cause, methods(x.During))
	}
	if vs := s.TakeViolations(); len(vs) != 1 || vs[0].Kind != protocol.StrayOutput {
		t.Error(vs)
	}
}

// An Ask ends when the client goes away.
func TestServeHangUp(t *testing.T) {
	r, w := io.Pipe()
	sent, out := io.Pipe()
	defer out.Close()
	asked := make(chan error, 1)
	done := make(chan error, 1)
	go func() {
		done <- mcpserver.ServeStdio(context.Background(), r, out, mcpserver.HandlerFunc(func(ctx context.Context, r *mcpserver.Request) *mcpserver.Reply {
			_, err := r.Ask(ctx, "roots/list", nil)
			asked <- err
			return nil
		}))
	}()
	io.WriteString(w, `{"jsonrpc":"2.0","id":1,"method":"x"}`+"\n")
	if _, err := bufio.NewReader(sent).ReadString('\n'); err != nil { // the question
		t.Fatal(err)
	}
	go io.Copy(io.Discard, sent)
	w.Close()
	if err := <-asked; err == nil {
		t.Error("not answered")
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}
