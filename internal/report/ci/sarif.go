package ci

import (
	"cmp"
	"io"
	"net/url"
	"strings"

	"mcptest/internal/base/term"
	"mcptest/internal/report/explain"
	"mcptest/internal/report/gate"
	"mcptest/internal/report/render"
	"mcptest/internal/report/result"
)

// What is around the parts of the document, which is written in parts so that its results
// are not in memory at once.
const (
	sarifHead = `{
"$schema": "` + gate.SARIFSchema + `",
"version": "2.1.0",
"runs": [{
"tool": {"driver": `

	sarifInvocations = `},
"columnKind": "unicodeCodePoints",
"invocations": [`

	sarifResults = `],
"results": [`

	sarifEnd = `
]
}]
}
`
)

// WriteSARIF writes SARIF 2.1.0: a result for each failed assertion on its
// line of the suite, for each protocol violation, and for each run-level
// failure. Hooks, metrics and counts are properties of the invocation.
func WriteSARIF(w io.Writer, r *result.Run, _ render.Options) error {
	s := &sarif{w: render.NewJSON(w), dir: r.Dir, rules: map[string]int{}, list: []gate.SARIFRule{}}
	x := explain.NewExplainer(r, render.Options{})
	// Results refer to rules by their index in a list that precedes them, so the
	// failures are read twice.
	s.dry = true
	if err := s.writeResults(r, x); err != nil {
		return err
	}
	s.dry = false
	list, err := explain.Warnings(r)
	if err != nil {
		return err
	}
	s.w.Put(sarifHead)
	s.w.Value(gate.SARIFDriver{
		Name:    term.Escape(cmp.Or(r.Tool.Name, "mcptest")),
		Rules:   s.list,
		Version: term.Escape(cmp.Or(r.Tool.Version, "0")),
	})
	s.w.Put(sarifInvocations)
	s.w.Value(newInvocation(r, list[:min(len(list), gitlabWarned)]))
	s.w.Put(sarifResults)
	if err := s.writeResults(r, x); err != nil {
		return err
	}
	s.w.Put(sarifEnd)
	return s.w.Flush()
}

type sarif struct {
	w     render.JSONWriter
	dir   string         // directory of the paths in the repository
	dry   bool           // only collect rules
	rules map[string]int // places in the list, by id
	list  []gate.SARIFRule
}

// The property bags of results and of the invocation.
type (
	sarifServer struct {
		Server string `json:"server"`
	}

	sarifTest struct {
		DurationMS float64  `json:"durationMs"`
		Repro      string   `json:"repro,omitempty"` // the command that repeats the test
		Score      *float64 `json:"score,omitempty"`
		Server     string   `json:"server,omitempty"`
		Status     string   `json:"status"`
		Test       string   `json:"test"`
	}

	sarifRun struct {
		DurationMS    float64                `json:"durationMs"`
		MetricRollups map[string]sarifRollup `json:"metricRollups,omitempty"`
		Passed        int                    `json:"passed"`
		Phases        []sarifPhase           `json:"phases,omitempty"`
		Skipped       int                    `json:"skipped"`
		Tests         int                    `json:"tests"`
	}

	sarifRollup struct {
		Count int     `json:"count"`
		Mean  float64 `json:"mean"`
	}

	sarifPhase struct {
		DurationMS float64 `json:"durationMs"`
		Name       string  `json:"name"`
		Phase      string  `json:"phase"`
		Status     string  `json:"status"`
	}
)

// sarifInvocation is the object of that name in SARIF 2.1.0.
type sarifInvocation struct {
	CommandLine                string              `json:"commandLine,omitempty"`
	StartTimeUTC               string              `json:"startTimeUtc,omitempty"`
	ExitCode                   int                 `json:"exitCode"`
	ExitSignalName             string              `json:"exitSignalName,omitempty"`
	ExecutionSuccessful        bool                `json:"executionSuccessful"`
	ToolExecutionNotifications []sarifNotification `json:"toolExecutionNotifications,omitempty"`
	Properties                 sarifRun            `json:"properties"`
}

type sarifNotification struct {
	Level   string             `json:"level"` // note or warning
	Message *gate.SARIFMessage `json:"message,omitempty"`
}

func (s *sarif) writeResults(r *result.Run, x *explain.Explainer) error {
	for _, e := range explain.ListPseudoTests(r, x) {
		s.writeResult(sarifFailure{
			rule:     e.Kind,
			ruleText: e.Kind,
			level:    nameLevel(e.Status),
			message:  e.MessageLine() + " (" + e.Name + ")",
			file:     e.File,
			line:     e.Line,
			identity: e.Kind + "\x00" + e.Name + "\x00" + e.Server,
			props:    sarifServer{term.Escape(e.Server)},
		})
	}
	for c, err := range r.Cases.NotPassed() {
		if err != nil {
			return err
		}
		s.testCase(c)
	}
	return nil
}

func (s *sarif) testCase(c *result.Case) {
	props := sarifTest{
		DurationMS: c.DurationMS,
		Repro:      term.Escape(c.Repro),
		Score:      c.Score,
		Server:     term.Escape(c.Server),
		Status:     string(c.Status),
		Test:       term.Escape(c.Name),
	}
	identity, name := c.File+"\x00"+c.Name, c.Name
	if c.Row != nil {
		name += " (row " + explain.Row(c) + ")"
	}
	base := sarifFailure{
		level:    nameLevel(c.Status),
		file:     c.File,
		line:     c.Line,
		column:   c.Column,
		source:   c.Source,
		identity: identity,
		props:    props,
	}
	explained := false
	for _, a := range explain.ListFailing(c.Assertions) {
		explained = true
		f := base
		f.rule = "assertion/" + cmp.Or(a.Matcher, "set")
		f.ruleText = strings.Join(strings.Fields("the assertion "+a.Matcher+" did not hold"), " ")
		if c.Block == "probe" {
			f.rule = "probe/" + a.Matcher
			f.ruleText = strings.Join(a.Notes[:min(len(a.Notes), 1)], "")
		}
		f.message = name + ": " + explain.Label(&a) + ": " + explain.FormatAssertionReason(&a)
		f.file, f.source = cmp.Or(a.File, c.File), a.Source
		if a.Line > 0 {
			f.line, f.column = a.Line, a.Column
		}
		f.identity += "\x00" + a.Target + "\x00" + a.Matcher
		s.writeResult(f)
	}
	for _, v := range c.Violations {
		if !v.Tolerated {
			explained = true
			f := base
			f.rule, f.ruleText, f.level = "violation/"+v.Kind, "the server violated the protocol", "error"
			f.message, f.identity = name+": "+v.Message, identity+"\x00"+v.Kind
			s.writeResult(f)
		}
	}
	if !explained {
		base.rule, base.ruleText = "test-failed", "a test failed"
		if c.Status == result.Error {
			base.rule, base.ruleText = "test-error", "the server did not respond"
		} else if c.Status == result.Inconclusive {
			base.rule, base.ruleText = "test-inconclusive", "a test was inconclusive"
		}
		base.message = c.Name + ": " + explain.Reason(c)
		s.writeResult(base)
	}
}

func nameLevel(s result.Status) string {
	switch {
	case s == result.Inconclusive:
		return "warning"
	case explain.Failed(s):
		return "error"
	}
	return "note"
}

// sarifFailure is a result. Its fingerprint is computed from the rule and the
// identity.
type sarifFailure struct {
	rule, ruleText, level, message string
	file                           string
	line, column                   int
	source                         string // the line of the suite
	identity                       string
	props                          any
}

func (s *sarif) writeResult(f sarifFailure) {
	id := ""
	for i, part := range strings.SplitN(f.rule, "/", 2) {
		if i > 0 {
			id += "/"
		}
		id += makeSlug(part)
	}
	if s.dry {
		if _, ok := s.rules[id]; !ok {
			s.rules[id] = len(s.list)
			s.list = append(s.list, gate.SARIFRule{ID: id, ShortDescription: gate.SARIFText(f.ruleText)})
		}
		return
	}
	s.w.Item(gate.SARIFResult{
		RuleID:              id,
		RuleIndex:           s.rules[id],
		Level:               f.level,
		Message:             gate.SARIFText(render.OneLine(f.message, 4*render.LongestLine)),
		Locations:           s.listLocations(f),
		PartialFingerprints: map[string]string{"mcptestIdentity/v1": gate.Fingerprint(id, f.identity)},
		Properties:          f.props,
	})
}

// listLocations returns the place of a failure in its file, nothing if there is no file.
func (s *sarif) listLocations(f sarifFailure) []gate.SARIFLocation {
	if f.file == "" {
		return nil
	}
	at := gate.SARIFPhysicalLocation{ArtifactLocation: newArtifact(explain.RelateToRepository(s.dir, f.file))}
	if f.line > 0 {
		at.Region = &gate.SARIFRegion{
			StartLine:   f.line,
			StartColumn: max(f.column, 0),
			Snippet:     gate.SARIFText(render.OneLine(f.source, render.LongestLine)),
		}
	}
	return []gate.SARIFLocation{{PhysicalLocation: at}}
}

// newArtifact returns a file as a URI, relative to the sources unless it is absolute.
func newArtifact(file string) gate.SARIFArtifact {
	file = strings.ReplaceAll(file, `\`, "/")
	u := url.URL{Path: term.Escape(file)}
	switch {
	case strings.HasPrefix(file, "/"):
		u.Scheme = "file"
	case len(file) > 2 && file[1] == ':': // a Windows drive
		u.Scheme, u.Path = "file", "/"+u.Path
	default:
		return gate.SARIFArtifact{URI: u.EscapedPath(), URIBaseID: "%SRCROOT%"}
	}
	return gate.SARIFArtifact{URI: u.String()}
}

func newInvocation(r *result.Run, warnings []*explain.Warning) sarifInvocation {
	v := sarifInvocation{
		CommandLine:                term.Escape(r.Command),
		ExitCode:                   r.ExitCode,
		ExitSignalName:             term.Escape(r.Interrupted),
		ExecutionSuccessful:        r.ExitCode == 0 || r.ExitCode == 1,
		ToolExecutionNotifications: listNotifications(r, warnings),
		Properties: sarifRun{
			DurationMS: r.DurationMS,
			Passed:     r.Summary.Passed,
			Skipped:    r.Summary.Skipped,
			Tests:      r.Summary.Total,
		},
	}
	if !r.Started.IsZero() {
		v.StartTimeUTC = r.Started.UTC().Format("2006-01-02T15:04:05.000Z")
	}
	for _, ph := range r.Phases {
		v.Properties.Phases = append(v.Properties.Phases, sarifPhase{
			DurationMS: ph.DurationMS,
			Name:       term.Escape(ph.Name),
			Phase:      term.Escape(ph.Phase),
			Status:     string(ph.Status),
		})
	}
	if len(r.Rollups) > 0 {
		v.Properties.MetricRollups = map[string]sarifRollup{}
	}
	for _, m := range r.Rollups {
		v.Properties.MetricRollups[term.Escape(m.Name)] = sarifRollup{Count: m.Count, Mean: m.Mean}
	}
	return v
}

// listNotifications are the notes and warnings that belong to no result.
func listNotifications(r *result.Run, warnings []*explain.Warning) (all []sarifNotification) {
	add := func(level, text string) {
		all = append(all, sarifNotification{level, gate.SARIFText(text)})
	}
	for _, n := range r.Notes {
		add("note", render.OneLine(n, render.LongestLine))
	}
	for _, c := range explain.ListCoverages(r, false) {
		add("note", c.String())
	}
	for _, line := range explain.Results(r) {
		add("note", render.OneLine(line, render.LongestLine))
	}
	for _, f := range r.Findings {
		if f.Severity != "error" && f.Kind != result.OfResult {
			add("warning", render.OneLine(f.Kind+": "+f.Message, render.LongestLine))
		}
	}
	for _, w := range warnings {
		if w.Test {
			add("warning", render.OneLine(w.MessageLine(), render.LongestLine))
		}
	}
	return all
}
