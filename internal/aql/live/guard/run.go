package guard

import (
	"slices"
	"time"

	"mcptest/internal/aql/evidence"
	"mcptest/internal/aql/live/catalog"
	"mcptest/internal/aql/live/tape"
	"mcptest/internal/aql/rule"
	"mcptest/internal/jsonv"
)

// New returns the state of a run that has not begun.
func New(o Options) *Run {
	o = o.withDefaults()
	c := &Run{}
	c.Catalog, c.Rows = &catalog.Catalog{Types: map[string]*catalog.NamedType{}}, &rows{Tests: map[string]*Row{}}
	c.Maker = catalog.NewMaker(o.Values, o.RunID, c.Catalog)
	c.Caller = &caller{run: c, Sensitive: map[string]bool{}, Poison: map[string]string{}, silent: map[string]int{}, Short: map[string]string{}}
	c.Builder = &builder{run: c, harvest: map[string]map[string][]jsonv.Value{}, First: map[string]Reply{}}
	c.Keeper, c.Cleaner = &keeper{run: c, Ledger: newLedger()}, &cleaner{run: c, stays: map[string]string{}}
	c.Watcher = &watcher{run: c, Census: &census{}, watched: map[string]bool{}, shown: map[string]*listing{}}
	c.Gate, c.Lister, c.Executor = &gate{c}, &lister{c}, &executor{c}
	c.Steady = &steadiness{run: c, Masks: map[string]Mask{}, failures: map[string]bool{}}
	c.Options, c.Evidence, c.Started = &o, &evidence.Evidence{ExpectedLevel: rule.LevelOne}, time.Now()
	c.Accepted, c.Gates, c.Base, c.Skipped = map[string]map[string]bool{}, map[string]bool{}, map[string]Reply{}, map[string]string{}
	c.Caller.Tape = tape.New(tape.Options{Dial: o.Dial})
	for _, t := range rule.Tests() {
		if t.Live {
			c.Rows.Tests[t.ID] = &Row{id: t.ID}
		}
	}
	return c
}

// Run is one live run.
type Run struct {
	Catalog  *catalog.Catalog
	Maker    *catalog.Maker
	Rows     *rows
	Caller   *caller
	Lister   *lister
	Builder  *builder
	Keeper   *keeper
	Cleaner  *cleaner
	Executor *executor
	Steady   *steadiness

	Options *Options
	Gate    *gate
	Watcher *watcher

	Evidence *evidence.Evidence

	Started time.Time

	Bare bool // introspect takes no query
	// TopLevelParams reports whether the adapter reads parameters next to params;
	// TopLevelTried, whether this was tested.
	TopLevelParams, TopLevelTried bool
	Dialect                       []string
	Modes                         []string

	Base map[string]Reply // the baseline of an operation

	Accepted map[string]map[string]bool

	Notices []string // warnings about the options

	Unasked []jsonv.Value // questions that the model was not asked, with the reason

	Gates map[string]bool // operations that asked for a confirmation, and received it

	BatchSent int // operations in the batch that was answered

	Skipped map[string]string // operation → reason
}

// Phase reports the progress of the run.
func (c *Run) Phase(name string, done, total int) {
	c.Options.Progress(Progress{Phase: name, Done: done, Total: total, Calls: c.Caller.Calls, Elapsed: c.Caller.Tape.Now().Sub(c.Started)})
}

// Speaks records a form that differs from the documented one, and reports whether it
// is new.
func (c *Run) Speaks(dialect string) bool {
	if slices.Contains(c.Dialect, dialect) {
		return false
	}
	c.Dialect = append(c.Dialect, dialect)
	return true
}

// Failed keeps a failure as an error test.
func (c *Run) Failed(name string, r Reply, mention ...string) {
	if !r.Heard() {
		return
	}
	c.Evidence.ErrorTests = append(c.Evidence.ErrorTests, evidence.ErrorCase{Name: name, MustMention: mention, Response: c.Caller.Noted(r), Request: c.Caller.Redact(r.Args), Call: r.Number})
}
