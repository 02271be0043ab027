package pool_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"mcptest/internal/base/source"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
	"mcptest/internal/report/result"
	"mcptest/internal/run/connect"
	"mcptest/internal/run/pool"
	"mcptest/internal/run/respond"
	"mcptest/internal/server/mcpserver"
	"mcptest/internal/spec/plan"
)

// fake is a pool whose servers run in the process.
type fake struct {
	*pool.Pool
	mu       sync.Mutex
	conns    []io.Closer // of the servers, in the order of their start
	ended    []string    // names of servers
	fail     error       // of the next start
	findings []string    // kinds
	downs    int
}

func newFake(ctx context.Context) *fake {
	f := &fake{}
	f.Pool = pool.New(ctx, f.deps(nil))
	return f
}

func (f *fake) deps(warm *pool.Warm) pool.Deps {
	return pool.Deps{
		Opener: &connect.Opener{Dial: f.dial, Eras: connect.NewEras(nil)},
		Send: func(e result.Event) {
			if _, ok := e.(result.ServerDown); ok {
				f.downs++
			}
		},
		Report:  func(fd result.Finding) { f.findings = append(f.findings, fd.Kind) },
		Protect: func(fn func()) string { fn(); return "" },
		Warm:    warm,
	}
}

func (f *fake) dial(ctx context.Context, s *plan.Server, _ connect.Options) (wire.Transport, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.fail; err != nil || ctx.Err() != nil {
		return nil, errors.Join(err, ctx.Err())
	}
	client, server := wire.NewPipe()
	f.conns = append(f.conns, server)
	go func() {
		defer server.Close()
		defer func() { f.ended = append(f.ended, s.Name) }()
		_ = mcpserver.ServeStdio(context.WithoutCancel(ctx), server, server, mcpserver.HandlerFunc(func(_ context.Context, req *mcpserver.Request) *mcpserver.Reply {
			if req.Method == "initialize" {
				return &mcpserver.Reply{Result: []byte(`{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"fake","version":"1"}}`)}
			}
			return &mcpserver.Reply{Error: &protocol.RPCError{Code: protocol.CodeMethodNotFound, Message: "no"}}
		}))
	}()
	return client, nil
}

func def(name string) *plan.Server {
	return &plan.Server{Name: name, Key: name, Argv: []string{name}, Protocol: "2025-11-25", ConnectTimeout: time.Minute, Pos: source.Pos{File: &source.File{Name: "s.yml"}}}
}

func file(path, policy string, servers ...*plan.Server) *plan.File {
	return &plan.File{Path: path, Servers: servers, Options: plan.Options{RestartPolicy: policy}}
}

func ops(servers ...*plan.Server) []*plan.Op {
	var out []*plan.Op
	for _, s := range servers {
		out = append(out, &plan.Op{Server: s})
	}
	return out
}

// inBubble runs fn with a pool in simulated time, and closes the pool.
func inBubble(t *testing.T, fn func(t *testing.T, f *fake)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t.Context())
		fn(t, f)
		f.Close(context.Background())
	})
}

func TestServersAreShared(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fake) {
		a, same := def("a"), def("a")
		one, two := file("1.yml", plan.PerRun, a), file("2.yml", plan.PerRun, same)
		perFile, perTest := file("3.yml", plan.PerFile, a), file("4.yml", plan.PerTest, a)
		none, roots := respond.Capabilities{}, respond.CapabilitiesOf(nil)
		s := f.Server(a, none, one)
		if f.Server(same, roots, two) != s {
			t.Error("an equal definition of another file is not shared")
		}
		if f.Server(a, none, perFile) == s || f.Server(a, none, perTest) == s || f.Server(a, none, perFile) == f.Server(a, none, perTest) {
			t.Error("a file with a server of its own shares it")
		}
	})
}

// Leases are acquired in the order of the names, in any order of the calls.
func TestLeaseOrder(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fake) {
		a, b, c := def("a"), def("b"), def("c")
		one := file("1.yml", plan.PerRun, a, b, c)
		l := f.Lease(&plan.Case{Ops: ops(c, a, c, b, a)}, one)
		defer l.Release()
		var names []string
		for _, s := range l.Servers {
			names = append(names, s.Def.Name)
		}
		if strings.Join(names, "") != "abc" {
			t.Error(names)
		}
	})
}

// Leases are granted in the order of the requests; shared ones overlap.
func TestLeasesWait(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fake) {
		a := def("a")
		one := file("1.yml", plan.PerRun, a)
		shared, alone := &plan.Case{Ops: ops(a)}, &plan.Case{Ops: ops(a), Exclusive: true}
		began := time.Now()
		var mu sync.Mutex
		var log []string
		var wg sync.WaitGroup
		take := func(name string, c *plan.Case) {
			wg.Go(func() {
				l := f.Lease(c, one)
				mu.Lock()
				log = append(log, name+"@"+time.Since(began).String())
				mu.Unlock()
				time.Sleep(time.Second)
				l.Release()
			})
			synctest.Wait()
		}
		take("s1", shared)
		take("s2", shared)
		take("x1", alone)
		take("s3", shared)
		take("x2", alone)
		wg.Wait()
		got := strings.Join(log, " ")
		if got != "s1@0s s2@0s x1@1s s3@2s x2@3s" {
			t.Error(got)
		}
	})
}

// The sessions of a server are used in turn, and each is opened once.
func TestSlotsInTurn(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fake) {
		a := def("a")
		a.Sessions = 3
		s := f.Server(a, respond.Capabilities{}, file("1.yml", plan.PerRun, a))
		seen := map[*mcp.Session]int{}
		for range 9 {
			sess, err := s.Next().Session(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			seen[sess]++
		}
		if len(seen) != 3 || len(f.conns) != 3 {
			t.Errorf("%d sessions, %d starts", len(seen), len(f.conns))
		}
		f.Close(t.Context())
		if _, err := s.First().Session(t.Context()); err == nil || f.downs != 3 {
			t.Errorf("%v, %d reported", err, f.downs)
		}
	})
}

// A crashed server is replaced up to ten times, after pauses that grow, and again after
// it was recycled.
func TestRestarts(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fake) {
		a := def("a")
		s := f.Server(a, respond.Capabilities{}, file("1.yml", plan.PerRun, a))
		session := func() error { _, err := s.First().Session(t.Context()); return err }
		die := func() { f.conns[len(f.conns)-1].Close(); synctest.Wait() }
		var pauses []string
		for range 11 {
			began := time.Now()
			if err := session(); err != nil {
				t.Fatal(err)
			}
			pauses = append(pauses, time.Since(began).String())
			die()
		}
		if got := strings.Join(pauses, " "); got != "0s 100ms 200ms 400ms 800ms 1.6s 3.2s 5s 5s 5s 5s" {
			t.Errorf("pauses: %s", got)
		}
		err := session()
		if err == nil || !strings.Contains(err.Error(), "it died or hung 11 times and is not restarted again") {
			t.Error(err)
		}
		if again := session(); again == nil || err.Error() != again.Error() || len(f.conns) != 11 {
			t.Errorf("then %v, %d starts", again, len(f.conns))
		}
		if !s.First().WasRestarted() || strings.Join(f.findings, " ") != strings.TrimSpace(strings.Repeat("server-restarted ", 10)) {
			t.Errorf("restarted %v, findings %v", s.First().WasRestarted(), f.findings)
		}
		f.Recycle(t.Context(), s)
		if err := session(); err != nil || s.First().WasRestarted() {
			t.Errorf("after recycling: %v", err)
		}
	})
}

// A server that ends while it is restarted is restarted again; one that can't be
// started is not.
func TestRestartFails(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fake) {
		a := def("a")
		s := f.Server(a, respond.Capabilities{}, file("1.yml", plan.PerRun, a))
		session := func() error { _, err := s.First().Session(t.Context()); return err }
		die := func() { f.conns[len(f.conns)-1].Close(); synctest.Wait() }
		if err := session(); err != nil {
			t.Fatal(err)
		}
		die()
		f.fail = &wire.ClosedError{Reason: "the server exited", Exited: true}
		for range 2 {
			if err := session(); err == nil || !strings.Contains(err.Error(), "the server exited") {
				t.Error(err)
			}
		}
		f.fail = nil
		if err := session(); err != nil || !s.First().WasRestarted() {
			t.Error(err)
		}
		die()
		f.fail = errors.New("no such program")
		_ = session()
		f.fail = nil
		if err := session(); err == nil || !strings.Contains(err.Error(), "no such program") {
			t.Error(err)
		}
	})
}

// A failed start is not repeated, but an interrupted one is.
func TestFailedStart(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fake) {
		a := def("a")
		s := f.Server(a, respond.Capabilities{}, file("1.yml", plan.PerRun, a))
		cut, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := s.First().Session(cut); err == nil {
			t.Error("opened under a context that has ended")
		}
		if _, err := s.First().Session(t.Context()); err != nil {
			t.Error(err)
		}
		b := def("b")
		s = f.Server(b, respond.Capabilities{}, file("1.yml", plan.PerRun, b))
		f.fail = errors.New("no such program")
		_, first := s.First().Session(t.Context())
		f.fail = nil
		if _, err := s.First().Session(t.Context()); err == nil || !errors.Is(err, first) {
			t.Errorf("%v and then %v", first, err)
		}
	})
}

// A file's servers stop at its end, unless a later file needs them.
func TestCloseFile(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fake) {
		a, b := def("a"), def("b")
		one, two := file("1.yml", plan.PerRun, a, b), file("2.yml", plan.PerRun, def("a"))
		own := file("3.yml", plan.PerFile, def("a"))
		own.Servers[0].Name = "own"
		for in, d := range map[*plan.File][]*plan.Server{one: {a, b}, own: own.Servers} {
			for _, d := range d {
				if _, err := f.Server(d, respond.Capabilities{}, in).First().Session(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
		}
		f.CloseFile(t.Context(), one, []*plan.File{two, own})
		if got := strings.Join(f.ended, " "); got != "b" {
			t.Errorf("ended after the first file: %s", got)
		}
		f.CloseFile(t.Context(), own, []*plan.File{two})
		if got := strings.Join(f.ended, " "); got != "b own" {
			t.Errorf("ended after the last file: %s", got)
		}
	})
}
