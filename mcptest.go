package mcptest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"mcptest/internal/process/proc"

	"mcptest/internal/base/secret"
	"mcptest/internal/base/source"
	"mcptest/internal/cli/cmdutil"
	"mcptest/internal/cli/option"
	"mcptest/internal/cli/upstreams"
	"mcptest/internal/client/wire"
	"mcptest/internal/report/result"
	"mcptest/internal/run"
	"mcptest/internal/run/connect"
	"mcptest/internal/run/watch"
	"mcptest/internal/server/recording"
	"mcptest/internal/spec/plan"
	"mcptest/internal/spec/suite"
)

// An Option changes how a suite is loaded or run.
type Option func(*config)

type config struct {
	vars      map[string]string
	servers   map[string]func(context.Context) (io.ReadWriteCloser, error)
	upstreams upstreams.Flags
	update    bool // snapshots
	part      bool // perhaps not all cases are selected
}

// Var sets a variable of the suite, as --var does. The value is read as a YAML
// scalar.
func Var(name, value string) Option { return func(c *config) { c.vars[name] = value } }

// InProcess connects a server that the suite declares through the function open
// in place of its command or url. name may be a pattern, such as "api@*" for every
// variant.
//
// Each session calls open once and exchanges newline-delimited JSON-RPC messages
// over the connection, whose server side open leaves to a goroutine. The context
// ends after the last session. [net.Pipe] makes both ends of a connection.
func InProcess(name string, open func(ctx context.Context) (io.ReadWriteCloser, error)) Option {
	return func(c *config) { c.servers[name] = open }
}

// UpdateSnapshots stores the values that snapshots compare with, and removes those that
// no case uses, as --update-snapshots does. It is refused in CI.
func UpdateSnapshots() Option { return func(c *config) { c.update = true } }

// RecordUpstreams passes requests without a route on to the real APIs of these upstreams
// and stores their responses without secrets, as --record-upstream does. It is refused
// in CI.
func RecordUpstreams(names ...string) Option {
	return func(c *config) { c.upstreams.Record = append(c.upstreams.Record, names...) }
}

// Test runs the suite in file, each case as a subtest of t. The name of a subtest
// is the name of the case. A case that fails, or that could not be tested, fails
// its subtest; mistakes of the suite, a failed setup and problems outside every
// case fail t. Paths in the suite are relative to its file.
//
// Cases run one after another unless the suite has run_options.parallel. The run
// is stopped a few seconds before the deadline of the test binary, so that
// teardown still happens.
func Test(t *testing.T, file string, options ...Option) {
	t.Helper()
	c, selected := newConfig(options), newSelection(t.Name())
	if (c.update || c.upstreams.Recording()) && cmdutil.IsInCI(os.Environ()) {
		t.Fatal("UpdateSnapshots and RecordUpstreams are refused because CI is set: run the test on your machine and commit the files")
	}
	c.part = selected.part()
	s, p, traffic, diags := c.load(file)
	if text := describe(s, diags); diags.HasErrors() {
		t.Fatal(text)
	} else if text != "" {
		t.Log(text)
	}
	if p.Len() == 0 {
		t.Fatalf("%s contains no tests", file)
	}
	// Equal names are kept together: package testing counts them.
	kept := map[string]bool{}
	for i, name := range subtestNames(p) {
		base := subtestName(p.Name(i))
		kept[base] = kept[base] || selected.has(name)
	}
	var places []int
	for i := range p.Len() {
		if kept[subtestName(p.Name(i))] {
			places = append(places, i)
		}
	}
	p.Arrange(places)
	dependOn(s)
	if len(places) > 0 {
		c.execute(t, s, p, traffic)
	}
}

// dependOn makes the environment and the folders of the module with the suite inputs
// of the test: go test notes what a test looks at, and uses a result from its cache
// only if that is unchanged.
func dependOn(s *suite.Suite) {
	_ = filepath.WalkDir(watch.Project(s.Dir, "go.mod"), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() && (d.Name() == "node_modules" || d.Name() == ".git") {
			return filepath.SkipDir
		}
		return nil
	})
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		_ = os.Getenv(name)
	}
}

// Validate loads the suite in file and returns its mistakes, or nil if it has none.
func Validate(file string, options ...Option) error {
	if s, _, _, diags := newConfig(options).load(file); diags.HasErrors() {
		return errors.New(describe(s, diags))
	}
	return nil
}

func newConfig(options []Option) *config {
	c := &config{vars: map[string]string{}, servers: map[string]func(context.Context) (io.ReadWriteCloser, error){}}
	for _, o := range options {
		o(c)
	}
	return c
}

// load reads and compiles a suite. The suite is nil if it cannot be read; the plan
// must not be run if the diagnostics contain errors.
func (c *config) load(file string) (*suite.Suite, *plan.Plan, *upstreams.Traffic, source.Diagnostics) {
	random := &recording.Random{Rewritten: func(name string) bool { return c.upstreams.Records(name) && !c.part }}
	s, diags := suite.Load(file, suite.Options{Env: os.Environ(), Vars: c.vars, Random: random})
	if s == nil {
		return nil, nil, nil, diags
	}
	traffic, wrong, err := c.upstreams.Open([]*suite.Suite{s})
	if err != nil {
		wrong = append(wrong, source.Diagnostic{Path: "RecordUpstreams", Severity: source.Error, Msg: strings.TrimPrefix(err.Error(), "--record-upstream: ")})
	}
	set := new(option.SuiteFlags).Settings(cmdutil.Streams{Env: os.Environ()})
	set.Alone, set.FailFast = traffic.Alone, testFlag("failfast") == "true"
	p, more := plan.Compile([]*suite.Suite{s}, set)
	diags = slices.Concat(diags, wrong, more)
	for _, sv := range p.Files[0].Servers {
		if c.inProcess(sv.Name) != "" {
			sv.WaitForReady = "" // a probe only applies to a process or an address
		}
	}
	for _, name := range s.UnusedVars {
		diags = append(diags, source.Diagnostic{
			Path: "Var", Severity: source.Error, Code: "unused-var",
			Msg: fmt.Sprintf("the suite neither declares nor uses a variable called %q", name), Hint: source.DidYouMean(name, s.VarNames),
		})
	}
	for _, name := range slices.Sorted(maps.Keys(c.servers)) {
		if !slices.ContainsFunc(s.Servers, func(sv *suite.Server) bool { return suite.MatchName(name, sv.Name) }) {
			diags = append(diags, source.Diagnostic{
				Path: "InProcess", Severity: source.Error, Code: "unknown-server",
				Msg: fmt.Sprintf("the suite declares no server called %q", name), Hint: s.SuggestServer(name),
			})
		}
	}
	return s, p, traffic, diags
}

// describe returns diagnostics as text, without the secrets of the suite.
func describe(s *suite.Suite, diags source.Diagnostics) string {
	if len(diags) == 0 {
		return ""
	}
	diags.Sort()
	var b bytes.Buffer
	_ = diags.Print(&b, source.Style{}) // writing to memory cannot fail
	return "\n" + strings.TrimRight(newRedactor(s).String(b.String()), "\n")
}

func newRedactor(s *suite.Suite) *secret.Redactor {
	r := secret.NewRedactor()
	if s != nil {
		r.Add(s.Secrets...)
	}
	return r
}

// dial returns a dialer that opens the transports of [InProcess], and connects to
// processes and addresses for the other servers. ctx is passed to the functions of
// InProcess.
func (c *config) dial(ctx context.Context) connect.Dialer {
	return func(handshake context.Context, s *plan.Server, o connect.Options) (wire.Transport, error) {
		name := c.inProcess(s.Name)
		if name == "" {
			return connect.Dial(handshake, s, o)
		}
		rwc, err := openedBefore(handshake, func() (io.ReadWriteCloser, error) { return openInProcess(ctx, c.servers[name]) })
		if err != nil {
			return nil, fmt.Errorf("InProcess(%q): %w", name, err)
		}
		conn := newConnection(rwc)
		return wire.NewStream(conn, conn, o.Limits), nil
	}
}

// openedBefore opens a connection, and fails when limit ends. A connection that is
// opened after that is closed.
func openedBefore(limit context.Context, open func() (io.ReadWriteCloser, error)) (io.ReadWriteCloser, error) {
	type result struct {
		rwc io.ReadWriteCloser
		err error
	}
	results := make(chan result)
	go func() {
		rwc, err := open()
		select {
		case results <- result{rwc, err}:
		case <-limit.Done():
			if err == nil {
				_ = rwc.Close()
			}
		}
	}()
	select {
	case r := <-results:
		return r.rwc, r.err
	case <-limit.Done():
		return nil, fmt.Errorf("the function has not returned a connection: %w", context.Cause(limit))
	}
}

// openInProcess calls a function that was passed to [InProcess].
func openInProcess(ctx context.Context, open func(context.Context) (io.ReadWriteCloser, error)) (rwc io.ReadWriteCloser, err error) {
	if open == nil {
		return nil, errors.New("the function is nil")
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the function panicked at %s: %v", panicPlace(), p)
		}
	}()
	rwc, err = open(ctx)
	if rwc == nil && err == nil {
		err = errors.New("the function returned neither a connection nor an error")
	}
	return rwc, err
}

// panicPlace returns the file and line that panicked. A deferred function that
// recovers calls it.
func panicPlace() string {
	callers := make([]uintptr, 16)
	frames := runtime.CallersFrames(callers[:runtime.Callers(3, callers)])
	for {
		if f, more := frames.Next(); !more || !strings.HasPrefix(f.Function, "runtime.") {
			return fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line)
		}
	}
}

// inProcess returns the name or pattern passed to [InProcess] that matches server,
// or "" if there is none.
func (c *config) inProcess(server string) string {
	for _, name := range slices.Sorted(maps.Keys(c.servers)) {
		if suite.MatchName(name, server) {
			return name
		}
	}
	return ""
}

// execute runs the plan, and a subtest for each case in the order of the plan.
func (c *config) execute(t *testing.T, s *suite.Suite, p *plan.Plan, traffic *upstreams.Traffic) {
	t.Helper()
	redactor := newRedactor(s)
	seen := newOutcomes(t.Name(), subtestNames(p))
	rec := result.NewRecorder(result.RecorderOptions{Redactor: redactor, Listeners: []result.Listener{seen}})
	defer rec.Close()
	ctx, stop := stoppable(t)
	defer stop()
	opts := run.Options{
		Tool: result.Tool{Name: "mcptest", Version: cmdutil.Version()}, Command: rerun(t.Name()), Snapshots: option.Snapshots(os.Environ(), c.update, false),
	}
	whole := p.Len() == p.Total()
	if !whole {
		opts.CoveragePartial = "not all tests were run"
	}
	deps := run.Deps{Send: rec.Send, Secret: redactor.Add, Redactor: redactor, Dial: c.dial(t.Context())}
	self, err := exec.LookPath("mcptest") // which makes networks; the test binary can't
	if err != nil {
		self = "mcptest"
	}
	traffic.Connect(&deps, p, self, whole)
	var recorded bytes.Buffer
	lost := false
	go func() {
		code := run.Run(ctx, p, opts, deps)
		lost = traffic.Save(&recorded, code) != code
		seen.end()
	}()
	for i := range p.Len() {
		t.Run(p.Name(i), func(t *testing.T) {
			t.Helper()
			seen.report(t, i)
		})
	}
	problems, warnings := seen.outside()
	switch {
	case lost:
		t.Error(recorded.String())
	case recorded.Len() > 0:
		t.Log(recorded.String())
	}
	for _, text := range warnings {
		t.Log(text)
	}
	for _, text := range problems {
		t.Error(text)
	}
}

// stoppable returns a context that is canceled before the deadline of the test
// binary and by SIGINT and SIGTERM, so that teardown can run. After a signal, stop
// raises the signal again, which ends the process.
func stoppable(t *testing.T) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(t.Context())
	release := func() {}
	if deadline, ok := t.Deadline(); ok {
		left := time.Until(deadline)
		limit := left - min(left/2, cleanupTime)
		end := &proc.Interrupted{Signal: "-timeout", Code: run.ExitCancelled}
		ctx, release = context.WithTimeoutCause(ctx, limit, end)
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	done, caught := make(chan struct{}), make(chan os.Signal, 1)
	go func() {
		defer close(caught)
		select {
		case sig := <-signals:
			caught <- sig
			signal.Stop(signals) // a second signal ends the process
			cancel(&proc.Interrupted{Signal: fmt.Sprintf("the signal %q", sig), Code: run.ExitCancelled})
		case <-done:
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(done)
		release()
		cancel(nil)
		if sig := <-caught; sig != nil {
			if self, err := os.FindProcess(os.Getpid()); err == nil {
				_ = self.Signal(sig)
			}
		}
	}
}

// cleanupTime is the time reserved for teardown before the deadline of the test
// binary.
const cleanupTime = 5 * time.Second

// connection closes its stream only once: a transport closes both directions.
type connection struct {
	io.Reader
	io.Writer
	close func() error
}

func newConnection(rwc io.ReadWriteCloser) *connection {
	return &connection{rwc, rwc, sync.OnceValue(rwc.Close)}
}

// Close closes the connection.
func (c *connection) Close() error { return c.close() }
