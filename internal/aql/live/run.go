package live

import (
	"slices"
	"time"

	"mcptest/internal/aql/evidence"
	"mcptest/internal/aql/record"
	"mcptest/internal/aql/rule"
	"mcptest/internal/jsonv"
)

func newCollector(o Options) *collector {
	o = o.withDefaults()
	c := &collector{}
	c.catalog, c.rows = &catalog{types: map[string]*namedType{}}, &rows{tests: map[string]*liveTest{}}
	c.maker = &maker{o.Values, o.RunID, c.catalog}
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

// speaks notes a form that is not the documented one, and reports whether it
// is new.
func (c *collector) speaks(dialect string) bool {
	if slices.Contains(c.dialect, dialect) {
		return false
	}
	c.dialect = append(c.dialect, dialect)
	return true
}

// failed keeps a failure as an error test.
func (c *collector) failed(name string, r reply, mention ...string) {
	if !r.heard() {
		return
	}
	c.e.ErrorTests = append(c.e.ErrorTests, evidence.ErrorCase{Name: name, MustMention: mention, Response: c.caller.noted(r), Request: c.caller.redact(r.args), Call: r.n})
}
