package guard

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
	"mcptest/internal/client/mcp"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/live/catalog"
	"mcptest/internal/mcpaql/live/change"
	"mcptest/internal/mcpaql/live/tape"
	"mcptest/internal/mcpaql/rule"
	"mcptest/internal/mcpaql/semantic"
	"mcptest/internal/tape/cassette"
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

// newValues returns what all parts of a run use.
func newValues(o Options) values {
	v := values{
		Options: &o,
		Catalog: &catalog.Catalog{Types: map[string]*catalog.NamedType{}},
		Rows:    newRows(),
	}
	v.Ledger = &ledger{deleting: map[string]bool{}, stays: map[string]string{}}
	v.Maker = catalog.NewMaker(o.Values, o.RunID, v.Catalog)
	v.Gate = &gate{
		options: v.Options,
		catalog: v.Catalog,
		maker:   v.Maker,
		ledger:  v.Ledger,
		Census:  &change.Census{},
		Poison:  map[string]string{},
		Skipped: map[string]string{},
	}
	v.Caller = &caller{
		options:   v.Options,
		catalog:   v.Catalog,
		ledger:    v.Ledger,
		gate:      v.Gate,
		rows:      v.Rows,
		Sensitive: map[string]bool{},
		silent:    map[string]int{},
		GivenSent: map[[2]string]bool{},
		Short:     map[string]string{},
		dates:     &dateLog{fields: map[string]*dateField{}, sent: map[string]bool{}},
	}
	v.Caller.Tape = tape.New(tape.Options{
		Dial:    o.Dial,
		Record:  o.Record,
		Replay:  o.Replay,
		Program: o.Program,
		Secrets: o.Secrets,
		Values:  o.Values,
	})
	return v
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

// values are what the parts of a run pass along: what the adapter describes, what the
// run owns, what may be sent, and who sends it.
type values struct {
	Options *Options
	Catalog *catalog.Catalog
	Maker   *catalog.Maker // isOneOf values for the parameters in the catalog
	Ledger  *ledger
	Gate    *gate
	Caller  *caller
	Rows    *rows // what the run found
}

// Row collects the evidence of a live-only row, in the form of x_live.tests.
type Row struct {
	ID            string        `member:"id"`
	Cases         int           `member:"cases"`
	Incomplete    string        `member:"lacking,omitempty"`
	NotApplicable string        `member:"moot,omitempty"`
	Findings      []jsonv.Value `member:"findings,omitempty"`
}

// maxLiveFindings bounds the findings of one row.
const maxLiveFindings = 500

// rows is the tally of the rows that only live runs have.
type rows struct {
	Untested []jsonv.Value
	Tests    map[string]*Row
}

// newRows returns a tally with a row for each test that only live runs have.
func newRows() *rows {
	rs := &rows{Tests: map[string]*Row{}}
	for _, t := range rule.Tests() {
		if t.Live {
			rs.Tests[t.ID] = &Row{ID: t.ID}
		}
	}
	return rs
}

// Count counts a case of a live-only row.
func (rs *rows) Count(test string) { rs.Tests[test].Cases++ }

// Fail adds a finding to a live-only row, with the call that shows it.
func (rs *rows) Fail(id string, r Reply, format string, args ...any) {
	t := rs.Tests[rule.ByID()[id].Test]
	if len(t.Findings) >= maxLiveFindings {
		return
	}
	says := fmt.Sprintf(format, args...)
	finding := jsonv.ObjectOf("rule", id, "says", says)
	if r.Number != 0 {
		finding = finding.With("call", jsonv.Int(int64(r.Number)))
	}
	t.Findings = append(t.Findings, finding)
}

// Skip records that a test left a parameter out, and why.
func (rs *rows) Skip(test, op, param, reason string) { rs.Leave(test, op, param, reason, false) }

// SkipUnsent is like Skip for a call that was not sent or not answered.
func (rs *rows) SkipUnsent(test, op, param string, r Reply) {
	rs.Leave(test, op, param, r.Cause.Error(), r.Barred)
}

// Leave records that a test left a parameter out; policy reports whether the mode or
// the rules of the run forbade it.
func (rs *rows) Leave(test, op, param, reason string, policy bool) {
	left := jsonv.ObjectOf("test", test, "operation", op, "parameter", param, "reason", reason)
	if policy {
		left = left.With("policy", jsonv.Bool(true))
	}
	rs.Untested = append(rs.Untested, left)
}

// The modes of a live run, which decide what it may call.
const (
	ModePlan  = "plan"  // only tools/list and introspection
	ModeSafe  = "safe"  // operations of risk 0
	ModeWrite = "write" // and CREATE, UPDATE and DELETE of items that the run itself created
	ModeFull  = "full"  // and EXECUTE, and what is allowed by name
)

// Modes lists the modes of a live run.
func Modes() []string { return []string{ModePlan, ModeSafe, ModeWrite, ModeFull} }

// Options configures a live run. Zero values are the defaults named with each field.
type Options struct {
	// Dial starts a session with the adapter. It is called once, once more when the
	// adapter dies, and once at the end to test that a new session starts with a
	// clean state. variant is "" for the adapter that the user named, or the endpoint
	// mode ("single", "semantic", "crude") of a second launch; a nil session and a
	// nil error mean that there is no such launch.
	Dial func(ctx context.Context, variant string) (*mcp.Session, error)

	Mode        string                   // ModeSafe
	Prefix      string                   // isOneOf the tool names, where an adapter has several
	Tool        string                   // the tool that accepts introspection; found automatically
	Values      jsonv.Value              // operation → parameter → value; "*" means every operation
	AppendOnly  []string                 // operation:field that an update must not change
	Allow, Deny []string                 // globs of operation names
	MaxCalls    int                      // 2,000
	Rate        float64                  // calls a second; 0 is no limit
	CallTimeout time.Duration            // 30 s
	Follow      time.Duration            // how long an execution is followed to its end, 30 s
	Budget      time.Duration            // isOneOf the whole run, 10 min
	Spread      time.Duration            // how long answers are checked for values that change by themselves, 1.1 s
	RunID       string                   // letters and digits; marks what the run creates
	Target      string                   // how the adapter is shown, without secrets
	Repeat      string                   // the beginning of a command line that repeats a call, e.g. `mcpaql-conformance call --stdio "x"`
	Program     string                   // name and version of this program, for the bundle
	Confirm     bool                     // send back the tokens with which an adapter requests confirmation
	Journal     func(JournalEntry) error // receives every create before it is sent; may be nil
	Progress    func(Progress)
	Stress      bool            // send requests that exceed the size limits
	Probed      bool            // leave operations that were not called out of the bundle's details
	Secrets     []string        // never stored, see [Mask]
	Asking      semantic.Asking // isOneOf models, for the semantic evaluation

	// Record receives all messages between the run and the adapter. The run then has
	// no model.
	Record *cassette.Writer
	// Replay answers instead of an adapter: Dial is not called, nothing waits.
	// Mode and the other options must be those of the recorded run.
	Replay *tape.Recording

	// ValuesFile is the file that Values was read from, nil if there is none. Warn
	// receives warnings about them with their position; it may be nil.
	ValuesFile *source.File
	Warn       func(source.Diagnostic)
}

// FindGiven returns the user's value for a parameter: that for the operation, or for every one.
func (o *Options) FindGiven(op, param string) (jsonv.Value, bool) {
	for _, at := range []string{op, "*"} {
		if v, ok := o.Values.Lookup(at).Get(param); ok {
			return v, true
		}
	}
	return jsonv.Value{}, false
}

func (o Options) fillDefaults() Options {
	o.Mode = cmp.Or(o.Mode, ModeSafe)
	o.RunID = cmp.Or(o.RunID, "run")
	o.MaxCalls = cmp.Or(max(o.MaxCalls, 0), 2000)
	o.CallTimeout = cmp.Or(max(o.CallTimeout, 0), 30*time.Second)
	o.Follow = cmp.Or(max(o.Follow, 0), 30*time.Second)
	o.Budget = cmp.Or(max(o.Budget, 0), 10*time.Minute)
	o.Spread = cmp.Or(max(o.Spread, 0), controlTime)
	if o.Journal == nil {
		o.Journal = func(JournalEntry) error { return nil }
	}
	if o.Progress == nil {
		o.Progress = func(Progress) {}
	}
	return o
}

// JournalEntry records one step in the life of an item, so that a later clean-up finds
// the items that a killed run left: before a create is sent (Intend), and when the
// answers to a create (Created) or a delete (Deleted) arrived.
type JournalEntry struct {
	Intend    string      `json:"intend,omitempty"` // operation
	Marker    string      `json:"marker,omitempty"`
	Created   string      `json:"created,omitempty"` // operation
	Deleted   string      `json:"deleted,omitempty"` // parameter
	Parameter string      `json:"parameter,omitempty"`
	ID        jsonv.Value `json:"id,omitzero"`   // absent for a resource that has at most one item
	With      jsonv.Value `json:"with,omitzero"` // the other parameters that name the item, an object
}

// Progress reports how far a live run has advanced.
type Progress struct {
	Phase       string
	Done, Total int // operations
	Calls       int
	Elapsed     time.Duration
}

// controlTime is the delay after a difference until the lists are read once more: it
// is long enough for a clock that counts seconds to change.
const controlTime = 1100 * time.Millisecond
