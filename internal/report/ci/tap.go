package ci

import (
	"fmt"
	"io"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/term"
	"mcptest/internal/report/explain"
	"mcptest/internal/report/render"
	"mcptest/internal/report/result"
)

// WriteTAP writes the Test Anything Protocol, version 14. Run-level
// failures are test points too; they come last. An interrupted run ends with
// "Bail out!".
func WriteTAP(w io.Writer, r *result.Run, _ render.Options) error {
	t := &tap{Out: render.NewOut(w)}
	runLevel := explain.ListPseudoTests(r, explain.NewExplainer(r, render.Options{}))
	total := len(runLevel) + r.Cases.Len()
	t.Put("TAP version 14\n")
	if total == 0 {
		t.Put("1..0 # SKIP no tests\n")
	} else {
		t.Put(fmt.Sprintf("1..%d\n", total))
	}
	t.comment(strings.TrimSpace(r.Tool.Name + " " + r.Tool.Version))
	t.writePhases(r)
	if err := t.writeCases(r); err != nil {
		return err
	}
	for _, e := range runLevel {
		t.runLevel(e)
	}
	t.writeSummary(r)
	if r.Interrupted != "" { // readers ignore what follows, so it comes last
		t.Put("Bail out! ", render.OneLine("interrupted ("+r.Interrupted+")", render.LongestLine), "\n")
	}
	return t.Flush()
}

// writePhases writes the hooks and steps, except those that are test points because no test
// could run after them.
func (t *tap) writePhases(r *result.Run) {
	for i := range r.Phases {
		ph := &r.Phases[i]
		if explain.Failed(ph.Status) && explain.BeforeTests(ph) {
			continue
		}
		line := fmt.Sprintf("%s: %s %s (%s)", ph.Phase, ph.Status, ph.Name, render.Duration(ph.DurationMS))
		if len(r.Suites) > 1 {
			line += " of " + ph.File
		}
		if explain.Failed(ph.Status) {
			line += ": " + ph.Message
		}
		t.comment(line)
	}
}

// writeSummary writes what belongs to no test, as comments.
func (t *tap) writeSummary(r *result.Run) {
	for _, m := range r.Rollups {
		t.comment(fmt.Sprintf("metric %s: mean %s over %s", m.Name, render.Number(m.Mean), display.Count(m.Count, "test")))
	}
	for _, line := range explain.Results(r) {
		t.comment(line)
	}
	for _, c := range explain.ListCoverages(r, false) {
		t.comment(c.String())
	}
	for _, n := range r.Notes {
		t.comment("note: " + n)
	}
	p := render.NewPrinter(nil, r, render.Options{})
	t.Put("# ", explain.Summary(p, r), "\n")
}

type tap struct {
	render.Out
	n int
}

func (t *tap) writeCases(r *result.Run) error {
	suite := ""
	for c, err := range r.Cases.All() {
		if err != nil {
			return err
		}
		if c.Suite != suite {
			suite = c.Suite
			t.comment("suite: " + suite)
		}
		word, directive := describePoint(c)
		t.writePoint(word, c.Name, directive)
		t.writeYAML(listFacts(c))
	}
	return nil
}

// The words with which a test point begins.
const (
	pointOK    = "ok"
	pointNotOK = "not ok"
)

// describePoint returns the word and the directive of a test point.
func describePoint(c *result.Case) (word, directive string) {
	switch {
	case c.KnownFailure != nil && c.Status == result.Skip: // TAP's word for a failure that is expected
		return pointNotOK, " # TODO " + tapText(explain.Reason(c))
	case c.Status == result.Skip:
		return pointOK, " # SKIP " + tapText(explain.Reason(c))
	case explain.Failed(c.Status):
		word = pointNotOK
	default:
		word = pointOK
	}
	if c.Status == result.Inconclusive {
		directive = " # inconclusive"
	}
	return word, directive
}

func (t *tap) comment(text string) { t.Put("# ", render.OneLine(text, render.LongestLine), "\n") }

// tapEscaper escapes the character that starts a directive, and the escape character.
var tapEscaper = strings.NewReplacer(`\`, `\\`, "#", `\#`)

func tapText(s string) string { return tapEscaper.Replace(render.OneLine(s, render.LongestLine)) }

func (t *tap) writePoint(word, name, directive string) {
	t.n++
	t.Put(fmt.Sprintf("%s %d - ", word, t.n), tapText(name), directive, "\n")
}

// fact is a line of a YAML block. The value is JSON, which is valid YAML.
type fact struct {
	name  string
	value jsonv.Value
}

func (t *tap) writeYAML(facts []fact) {
	if len(facts) == 0 {
		return
	}
	t.Put("  ---\n")
	for _, f := range facts {
		if f.value.Kind() != jsonv.KindArray {
			t.Put("  ", f.name, ": ", f.value.String(), "\n")
			continue
		}
		t.Put("  ", f.name, ":\n")
		for _, v := range f.value.Elems() {
			t.Put("    - ", v.String(), "\n")
		}
	}
	t.Put("  ...\n")
}

// listFacts returns the lines of the YAML block below a test point. A passed test
// only has them for a score or a remark.
func listFacts(c *result.Case) (facts []fact) {
	add := func(name string, v jsonv.Value) { facts = append(facts, fact{name, v}) }
	text := func(name, s string) {
		if s != "" {
			add(name, jsonv.String(term.EscapeLines(s)))
		}
	}
	failed := explain.Failed(c.Status)
	if failed {
		text("message", render.OneLine(explain.Reason(c), render.LongestLine))
		text("severity", string(c.Status))
		file, line, column := explain.FindLocation(c)
		text("at", render.Place(file, line, column))
		_, call := explain.FindLastCall(c)
		text("call", render.OneLine(call, render.LongestLine))
	}
	if c.Score != nil {
		add("score", jsonv.Float(*c.Score))
	}
	for _, m := range c.DerivedMetrics {
		add(jsonv.String("metric "+term.Escape(m.Name)).String(), jsonv.Float(m.Value))
	}
	if c.Flaky {
		add("flaky", jsonv.Bool(true))
	}
	if len(c.Warnings) > 0 {
		add("warnings", newTexts(c.Warnings))
	}
	var phases []string
	for i := range c.Phases {
		ph := &c.Phases[i]
		phases = append(phases, fmt.Sprintf("%s: %s %s (%s)", ph.Phase, ph.Status, ph.Name, render.Duration(ph.DurationMS)))
	}
	if phases != nil {
		add("phases", newTexts(phases))
	}
	if len(facts) == 0 {
		return nil
	}
	if c.DurationMS > 0 {
		add("duration_ms", jsonv.Float(c.DurationMS))
	}
	if !failed {
		return facts
	}
	for _, a := range explain.ListFailing(c.Assertions) {
		add("assert", newTexts(append([]string{explain.Label(&a) + ": " + explain.FormatAssertionReason(&a)},
			a.Diff...)))
	}
	for i := range c.Phases {
		if ph := &c.Phases[i]; explain.Failed(ph.Status) {
			text("phase", ph.Phase+": "+ph.Name+": "+ph.Message)
		}
	}
	text("stderr", c.Stderr)
	text("repro", c.Repro)
	return numberFacts(facts)
}

// numberFacts makes repeated keys unique, as a YAML mapping requires.
func numberFacts(facts []fact) []fact {
	seen := map[string]int{}
	for i := range facts {
		name := facts[i].name
		seen[name]++
		if seen[name] > 1 {
			facts[i].name = fmt.Sprintf("%s_%d", name, seen[name])
		}
	}
	return facts
}

func newTexts(lines []string) jsonv.Value {
	return jsonv.List(lines, func(l string) jsonv.Value { return jsonv.String(render.OneLine(l, render.LongestLine)) })
}

func (t *tap) runLevel(e explain.PseudoTest) {
	t.writePoint(pointNotOK, e.Title(), "")
	facts := []fact{
		{"message", jsonv.String(render.OneLine(e.Message, render.LongestLine))},
		{"severity", jsonv.String(string(e.Status))},
	}
	if e.File != "" {
		facts = append(facts, fact{"at", jsonv.String(render.Place(e.File, e.Line, 0))})
	}
	if e.Server != "" {
		facts = append(facts, fact{"server", jsonv.String(term.Escape(e.Server))})
	}
	t.writeYAML(append(facts, fact{"text", newTexts(strings.Split(e.Text, "\n"))}))
}
