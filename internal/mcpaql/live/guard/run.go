package guard

import (
	"slices"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/live/catalog"
	"mcptest/internal/mcpaql/live/change"
	"mcptest/internal/mcpaql/rule"
)

// New returns the state of a run that has not begun.
func New(o Options) *Run {
	v := newValues(o.fillDefaults())
	c := &Run{
		values:   v,
		Evidence: &evidence.Evidence{ExpectedLevel: rule.LevelOne},
		Started:  v.Caller.Tape.Now(),
		Accepted: map[string][]string{},
		Gates:    map[string]bool{},
		Base:     map[string]Reply{},
	}
	c.Steady = &steadiness{
		rows:     v.Rows,
		caller:   v.Caller,
		Masks:    map[string]change.Mask{},
		failures: map[string]bool{},
		known:    map[string]bool{},
	}
	c.Lister = &lister{values: v, steady: c.Steady, First: map[string]Reply{}}
	c.Watcher = &watcher{values: v, lister: c.Lister, steady: c.Steady, watched: map[string]bool{}}
	c.Keeper = &keeper{values: v, lister: c.Lister, watcher: c.Watcher, steady: c.Steady, evidence: c.Evidence}
	c.Builder = &builder{
		values:  v,
		keeper:  c.Keeper,
		harvest: map[[2]string]jsonv.Value{},
		reading: map[*catalog.Operation]CreatedThing{},
	}
	c.Executor = &executor{values: v, keeper: c.Keeper}
	c.Survey = &survey{values: v, lister: c.Lister, builder: c.Builder, watcher: c.Watcher, steady: c.Steady}
	c.Cleaner = &cleaner{
		values:   v,
		lister:   c.Lister,
		watcher:  c.Watcher,
		keeper:   c.Keeper,
		executor: c.Executor,
		steady:   c.Steady,
	}
	// A run recurses at three points: a change needs the lists first, a restart needs the
	// items again, and a list may require parameters that name an item.
	v.Caller.settle, v.Caller.verify, c.Lister.params = c.Watcher.settle, c.Keeper.verifyAgain, c.Builder.BuildParams
	return c
}

// Run is one live run.
type Run struct {
	values
	Lister   *lister
	Survey   *survey
	Builder  *builder
	Keeper   *keeper
	Cleaner  *cleaner
	Executor *executor
	Steady   *steadiness
	Watcher  *watcher

	Evidence *evidence.Evidence

	Started time.Time

	Bare bool // introspect takes no query
	// TopLevelParams reports whether the adapter reads parameters next to params;
	// TopLevelTried, whether this was tested.
	TopLevelParams, TopLevelTried bool
	Dialect                       []string
	Modes                         []string

	Base map[string]Reply // the baseline of an operation

	Accepted map[string][]string // parameters by operation

	Notices []string // warnings about the options

	Unasked []jsonv.Value // questions that the model was not asked, with the reason

	Gates map[string]bool // operations that asked for a confirmation, and received it

	BatchSent int // operations in the batch that was answered
}

// ReportPhase reports the progress of the run.
func (c *Run) ReportPhase(name string, done, total int) {
	c.Options.Progress(Progress{
		Phase:   name,
		Done:    done,
		Total:   total,
		Calls:   c.Caller.Calls,
		Elapsed: c.Caller.Tape.Now().Sub(c.Started),
	})
}

// AddDialect records a form that differs from the documented one, and reports whether it
// is new.
func (c *Run) AddDialect(dialect string) bool {
	if slices.Contains(c.Dialect, dialect) {
		return false
	}
	c.Dialect = append(c.Dialect, dialect)
	return true
}

// AddErrorTest keeps a failure as an error test.
func (c *Run) AddErrorTest(name string, r Reply, mention ...string) {
	if !r.WasHeard() {
		return
	}
	if evidence.IsSuccess(r.Envelope) {
		mention = nil // there is no message, which another row reports
	}
	c.Evidence.ErrorTests = append(c.Evidence.ErrorTests, evidence.ErrorCase{
		Name:        name,
		MustMention: mention,
		Response:    c.Caller.RedactAnswer(r),
		Request:     c.Caller.Redact(r.Args),
		Call:        r.Number,
	})
}
