package run_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
	"mcptest/internal/process/proc"
	"mcptest/internal/process/tail"
	"mcptest/internal/report/result"
	"mcptest/internal/run"
	"mcptest/internal/run/connect"
	"mcptest/internal/server/mcpserver"
	"mcptest/internal/spec/plan"
	"mcptest/internal/spec/suite"
)

// The simulated environment: the arguments of a program define its behavior, servers run in
// the process, and time is simulated. A program's argument vector is
//
//	act LABEL DURATION END
//
// where END is ok, fail, hang, deaf (hangs until SIGKILL), skip, patch, garbage, missing or
// panic.
type sim struct {
	opts       run.Options
	logServers bool           // note when servers start and stop
	listsTools bool           // servers have tools/list, with the one tool typed
	servers    sync.WaitGroup // those that were dialled

	mu    sync.Mutex
	calls map[string]int // by label
	log   []string       // what happened, in order
	// calls in flight by label, and which were seen together
	inFlight map[string]int
	together map[string]bool
}

// enter records a call and the calls that are in flight with it; leave ends it.
func (s *sim) enter(label string) (leave func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.inFlight == nil {
		s.inFlight, s.together = map[string]int{}, map[string]bool{}
	}
	for other, n := range s.inFlight {
		if n > 0 {
			s.together[label+"+"+other], s.together[other+"+"+label] = true, true
		}
	}
	s.inFlight[label]++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.inFlight[label]--
	}
}

func (s *sim) note(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = append(s.log, fmt.Sprintf(format, args...))
}

func (s *sim) entries() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.log)
}

// exec is run.Deps's Exec.
func (s *sim) exec(ctx context.Context, spec proc.Spec) proc.Result {
	r := proc.Result{Name: spec.Name, Stdout: tail.New(1 << 16), Stderr: tail.New(1 << 16)}
	began := time.Now()
	label, end := spec.Argv[1], spec.Argv[3]
	d, err := time.ParseDuration(spec.Argv[2])
	if err != nil {
		panic(err)
	}
	s.note("%s", label) // the runner has begun it, whether it comes to be started or not
	if ctx.Err() != nil {
		r.Cause = context.Cause(ctx)
		return r
	}
	switch end {
	case "panic":
		panic("a panic in " + label)
	case "missing":
		r.StartErr = errors.New("cannot start it")
		return r
	case "hang", "deaf":
		d = 1000 * time.Hour
	}
	select {
	case <-time.After(d):
	case <-ctx.Done():
		r.Cause = context.Cause(ctx)
		r.Exit = proc.Exit{Code: -1, Signal: "terminated"}
		if end == "deaf" {
			<-time.After(500 * time.Millisecond)
			r.Forced = true
		}
	}
	r.Duration = time.Since(began)
	if r.Cause != nil {
		return r
	}
	switch end {
	case "fail":
		r.Exit.Code = 1
	case "skip":
		fmt.Fprint(r.Stdout, `{"skip": {"reason": "no creds"}}`)
	case "patch":
		fmt.Fprintf(r.Stdout, `{"env": {"FROM": %q}}`, label)
	case "garbage":
		fmt.Fprint(r.Stdout, `done`)
	}
	return r
}

// dial is run.Deps's Dial: a server with the tools ok, fail, slow (a tenth of a second),
// hang, crash, noise (writes a line that is not JSON) and flaky (fails before the call
// number `from`).
func (s *sim) dial(ctx context.Context, sv *plan.Server, _ connect.Options) (wire.Transport, error) {
	if sv.Argv[0] == "unstartable" {
		return nil, errors.New("cannot start the server")
	}
	client, server := wire.NewPipe()
	if s.logServers {
		s.note("start %s", sv.Name)
	}
	s.servers.Go(func() {
		defer server.Close()
		if s.logServers {
			defer s.note("stop %s", sv.Name)
		}
		_ = mcpserver.ServeStdio(context.WithoutCancel(ctx), server, server, mcpserver.HandlerFunc(func(ctx context.Context, req *mcpserver.Request) *mcpserver.Reply {
			return s.handle(ctx, req, server)
		}))
	})
	return client, nil
}

func (s *sim) handle(ctx context.Context, req *mcpserver.Request, conn io.ReadWriteCloser) *mcpserver.Reply {
	switch req.Method {
	case "initialize":
		caps := `{}`
		if s.listsTools {
			caps = `{"tools":{}}`
		}
		return &mcpserver.Reply{Result: []byte(`{"protocolVersion":"2025-11-25","capabilities":` + caps + `,"serverInfo":{"name":"sim","version":"1"}}`)}
	case "tools/list":
		tools := `{"name":"typed","inputSchema":{"type":"object","properties":{"limit":{"type":"integer"}}}}`
		for _, name := range []string{"ok", "fail", "slow", "hang", "crash", "noise", "flaky"} {
			tools += `,{"name":"` + name + `","inputSchema":{"type":"object"}}`
		}
		return &mcpserver.Reply{Result: []byte(`{"tools":[` + tools + `]}`)}
	case "tools/call":
	default:
		if req.Notification {
			return nil
		}
		return &mcpserver.Reply{Error: &protocol.RPCError{Code: protocol.CodeMethodNotFound, Message: "no"}}
	}
	params, err := jsonv.Parse(req.Params)
	if err != nil {
		panic(err)
	}
	label := params.Lookup("arguments", "label").Text()
	s.note("%s", label)
	defer s.enter(label)()
	tool := params.Lookup("name").Text()
	switch tool {
	case "slow":
		<-time.After(100 * time.Millisecond)
	case "hang":
		<-ctx.Done()
		return nil
	case "crash":
		conn.Close()
		return nil
	case "noise":
		fmt.Fprintln(conn, "listening")
	case "flaky":
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.calls == nil {
			s.calls = map[string]int{}
		}
		s.calls[label]++
		from, _ := params.Lookup("arguments", "from").Int64()
		if int64(s.calls[label]) < from {
			tool = "fail"
		}
	}
	return &mcpserver.Reply{Result: []byte(fmt.Sprintf(`{"content":[{"type":"text","text":%q}],"isError":%t}`, tool, tool == "fail"))}
}

// outcome is the result of a simulated run.
type outcome struct {
	code  int
	took  time.Duration
	log   []string
	cases []*result.Case
	phase []result.Phase
	find  []result.Finding
	ended int // RunFinished events
	debug string
}

// run executes suites, each a YAML text, in the simulated environment. Change may adjust
// the dependencies.
func (s *sim) run(ctx context.Context, p *plan.Plan, change func(*run.Deps)) outcome {
	var out outcome
	var mu sync.Mutex
	var debug strings.Builder
	s.opts.Tool = result.Tool{Name: "mcptest"}
	w := run.Deps{
		Send: func(e result.Event) {
			mu.Lock()
			defer mu.Unlock()
			switch e := e.(type) {
			case result.CaseFinished:
				out.cases = append(out.cases, e.Case)
			case result.PhaseFinished:
				out.phase = append(out.phase, e.Phase)
			case result.FindingSeen:
				out.find = append(out.find, e.Finding)
			case result.RunFinished:
				out.ended++
			}
		},
		Log:  slog.New(slog.NewTextHandler(&debug, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Dial: s.dial, Exec: s.exec, Registry: proc.NewRegistry(nil, nil),
	}
	if change != nil {
		change(&w)
	}
	began := time.Now()
	out.code = run.Run(ctx, p, s.opts, w)
	out.took, out.log, out.debug = time.Since(began), s.entries(), debug.String()
	s.servers.Wait() // one may still be at a call that was given up
	slices.SortFunc(out.cases, func(a, b *result.Case) int { return a.Index - b.Index })
	return out
}

// compile loads and compiles suites written as text, in a folder of the test.
func compile(t testing.TB, dir string, texts ...string) *plan.Plan {
	t.Helper()
	var suites []*suite.Suite
	for i, text := range texts {
		path := filepath.Join(dir, "f"+strconv.Itoa(i)+".yml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s, diags := suite.Load(path, suite.Options{Env: os.Environ(), BaseDir: dir})
		if diags.HasErrors() {
			t.Fatalf("%v\n%s", diags, text)
		}
		suites = append(suites, s)
	}
	p, diags := plan.Compile(suites, plan.Settings{Env: os.Environ(), ViolationKinds: []string{protocol.StrayOutput}})
	if diags.HasErrors() {
		t.Fatalf("%v\n%s", diags, strings.Join(texts, "\n---\n"))
	}
	return p
}

// signalled returns a context that is interrupted after d.
func signalled(d time.Duration) context.Context {
	ctx, cancel := context.WithCancelCause(context.Background())
	time.AfterFunc(d, func() { cancel(&proc.Interrupted{Signal: "SIGINT", Code: 130}) })
	return ctx
}
