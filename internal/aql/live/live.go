package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"time"

	"mcptest/internal/aql/evidence"
	"mcptest/internal/aql/record"
	"mcptest/internal/aql/rule"
	"mcptest/internal/aql/semantic"
	"mcptest/internal/display"
	"mcptest/internal/jsonv"
	"mcptest/internal/mcp"
	"mcptest/internal/source"
)

// The modes of a live run: what it may call.
const (
	ModePlan  = "plan"  // nothing but tools/list and introspection
	ModeSafe  = "safe"  // operations of risk 0
	ModeWrite = "write" // and CREATE, UPDATE and DELETE of what the run itself created
	ModeFull  = "full"  // and EXECUTE, and what is allowed by name
)

// Modes lists the modes of a live run.
func Modes() []string { return []string{ModePlan, ModeSafe, ModeWrite, ModeFull} }

// Options say how an adapter is looked at while it runs. Zero values are
// the defaults named with each field.
type Options struct {
	// Dial starts a session with the adapter. It is called once, once more
	// when the adapter dies, and once at the end to see that a new session
	// starts afresh. variant is "" for the adapter as the user named it, or
	// an endpoint mode ("single", "semantic", "crude") that a second launch
	// should have; nil session and nil error mean that there is no such
	// launch.
	Dial func(ctx context.Context, variant string) (*mcp.Session, error)

	Mode        string        // ModeSafe
	Prefix      string        // of the tool names, where an adapter has several
	Tool        string        // the tool that answers introspection; found by itself
	Values      jsonv.Value   // operation → parameter → value; "*" stands for every operation
	AppendOnly  []string      // operation:field of what an update must not change
	Allow, Deny []string      // globs of operation names
	MaxCalls    int           // 2,000
	Rate        float64       // calls a second; 0 is no limit
	CallTimeout time.Duration // 30 s
	Follow      time.Duration // how long an execution is followed to its end, 30 s
	Budget      time.Duration // of the whole run, 10 min
	Spread      time.Duration // how long answers are watched for what changes by itself, 1.1 s
	RunID       string        // letters and digits; marks what the run creates
	Target      string        // how the adapter is shown, without secrets
	Repeat      string        // the beginning of a command line that repeats a call, e.g. `mcpaql-conformance call --stdio "x"`
	Program     string        // name and version of this program, for the bundle
	Confirm     bool          // send back the tokens that an adapter asks to be confirmed with
	Journal     Journal       // told of every create before it is sent; nil: nobody
	Progress    func(Progress)
	Stress      bool            // send requests over the limits of size
	Probed      bool            // leave operations that were not called out of the bundle's details
	Secrets     []string        // never written down, see [Mask]
	Asking      semantic.Asking // of models, for the semantic evaluation

	// Record gets everything that passes between the run and the adapter, as
	// JSON lines; Recorded goes along with it, see Recording.Options. The run
	// then has no model.
	Record   io.Writer
	Recorded map[string][]string
	// Replay answers instead of an adapter: Dial is not called, nothing waits.
	// Mode and the other options must be those of the recorded run.
	Replay *record.Recording

	// ValuesFile is the file that Values came from, nil when there is none.
	// Warn is told of what is odd about them, with the place; it may be nil.
	ValuesFile *source.File
	Warn       func(source.Diagnostic)
}

// Journal is told what a run is about to create, so that a later clean-up
// finds what a killed run left.
type Journal interface {
	// Intend is called before a create is sent.
	Intend(operation, marker string) error
	// Created and Deleted follow when the answers came.
	// id is absent for a resource that there is at most one of; with is an
	// object of what else names the thing.
	Created(operation, parameter string, id, with jsonv.Value) error
	Deleted(parameter string, id jsonv.Value) error
}

// Progress is how far a live run is.
type Progress struct {
	Phase       string
	Done, Total int // operations
	Calls       int
	Elapsed     time.Duration
}

// NoAdapterError says that a server could not be looked at as an MCP-AQL
// adapter at all.
type NoAdapterError struct {
	Reason string
	Tools  []string // what tools/list named
	Err    error
}

// Error says why in one line.
func (e *NoAdapterError) Error() string {
	s := e.Reason
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	if len(e.Tools) > 0 {
		s += " (its tools: " + display.Truncate(strings.Join(e.Tools, ", "), 300) + ")"
	}
	return s
}

// Unwrap returns the cause.
func (e *NoAdapterError) Unwrap() error { return e.Err }

// Marker is how names begin that a run gave to what it created.
func Marker(runID string) string {
	if runID == "" {
		return markerPrefix
	}
	return markerPrefix + runID + "_"
}

const markerPrefix = "zz_conf_"

// After so many calls without an answer, one after the other, an adapter is
// given up, and an operation after fewer: a run must end.
const (
	maxTimeouts = 4
	maxSilent   = 2
)

func (o Options) withDefaults() Options {
	if o.Mode == "" {
		o.Mode = ModeSafe
	}
	if o.MaxCalls <= 0 {
		o.MaxCalls = 2000
	}
	if o.CallTimeout <= 0 {
		o.CallTimeout = 30 * time.Second
	}
	if o.Follow <= 0 {
		o.Follow = 30 * time.Second
	}
	if o.Budget <= 0 {
		o.Budget = 10 * time.Minute
	}
	if o.Spread <= 0 {
		o.Spread = controlTime
	}
	if o.RunID == "" {
		o.RunID = "run"
	}
	if o.Progress == nil {
		o.Progress = func(Progress) {}
	}
	return o
}

// Collect looks at a running adapter and returns the evidence, with x_live
// filled in. What the adapter does wrong is evidence; an error means that
// there was no adapter to look at (*NoAdapterError), or that the options
// make no sense, or, with evidence, a *BrokenRunError. A *RecordingError says
// that the recording is of another run, a *RecordError, with evidence, that it
// could not be written. When ctx ends early the evidence holds what was seen until
// then, and what was created has been removed all the same.
func Collect(ctx context.Context, o Options) (*evidence.Evidence, error) {
	c := newCollector(o)
	c.caller.tape = record.Open(record.Options{
		Dial: o.Dial, Record: o.Record, Replay: o.Replay, Recorded: o.Recorded, Program: o.Program, Target: o.Target, Repeat: o.Repeat,
		RunID: c.o.RunID, Secrets: o.Secrets, Values: o.Values,
	}, c.started)
	c.started = c.caller.tape.Now()
	e, err := c.collect(ctx)
	if taped := c.caller.tape.Close(); taped != nil {
		if o.Replay != nil {
			return nil, taped
		}
		err = errors.Join(err, &RecordError{taped})
	}
	return e, err
}

func (c *collector) collect(ctx context.Context) (*evidence.Evidence, error) {
	limited, cancel := mcp.WithLimit(ctx, "--budget", c.o.Budget)
	defer cancel()
	c.caller.ctx = c.caller.tape.Context(limited)
	var err error
	if c.caller.s, err = c.caller.tape.Dial(c.caller.ctx, ""); err != nil {
		return nil, &NoAdapterError{Reason: "the adapter cannot be reached", Err: err}
	}
	if c.caller.s == nil {
		return nil, errors.New("no session was opened")
	}
	defer func() { c.caller.s.Close(context.WithoutCancel(ctx)) }()
	var broken *BrokenRunError
	err = guarded(discovery{c}.discover)
	if errors.As(err, &broken) {
		c.caller.dead = broken.Error()
	} else if err != nil {
		return nil, err
	}
	c.caller.tape.Introspected(c.caller.sensitive, c.o.Values)
	if c.o.Mode != ModePlan && broken == nil {
		err = guarded(func() error { c.probe(); return nil })
		if errors.As(err, &broken) {
			c.caller.dead = broken.Error()
		}
	}
	bundle{c}.finish()
	return c.e, err
}

// RecordError says that a run could not be recorded.
type RecordError struct{ Err error }

// Error says why.
func (e *RecordError) Error() string { return "the run could not be recorded: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *RecordError) Unwrap() error { return e.Err }

// BrokenRunError says that this program failed in the middle of a run. The
// evidence beside it holds what was seen until then.
type BrokenRunError struct {
	Value any    // what was panicked with
	Stack string // where
}

// Error says that it is not the adapter's fault.
func (e *BrokenRunError) Error() string {
	return fmt.Sprintf("the run was ended by an error in this program, not in the adapter: %v", e.Value)
}

// guarded runs a part of a run and turns a panic into a *BrokenRunError.
func guarded(part func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &BrokenRunError{Value: v, Stack: string(debug.Stack())}
		}
	}()
	return part()
}

func newCollector(o Options) *collector {
	o = o.withDefaults()
	c := &collector{}
	c.catalog, c.rows = &catalog{types: map[string]*namedType{}}, &rows{tests: map[string]*liveTest{}}
	c.maker = &maker{&o, c.catalog}
	c.caller = &caller{run: c, sensitive: map[string]bool{}, poison: map[string]string{}, silent: map[string]int{}, short: map[string]string{}}
	c.builder = &builder{run: c, harvest: map[string]map[string][]jsonv.Value{}, first: map[string]reply{}}
	c.keeper, c.cleaner = &keeper{run: c, ledger: newLedger()}, &cleaner{run: c, stays: map[string]string{}}
	c.watcher = &watcher{run: c, census: &census{}, watched: map[string]bool{}, shown: map[string]*listing{}}
	c.gate, c.lister, c.executor = &gate{c}, &lister{c}, &executor{c}
	c.steady = &steadiness{run: c, masks: map[string]mask{}, failures: map[string]bool{}}
	c.o, c.e, c.started = &o, &evidence.Evidence{ExpectedLevel: rule.LevelOne}, time.Now()
	c.accepted, c.gates, c.base, c.skipped = map[string]map[string]bool{}, map[string]bool{}, map[string]reply{}, map[string]string{}
	c.caller.tape = record.Direct(o.Dial)
	for _, t := range rule.Tests() {
		if t.Live {
			c.rows.tests[t.ID] = &liveTest{id: t.ID}
		}
	}
	return c
}

// probe runs every test that the mode allows, and removes what it created
// whatever happens.
func (c *collector) probe() {
	defer c.cleaner.cleanUp(true)
	c.phase("reading lists", 0, len(c.catalog.ops))
	c.builder.harvestLists()
	c.watcher.reads()
	c.phase("detecting what changes by itself", 0, len(c.catalog.ops))
	c.steady.watchTime()
	if c.o.Mode != ModeSafe {
		c.watcher.census = c.watcher.takeCensus("")
	}
	// What reads is tried first: what it changes is then known before the run
	// writes anything.
	i := 0
	for _, reads := range []bool{true, false} {
		for _, op := range c.catalog.ops {
			if (op.category == "READ") == reads {
				c.phase("probing "+op.name, i, len(c.catalog.ops))
				operationProbe{c}.probeOperation(op)
				i++
			}
		}
	}
	c.phase("requests", len(c.catalog.ops), len(c.catalog.ops))
	requestProbe{c}.probeRequests()
	requestProbe{c}.stress()
	requestProbe{c}.probeRouting()
	featureProbe{c}.probeLevel2()
	featureProbe{c}.presets()
	featureProbe{c}.pagination()
	c.phase("round trips", len(c.catalog.ops), len(c.catalog.ops))
	cycleProbe{c}.roundTrips()
	executionProbe{c}.executions()
	cycleProbe{c}.cutRoundTrips()
	c.cleaner.cleanUp(false)
	requestProbe{c}.probeConsistency()
	requestProbe{c}.probeSession()
	semanticProbe{c}.semantics()
}

func (c *collector) phase(name string, done, total int) {
	c.o.Progress(Progress{Phase: name, Done: done, Total: total, Calls: c.caller.calls, Elapsed: c.caller.tape.Now().Sub(c.started)})
}

// collector is one live run.
type collector struct {
	catalog  *catalog
	maker    *maker
	rows     *rows
	caller   *caller
	lister   *lister
	builder  *builder
	keeper   *keeper
	cleaner  *cleaner
	executor *executor
	steady   *steadiness

	o       *Options
	gate    *gate
	watcher *watcher

	e *evidence.Evidence

	started time.Time

	bare bool // introspect takes no query
	// beside says that parameters beside params are read; besideKnown, that
	// this was tried.
	beside, besideKnown bool
	dialect             []string
	modes               []string

	base map[string]reply // the baseline of an operation

	accepted map[string]map[string]bool

	notices []string // what is odd about the options

	unasked []jsonv.Value // questions that the model was not asked, with the reason

	gates map[string]bool // operations that did, and got it

	batchSent int // operations in the batch that was answered

	skipped map[string]string // operation → reason
}
