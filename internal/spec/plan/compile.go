package plan

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"mcptest/internal/assert/expect"
	"mcptest/internal/assert/schemas"
	"mcptest/internal/assert/snapshot"
	"mcptest/internal/base/source"
	"mcptest/internal/process/bundle"
	"mcptest/internal/spec/agent"
	"mcptest/internal/spec/suite"
)

// Settings are the choices made outside the suites: flags and environment.
type Settings struct {
	// Filters are a part of the name, or "re:" and a regular expression; any may match. One
	// that begins with ! leaves out the tests with such a name.
	Filters  []string
	Tags     []string // a test needs at least one of them
	SkipTags []string // a test with any of them is skipped
	Servers  []string // only tests on these servers are selected
	Models   []string // only conversations with these models are selected
	// Places select the tests at or above lines of files; nil selects all.
	Places []Place
	// Names selects cases by exact name (--last-failed); nil selects all.
	Names map[string]bool

	Timeout      time.Duration // 0: not set
	WaitForReady time.Duration // overrides that of servers; 0: not set
	Client       *Client       // overrides client: of servers; nil: not set
	Retries      *int
	Parallel     int // 0: not set
	FailFast     bool
	Env          []string // the process environment
	AllowOutside bool
	CI           bool // reject `only`
	// Alone prevents cases from sharing sessions, so that requests to upstreams can be
	// attributed to a case.
	Alone bool
	// Self is the path of this program. A command that begins with the word mcptest
	// starts it, regardless of PATH.
	Self string
	// Bundles chooses the folders in which bundles are unpacked; may be nil.
	Bundles *bundle.Folders
	// System is where bundles are started.
	System bundle.System
	// ViolationKinds are the names allowed in `tolerate:`.
	ViolationKinds []string
}

// A Place is a line of a suite.
type Place struct {
	File string // an absolute path
	Line int
}

// String returns FILE:LINE.
func (p Place) String() string { return fmt.Sprintf("%s:%d", p.File, p.Line) }

// compiler compiles one file.
type compiler struct {
	set   Settings
	suite *suite.Suite
	file  *File
	dec   *source.Decoder
	base  expect.Parts // items that defaultTest adds to every test
	// schemas caches compiled schemas for all rows and tests.
	schemas *schemas.Cache
	// probe is a decoder for tentative decoding. It is reused until it has
	// diagnostics, because a new one analyzes the types again.
	probe *source.Decoder
	// table is the CSV file whose first row is being compiled.
	table string
}

// newApart returns a copy of the compiler with diagnostics of its own.
func (c *compiler) newApart() *compiler {
	out := *c
	out.dec, out.probe = new(source.Decoder), nil
	return &out
}

// Compile compiles the suites for one run. The diagnostics contain every mistake of
// every suite; if there is an error, the plan must not be run. Compile takes
// ownership of the suites: it removes their Entries, so that a large suite is not
// kept in memory twice.
func Compile(suites []*suite.Suite, set Settings) (*Plan, source.Diagnostics) {
	p := &Plan{}
	var diags source.Diagnostics
	sel, ds := newSelector(set)
	diags = append(diags, ds...)
	cache := schemas.New()
	for _, s := range suites {
		c := &compiler{set: set, suite: s, dec: new(source.Decoder), schemas: cache}
		f := c.compile()
		diags = append(diags, c.dec.Diagnostics()...)
		c.dec, c.probe, s.Entries = nil, nil, nil
		p.Files = append(p.Files, f)
		p.written += f.cases
	}
	if diags.HasErrors() {
		return p, diags
	}
	for _, f := range p.Files {
		sel.anyOnly = sel.anyOnly || f.only
	}
	diags = append(diags, sel.choosePlaces(p.Files)...)
	p.refs = make([]ref, 0, sel.countMaxSelected(p))
	for i, f := range p.Files {
		p.refs = sel.selectFrom(p.refs, i, f)
	}
	return p, append(diags, sel.warnMisspelled(p)...)
}

func (c *compiler) compile() *File {
	s := c.suite
	f := &File{
		inputs: inputs{paths: map[string]bool{}},
		Suite:  s,
		Name:   s.Name,
		Path:   s.File.Name,
		Dir:    s.Dir,
	}
	c.file = f
	f.HookEnv = makeHookEnv(c.set.Env, s)
	for _, sv := range s.Servers {
		server, diags := c.newApart().compileServer(sv)
		f.Servers = append(f.Servers, server)
		c.dec.AddNew(diags...) // variants share mistakes of their server
	}
	c.compileUpstreams()
	f.Default = f.Server(s.DefaultServer)
	c.compileOptions()
	c.compileFixtures()
	c.compileDefaults()
	f.Serial = len(f.BeforeEach)+len(f.AfterEach)+len(f.SetupPerTest)+len(f.TeardownPerTest) > 0
	c.warnParallel()
	names := nameCheck{c.dec, map[string]firstUse{}}
	for _, e := range s.Entries {
		for i, n := range agent.Split(e.Node) {
			e.Node = n
			one := c
			if i > 0 { // it has the mistakes of the first, too
				one = c.newApart()
			}
			t := one.compileTemplate(e)
			if i > 0 {
				c.dec.AddNew(one.dec.Diagnostics()...)
			}
			f.templates = append(f.templates, t)
			f.cases += t.count()
			names.add(t)
			c.checkOnly(t)
			t.release()
		}
	}
	if s.File.Path != "" {
		var ds source.Diagnostics
		f.Snapshots, ds = snapshot.Read(s.File.Path, f.Path)
		c.dec.Add(ds...)
	}
	return f
}

// checkOnly records a test with only:, and rejects it in CI.
func (c *compiler) checkOnly(t *template) {
	for row := range t.countRows() {
		if !t.isOnly(row) {
			if t.meta == nil {
				return
			}
			continue
		}
		c.file.only = true
		pos := t.only
		if c.set.CI {
			if pos.IsZero() {
				pos = t.pos
			}
			c.dec.Add(source.Diagnostic{
				Pos: pos, Path: t.entry.Path + ".only", Code: "only",
				Msg: "only: is refused in CI, where it would silently skip the other tests", Hint: "remove it",
			})
		}
		return
	}
}

func (c *compiler) compileOptions() {
	o := c.suite.Options
	f := c.file
	f.Options = Options{Parallel: 1, RestartPolicy: PerRun, FailFast: c.set.FailFast}
	if o.Parallel != nil {
		f.Options.Parallel = o.Parallel.N
		f.Options.Whole = !o.Parallel.Auto && o.Parallel.N == 1
	}
	if c.set.Parallel > 0 && !f.Options.Whole {
		f.Options.Parallel = c.set.Parallel
	}
	if o.RestartPolicy != "" {
		f.Options.RestartPolicy = o.RestartPolicy
	}
	f.Options.DiagnoseIsolation = o.DiagnoseIsolation
	f.Options.StrictArgs, f.Options.Inconclusive = o.StrictArgs, cmp.Or(o.Inconclusive, Gate)
	if o.FailFast != nil {
		f.Options.FailFast = f.Options.FailFast || *o.FailFast
	}
}

// warnParallel warns if the number of calls in flight has no effect in a
// file.
func (c *compiler) warnParallel() {
	why := "its hooks or steps for each test run its tests one after another"
	o := c.suite.Options.Parallel
	switch {
	case c.file.Serial && o != nil && o.N > 1:
		c.dec.Add(source.Diagnostic{
			Pos: o.Pos, Path: "run_options.parallel", Severity: source.Warning, Code: "parallel", Msg: "parallel has no effect in this file: " + why,
		})
	case c.set.Parallel > 1 && (c.file.Serial || c.file.Options.Whole):
		if c.file.Options.Whole {
			why = "it sets parallel: false"
		}
		c.dec.Add(source.Diagnostic{
			Path: "--parallel", Severity: source.Warning, Code: "parallel", Msg: "it has no effect in " + c.file.Path + ": " + why,
		})
	}
}

// compileDefaults compiles defaultTest once; its items are shared by every test.
func (c *compiler) compileDefaults() {
	dt := c.suite.DefaultTest
	if dt == nil {
		return
	}
	if dt.Expect != nil {
		c.base.Expect = c.compileExpectations(dt.Expect, "defaultTest.expect", "")
	}
	if dt.DerivedMetrics != nil {
		c.base.Metrics = expect.CompileMetrics(dt.DerivedMetrics, "defaultTest.derivedMetrics", c.dec)
	}
	c.base.Threshold = dt.Threshold
	if dt.Threshold != nil {
		at := &source.Node{Pos: dt.Pos, Text: strconv.FormatFloat(*dt.Threshold, 'g', -1, 64)}
		expect.WarnThreshold(c.dec, at, "defaultTest.threshold", *dt.Threshold, "test")
	}
	if len(c.suite.Entries) > 0 {
		return // the tests that use the names report them
	}
	for _, name := range dt.Server.Items {
		if name.Text != "" && len(c.file.Matching(name.Text)) == 0 {
			c.reportUnknownServer(name.Pos, "defaultTest.server", name.Text)
		}
	}
}

// reportUnknownServer reports a name or pattern that matches no server, or a pattern
// where one name is expected.
func (c *compiler) reportUnknownServer(pos source.Pos, path, name string) {
	found := c.file.Matching(name)
	switch {
	case len(found) > 0:
		c.dec.ErrorAt(pos, path, fmt.Sprintf("expected the name of one server, got the pattern %q", name), "such as "+found[0].Name)
	case c.suite.Partial: // it may be declared in a file that could not be read
	case strings.Contains(name, "*"):
		c.dec.ErrorAt(pos, path, fmt.Sprintf("no server matches %q", name), c.suite.SuggestServer(name))
	default:
		c.dec.ErrorAt(pos, path, fmt.Sprintf("no server is called %q", name), c.suite.SuggestServer(name))
	}
}
