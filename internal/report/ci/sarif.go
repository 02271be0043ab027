package ci

import (
	"cmp"
	"io"
	"net/url"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/term"
	"mcptest/internal/report/explain"
	"mcptest/internal/report/gate"
	"mcptest/internal/report/render"
	"mcptest/internal/report/result"
)

// WriteSARIF writes SARIF 2.1.0: a result for each failed assertion on its
// line of the suite, for each protocol violation, and for each run-level
// failure. Hooks, metrics and counts are properties of the invocation.
func WriteSARIF(w io.Writer, r *result.Run, _ render.Options) error {
	s := &sarif{w: render.NewJSON(w), dir: r.Dir, rules: map[string]int{}}
	x := explain.NewExplainer(r, render.Options{})
	// Results refer to rules by their index in a list that precedes them, so the
	// failures are read twice.
	s.dry = true
	if err := s.results(r, x); err != nil {
		return err
	}
	s.dry = false
	s.w.Put("{\n\"$schema\": \"https://json.schemastore.org/sarif-2.1.0.json\",\n\"version\": \"2.1.0\",\n\"runs\": [{\n\"tool\": {\"driver\": ")
	s.w.Value(map[string]any{
		"name":    term.Escape(cmp.Or(r.Tool.Name, "mcptest")),
		"version": term.Escape(cmp.Or(r.Tool.Version, "0")),
		"rules":   jsonv.Array(s.list...),
	})
	s.w.Put("},\n\"columnKind\": \"unicodeCodePoints\",\n\"invocations\": [")
	list, err := explain.Warnings(r)
	if err != nil {
		return err
	}
	s.w.Value(invocation(r, list[:min(len(list), gitlabWarned)]))
	s.w.Put("],\n\"results\": [")
	if err := s.results(r, x); err != nil {
		return err
	}
	s.w.Put("\n]\n}]\n}\n")
	return s.w.Flush()
}

type sarif struct {
	w     render.JSONWriter
	dir   string // directory of the paths in the repository
	dry   bool   // only collect rules
	rules map[string]int
	list  []jsonv.Value
}

func (s *sarif) results(r *result.Run, x *explain.Explainer) error {
	for _, e := range explain.PseudoTests(r, x) {
		s.result(sarifFailure{
			rule:     e.Kind,
			ruleText: e.Kind,
			level:    level(e.Status),
			message:  e.MessageLine() + " (" + e.Name + ")",
			file:     e.File,
			line:     e.Line,
			identity: e.Kind + "\x00" + e.Name + "\x00" + e.Server,
			props:    map[string]any{"server": term.Escape(e.Server)},
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
	props := map[string]any{
		"test": term.Escape(c.Name), "status": string(c.Status), "durationMs": c.DurationMS,
		"server": jsonv.Filled(term.Escape(c.Server)), "repro": jsonv.Filled(term.Escape(c.Repro)),
	}
	if c.Score != nil {
		props["score"] = *c.Score
	}
	identity, name := c.File+"\x00"+c.Name, c.Name
	if c.Row != nil {
		name += " (row " + explain.Row(c) + ")"
	}
	base := sarifFailure{
		level:    level(c.Status),
		file:     c.File,
		line:     c.Line,
		column:   c.Column,
		source:   c.Source,
		identity: identity,
		props:    props,
	}
	explained := false
	for _, a := range explain.Failing(c.Assertions) {
		explained = true
		f := base
		f.rule = "assertion/" + cmp.Or(a.Matcher, "set")
		f.ruleText = strings.Join(strings.Fields("the assertion "+a.Matcher+" did not hold"), " ")
		if c.Block == "probe" {
			f.rule = "probe/" + a.Matcher
			f.ruleText = strings.Join(a.Notes[:min(len(a.Notes), 1)], "")
		}
		f.message = name + ": " + explain.Label(&a) + ": " + explain.AssertionReason(&a)
		f.file, f.source = cmp.Or(a.File, c.File), a.Source
		if a.Line > 0 {
			f.line, f.column = a.Line, a.Column
		}
		f.identity += "\x00" + a.Target + "\x00" + a.Matcher
		s.result(f)
	}
	for _, v := range c.Violations {
		if !v.Tolerated {
			explained = true
			f := base
			f.rule, f.ruleText, f.level = "violation/"+v.Kind, "the server violated the protocol", "error"
			f.message, f.identity = name+": "+v.Message, identity+"\x00"+v.Kind
			s.result(f)
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
		s.result(base)
	}
}

func level(s result.Status) string {
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
	props                          map[string]any
}

func (s *sarif) result(f sarifFailure) {
	id := ""
	for i, part := range strings.SplitN(f.rule, "/", 2) {
		if i > 0 {
			id += "/"
		}
		id += slug(part)
	}
	if s.dry {
		if _, ok := s.rules[id]; !ok {
			s.rules[id] = len(s.list)
			s.list = append(s.list, gate.SARIFRule(id, f.ruleText, "", ""))
		}
		return
	}
	uri := artifact(explain.InRepository(s.dir, f.file))
	at := gate.SARIFPlace(uri, f.line, f.column, render.OneLine(f.source, render.LongestLine))
	place := jsonv.Array(jsonv.ObjectOf("physicalLocation", at))
	s.w.Item(jsonv.ObjectOf(
		"ruleId", id,
		"ruleIndex", s.rules[id],
		"level", f.level,
		"message", gate.SARIFText(render.OneLine(f.message, 4*render.LongestLine)),
		"locations", place.If(f.file != ""),
		"partialFingerprints", jsonv.ObjectOf("mcptestIdentity/v1", gate.Fingerprint(id, f.identity)),
		"properties", f.props,
	))
}

// artifact returns a file as a URI, relative to the sources unless it is absolute.
func artifact(file string) jsonv.Value {
	file = strings.ReplaceAll(file, `\`, "/")
	u := url.URL{Path: term.Escape(file)}
	switch {
	case strings.HasPrefix(file, "/"):
		u.Scheme = "file"
	case len(file) > 2 && file[1] == ':': // a Windows drive
		u.Scheme, u.Path = "file", "/"+u.Path
	default:
		return jsonv.ObjectOf("uri", u.EscapedPath(), "uriBaseId", "%SRCROOT%")
	}
	return jsonv.ObjectOf("uri", u.String())
}

func invocation(r *result.Run, warnings []*explain.Warning) jsonv.Value {
	var notices []jsonv.Value
	notice := func(level, text string) {
		notices = append(notices, jsonv.ObjectOf("level", level, "message", gate.SARIFText(text)))
	}
	for _, n := range r.Notes {
		notice("note", render.OneLine(n, render.LongestLine))
	}
	for _, c := range explain.Coverages(r, false) {
		notice("note", c.String())
	}
	for _, line := range explain.Results(r) {
		notice("note", render.OneLine(line, render.LongestLine))
	}
	for _, f := range r.Findings {
		if f.Severity != "error" && f.Kind != result.OfResult {
			notice("warning", render.OneLine(f.Kind+": "+f.Message, render.LongestLine))
		}
	}
	for _, w := range warnings {
		if w.Test {
			notice("warning", render.OneLine(w.MessageLine(), render.LongestLine))
		}
	}
	props := map[string]any{"durationMs": r.DurationMS, "tests": r.Summary.Total, "passed": r.Summary.Passed, "skipped": r.Summary.Skipped}
	if len(r.Phases) > 0 {
		props["phases"] = jsonv.List(r.Phases, func(ph result.Phase) jsonv.Value {
			return jsonv.ObjectOf(
				"durationMs", ph.DurationMS,
				"name", term.Escape(ph.Name),
				"phase", term.Escape(ph.Phase),
				"status", string(ph.Status),
			)
		})
	}
	if len(r.Rollups) > 0 {
		metrics := map[string]any{}
		for _, m := range r.Rollups {
			metrics[term.Escape(m.Name)] = jsonv.ObjectOf("count", m.Count, "mean", m.Mean)
		}
		props["metricRollups"] = metrics
	}
	started := jsonv.String(r.Started.UTC().Format("2006-01-02T15:04:05.000Z")).If(!r.Started.IsZero())
	return jsonv.ObjectOf(
		"commandLine", jsonv.Filled(term.Escape(r.Command)),
		"startTimeUtc", started,
		"exitCode", r.ExitCode,
		"exitSignalName", jsonv.Filled(term.Escape(r.Interrupted)),
		"executionSuccessful", r.ExitCode == 0 || r.ExitCode == 1,
		"toolExecutionNotifications", jsonv.Array(notices...).If(notices != nil),
		"properties", props,
	)
}
