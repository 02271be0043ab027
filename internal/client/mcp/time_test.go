package mcp_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"mcptest/internal/base/testkit"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
)

func TestTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []string
		seen := make(chan struct{})
		s := scripted(t, mcp.Options{}, func(p *peer) {
			call := p.read()
			got = append(got, p.read())
			p.write(`{"jsonrpc":"2.0","id":` + idOf([]byte(call)) + `,"result":{}}`)
			call = p.read()
			p.write(`{"jsonrpc":"2.0","id":`+idOf([]byte(call))+`,"result":{}}`, `{"jsonrpc":"2.0","id":`+mcp.ID(2)+`,"result":{}}`)
			close(seen)
			p.read()
		})
		start := time.Now()
		x := s.Do(within(t, 3*time.Second), mcp.Call{Method: "tools/call"})
		if d := time.Since(start); d != 3*time.Second {
			t.Errorf("ended after %s", d)
		}
		var timeout *mcp.TimeoutError
		if !errors.As(x.Cause, &timeout) || !errors.Is(x.Cause, context.DeadlineExceeded) {
			t.Errorf("cause %#v", x.Cause)
		}
		testkit.Equal(t, "the cause", x.Cause, errors.New("tools/call timed out after 3s (limit: timeout 3s)"))
		testkit.Equal(t, "the time", x.Elapsed, 3*time.Second)
		testkit.Equal(t, "whether it is answered", x.Answered(), false)
		testkit.Equal(t, "the next call", outcomeOf(s.Do(within(t, time.Second), mcp.Call{Method: "ping"})), outcome{Result: "{}"})
		<-seen
		synctest.Wait()
		if want := `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + mcp.ID(2) + `,"reason":"tools/call timed out after 3s (limit: timeout 3s)"}}`; got[0] != want {
			t.Errorf("sent %s", got[0])
		}
		// The first late response is none; the same once more is a second response.
		vs := s.TakeViolations()
		testkit.Equal(t, "the violations", kinds(vs), protocol.DuplicateID)
		testkit.Equal(t, "the id of the first one", vs[0].ID, mcp.ID(2))
	})
}

func TestCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := scripted(t, mcp.Options{}, func(p *peer) {
			for p.read() != "" {
			}
		})
		x := s.Do(t.Context(), mcp.Call{Method: "tools/call", CancelAfter: 50 * time.Millisecond})
		var cancelled *mcp.CancelledError
		if !errors.As(x.Cause, &cancelled) {
			t.Fatalf("cause %#v", x.Cause)
		}
		testkit.Equal(t, "why it was cancelled", cancelled.Cause, nil)
		testkit.Equal(t, "the cause", x.Cause, errors.New("tools/call was cancelled after 50ms"))
		why := errors.New("interrupted by SIGINT")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(why) })
		x = s.Do(ctx, mcp.Call{Method: "tools/call"})
		if !errors.As(x.Cause, &cancelled) || !errors.Is(x.Cause, why) {
			t.Errorf("cause %v", x.Cause)
		}
		// A response that is there before the cancel wins; an ended context sends nothing more than it must.
		if x = s.Do(ctx, mcp.Call{Method: "tools/call"}); !errors.Is(x.Cause, why) {
			t.Errorf("cause %v", x.Cause)
		}
	})
}

func TestConnectTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr, rw := wire.NewPipe()
		go func() {
			rw.Write([]byte("Loading model...\n"))
		}()
		start := time.Now()
		_, err := mcp.Open(t.Context(), tr, mcp.Options{})
		var open *wire.OpenError
		if !errors.As(err, &open) || open.Phase != "initialize" || time.Since(start) < time.Minute {
			t.Fatalf("%v after %s", err, time.Since(start))
		}
		if want := "initialize timed out after 1m (limit: connect_timeout 1m)"; err.Error() != want {
			t.Errorf("got %q, want %q", err, want)
		}
		if d := open.Detail(); !strings.Contains(d, "stray-output at byte 0: the server wrote a log line to stdout; stdout is reserved for JSON-RPC, write logs to stderr: Loading model...") {
			t.Errorf("detail %q", d)
		}
		rw.Close()
	})
}

func TestOrphanAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := scripted(t, mcp.Options{}, func(p *peer) {
			p.read()
			p.write(`{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"broken"}}`)
			p.read()
		})
		start := time.Now()
		x := s.Do(within(t, 30*time.Second), mcp.Call{Method: "tools/call"})
		if d := time.Since(start); d != 500*time.Millisecond {
			t.Errorf("waited %s", d)
		}
		if e := x.RPCError(); e == nil || e.Code != -32603 {
			t.Errorf("%v %v", x.Cause, e)
		}
		if vs := s.TakeViolations(); kinds(vs) != protocol.NullID {
			t.Error(vs)
		}
	})
}

func TestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := scripted(t, mcp.Options{}, func(p *peer) {
			p.write(`{"jsonrpc":"2.0","method":"notifications/a","params":{"n":1}}`)
			<-time.After(time.Second)
			p.write(`{"jsonrpc":"2.0","method":"notifications/b"}`, `{"jsonrpc":"2.0","method":"notifications/a","params":{"n":2}}`)
			<-time.After(time.Second)
		})
		synctest.Wait()
		mark := s.Mark()
		m, err := s.Wait(within(t, 10*time.Second), "notifications/a", 0)
		testkit.Equal(t, "the error", err, nil)
		testkit.Equal(t, "the first message", string(m.Params), `{"n":1}`)
		m, err = s.Wait(within(t, 10*time.Second), "notifications/a", mark)
		testkit.Equal(t, "the error", err, nil)
		testkit.Equal(t, "the message after the mark", string(m.Params), `{"n":2}`)
		testkit.Equal(t, "all messages after the mark", methods(s.Messages(mark)), "notification notifications/b, notification notifications/a")
		_, err = s.Wait(within(t, 100*time.Millisecond), "notifications/a", s.Mark())
		testkit.Equal(t, "the error", err, errors.New("waiting for notifications/a timed out after 100ms (limit: timeout 100ms)"))
		if _, err = s.Wait(t.Context(), "notifications/a", s.Mark()); !errors.As(err, new(*wire.ClosedError)) {
			t.Errorf("%v", err)
		}
	})
}

func TestAnswererEndsWithClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := false
		s := scripted(t, mcp.Options{Answer: func(ctx context.Context, _ string, _ []byte) ([]byte, *protocol.RPCError) {
			<-ctx.Done()
			ended = true
			return nil, nil
		}}, func(p *peer) {
			p.read()
			p.write(`{"jsonrpc":"2.0","id":"a","method":"roots/list"}`)
			if l := p.read(); l != "" {
				p.t.Errorf("sent %s", l)
			}
		})
		done := make(chan *mcp.Exchange)
		go func() { done <- s.Do(t.Context(), mcp.Call{Method: "tools/call"}) }()
		synctest.Wait()
		s.Close(t.Context())
		x := <-done
		testkit.Equal(t, "whether the answerer has ended", ended, true)
		testkit.Equal(t, "the call", outcomeOf(x), outcome{Cause: errors.New("the session was closed while tools/call was in flight"), During: "request roots/list"})
		if x := s.Do(t.Context(), mcp.Call{Method: "ping"}); !errors.As(x.Cause, new(*wire.ClosedError)) {
			t.Error(x.Cause)
		}
		if err := s.Notify(t.Context(), "n", nil); !errors.As(err, new(*wire.ClosedError)) {
			t.Error(err)
		}
	})
}
