package mcp_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"mcptest/internal/base/testkit"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
	"mcptest/internal/server/mcpserver"
)

// osPipes opens a session over two pipes of the system with a server in this
// process: with deadlines callers read for themselves, without them a
// goroutine reads for all.
func osPipes(t *testing.T, deadlines bool, h mcpserver.HandlerFunc) *mcp.Session {
	t.Helper()
	upR, upW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	downR, downW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		done <- mcpserver.ServeStdio(context.Background(), upR, downW, mcpserver.HandlerFunc(func(ctx context.Context, r *mcpserver.Request) *mcpserver.Reply {
			if r.Method == "initialize" {
				return &mcpserver.Reply{Result: []byte(helloResult)}
			}
			return h(ctx, r)
		}))
		downW.Close()
		upR.Close()
	}()
	tr := wire.NewStream(downR, upW, wire.Limits{})
	if !deadlines {
		tr = wire.NewStream(noDeadline{downR}, noDeadlineW{upW}, wire.Limits{})
	}
	s, err := mcp.Open(t.Context(), tr, mcp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Close(context.Background())
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return s
}

type noDeadlineW struct{ f *os.File }

func (n noDeadlineW) Write(p []byte) (int, error) { return n.f.Write(p) }
func (n noDeadlineW) Close() error                { return n.f.Close() }

var _ io.WriteCloser = noDeadlineW{}

func eachReader(t *testing.T, f func(t *testing.T, deadlines bool)) {
	t.Run("callers read", func(t *testing.T) { f(t, true) })
	t.Run("goroutine reads", func(t *testing.T) { f(t, false) })
}

// Calls that take from no time to longer than a caller reads for itself, with
// pauses around the time after which the background takes over, alone and
// several at once.
func TestReaders(t *testing.T) {
	eachReader(t, func(t *testing.T, deadlines bool) {
		s := osPipes(t, deadlines, func(_ context.Context, r *mcpserver.Request) *mcpserver.Reply {
			if ms, err := strconv.Atoi(strings.Trim(string(r.Params), `{"d:}`)); err == nil {
				time.Sleep(time.Duration(ms) * time.Millisecond)
			}
			return &mcpserver.Reply{Result: []byte(`{"id":` + string(r.ID) + `}`)}
		})
		var wg sync.WaitGroup
		caller := func(seed uint64, n int) {
			rnd := rand.New(rand.NewPCG(seed, 1))
			for range n {
				params := `{"d":` + strconv.Itoa([]int{0, 0, 0, 1, 5, 25}[rnd.IntN(6)]) + `}`
				x := s.Do(within(t, time.Minute), mcp.Call{Method: "tools/call", Params: []byte(params)})
				testkit.Equal(t, "the call", outcomeOf(x), outcome{Result: `{"id":` + x.ID + `}`})
				time.Sleep([]time.Duration{0, 0, time.Millisecond, 2 * time.Millisecond, 3 * time.Millisecond}[rnd.IntN(5)])
			}
		}
		caller(1, 60)
		for i := range 6 {
			wg.Go(func() { caller(uint64(i), 40) })
		}
		wg.Wait()
		caller(2, 20)
	})
}

// A context that ends without a deadline ends a call within moments, and the
// late response is none.
func TestReadersCancel(t *testing.T) {
	eachReader(t, func(t *testing.T, deadlines bool) {
		over := make(chan struct{})
		s := osPipes(t, deadlines, func(ctx context.Context, r *mcpserver.Request) *mcpserver.Reply {
			if r.Method == "slow" {
				select {
				case <-ctx.Done():
				case <-over: // on a busy machine the time to write a cancellation can end before it is written
				}
			}
			return &mcpserver.Reply{Result: []byte(`{}`)}
		})
		t.Cleanup(func() { close(over) })
		for range 20 {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(3*time.Millisecond, cancel)
			start := time.Now()
			x := s.Do(ctx, mcp.Call{Method: "slow"})
			if !errors.Is(x.Cause, context.Canceled) || time.Since(start) > time.Minute {
				t.Errorf("%v after %s", x.Cause, time.Since(start))
			}
			if x := s.Do(within(t, time.Minute), mcp.Call{Method: "fast"}); x.Cause != nil {
				t.Error(x.Cause)
			}
		}
		if vs := s.TakeViolations(); len(vs) > 0 {
			t.Error(vs)
		}
	})
}

// Between calls somebody reads: notifications and requests are seen, and
// answered, without one.
func TestReadersIdle(t *testing.T) {
	eachReader(t, func(t *testing.T, deadlines bool) {
		asked, answered := make(chan error, 1), make(chan struct{})
		s := osPipes(t, deadlines, func(ctx context.Context, r *mcpserver.Request) *mcpserver.Reply {
			if r.Notification {
				return nil
			}
			go func() {
				<-answered
				_, err := r.Ask(context.Background(), "ping", nil)
				asked <- err
				_ = r.Notify("notifications/after", nil)
			}()
			return &mcpserver.Reply{Result: []byte(`{}`)}
		})
		mark := s.Mark()
		if x := s.Do(within(t, time.Minute), mcp.Call{Method: "x"}); x.Cause != nil {
			t.Fatal(x.Cause)
		}
		close(answered)
		if _, err := s.Wait(within(t, time.Minute), "notifications/after", mark); err != nil {
			t.Error(err)
		}
		if err := <-asked; err != nil {
			t.Error(err)
		}
	})
}

// The end of the stream ends the session without a call.
func TestReadersEnd(t *testing.T) {
	eachReader(t, func(t *testing.T, deadlines bool) {
		downR, downW, _ := os.Pipe()
		upR, upW, _ := os.Pipe()
		tr := wire.NewStream(downR, upW, wire.Limits{})
		if !deadlines {
			tr = wire.NewStream(noDeadline{downR}, noDeadlineW{upW}, wire.Limits{})
		}
		go func() { // not before the request: a response to nothing is none
			_, _ = bufio.NewReader(upR).ReadString('\n')
			_, _ = downW.WriteString(`{"jsonrpc":"2.0","id":` + mcp.ID(1) + `,"result":` + helloResult + "}\nhalf a line")
		}()
		s, err := mcp.Open(t.Context(), tr, mcp.Options{})
		if err != nil {
			t.Fatal(err)
		}
		downW.Close()
		select {
		case <-s.Done():
		case <-time.After(time.Minute):
			t.Fatal("still open")
		}
		if vs := s.TakeViolations(); kinds(vs) != protocol.PartialLine {
			t.Error(vs)
		}
		if s.Alive() || s.Err() == nil {
			t.Error("alive")
		}
		start := time.Now()
		s.Close(context.Background())
		s.Close(context.Background())
		if d := time.Since(start); d > time.Minute {
			t.Errorf("Close took %s", d)
		}
		upR.Close()
	})
}

// A server that writes several responses in one piece, or one response in
// several, has each of them delivered.
func TestReadersPieces(t *testing.T) {
	upR, upW, _ := os.Pipe()
	downR, downW, _ := os.Pipe()
	responses := make(chan string, 64)
	go func() {
		defer close(responses)
		for in := bufio.NewScanner(upR); in.Scan(); {
			if id := idOf(in.Bytes()); id != "" {
				responses <- `{"jsonrpc":"2.0","id":` + id + `,"result":` + helloResult + "}\n"
			}
		}
	}()
	go func() {
		defer downW.Close()
		rnd := rand.New(rand.NewPCG(1, 2))
		for piece := range responses {
			if rnd.IntN(50) == 0 {
				time.Sleep(time.Duration(rnd.IntN(30)) * time.Millisecond) // around the times of the reader
			}
			for range len(responses) {
				piece += <-responses
			}
			cut := rnd.IntN(2 * len(piece))
			_, _ = downW.WriteString(piece[:min(cut, len(piece))])
			if cut < len(piece) {
				time.Sleep(time.Duration(rnd.IntN(2)) * time.Millisecond)
				_, _ = downW.WriteString(piece[cut:])
			}
		}
	}()
	s, err := mcp.Open(t.Context(), wire.NewStream(downR, upW, wire.Limits{}), mcp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(context.Background())
	for callers := range 9 {
		var wg sync.WaitGroup
		for range callers {
			wg.Go(func() {
				for range 100 {
					if x := s.Do(within(t, time.Minute), mcp.Call{Method: "ping"}); x.Cause != nil || len(x.Violations) > 0 {
						t.Errorf("%d callers: %v %v", callers, x.Cause, x.Violations)
						return
					}
				}
			})
		}
		wg.Wait()
	}
}
