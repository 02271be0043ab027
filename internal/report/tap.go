package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"mcptest/internal/display"
	"mcptest/internal/jsonv"
	"mcptest/internal/result"
	"mcptest/internal/term"
)

// writeTAP writes the Test Anything Protocol, version 14. Run-level
// failures are test points too; they come last. An interrupted run ends with
// "Bail out!".
func writeTAP(w io.Writer, r *result.Run, _ Options) error {
	bw := bufio.NewWriter(w)
	t := &tap{out: out{w: bw}}
	runLevel := pseudoTests(r, newExplainer(r, Options{}))
	total := len(runLevel)
	if r.Cases != nil {
		total += r.Cases.Len()
	}
	t.put("TAP version 14\n")
	if total == 0 {
		t.put("1..0 # SKIP no tests\n")
	} else {
		t.put(fmt.Sprintf("1..%d\n", total))
	}
	t.comment(strings.TrimSpace(r.Tool.Name + " " + r.Tool.Version))
	for i := range r.Phases {
		if ph := &r.Phases[i]; !broke(ph.Status) || !before(ph) {
			line := fmt.Sprintf("%s: %s %s (%s)", ph.Phase, ph.Status, ph.Name, duration(ph.DurationMS))
			if len(r.Suites) > 1 {
				line += " of " + ph.File
			}
			if broke(ph.Status) {
				line += ": " + ph.Message
			}
			t.comment(line)
		}
	}
	if err := t.cases(r); err != nil {
		return err
	}
	for _, e := range runLevel {
		t.runLevel(e)
	}
	for _, m := range r.Rollups {
		t.comment(fmt.Sprintf("metric %s: mean %s over %s", m.Name, number(m.Mean), display.Count(m.Count, "test")))
	}
	for _, n := range r.Notes {
		t.comment("note: " + n)
	}
	p := newPrinter(nil, r, Options{})
	t.put("# ", summary(p, r), "\n")
	if r.Interrupted != "" { // a reader takes no notice of what follows, so it comes last
		t.put("Bail out! ", oneLine("interrupted ("+r.Interrupted+")", longest), "\n")
	}
	if t.err != nil {
		return t.err
	}
	return bw.Flush()
}

type tap struct {
	out
	n int
}

func (t *tap) cases(r *result.Run) error {
	if r.Cases == nil {
		return nil
	}
	suite := ""
	for c, err := range r.Cases.All() {
		if err != nil {
			return err
		}
		if c.Suite != suite {
			suite = c.Suite
			t.comment("suite: " + suite)
		}
		directive := ""
		if c.Status == result.Skip {
			directive = " # SKIP " + tapText(failureReason(c))
		}
		t.point(!broke(c.Status), c.Name, directive)
		t.yaml(caseFacts(c))
		if t.err != nil {
			return t.err
		}
	}
	return nil
}

func (t *tap) comment(text string) { t.put("# ", oneLine(text, longest), "\n") }

// tapEscaper escapes what starts a directive, and the escape itself.
var tapEscaper = strings.NewReplacer(`\`, `\\`, "#", `\#`)

func tapText(s string) string { return tapEscaper.Replace(oneLine(s, longest)) }

func (t *tap) point(ok bool, name, directive string) {
	t.n++
	word := "ok"
	if !ok {
		word = "not ok"
	}
	t.put(fmt.Sprintf("%s %d - ", word, t.n), tapText(name), directive, "\n")
}

// fact is a line of a YAML block. The value is JSON, which is YAML too.
type fact struct {
	name  string
	value jsonv.Value
}

func (t *tap) yaml(facts []fact) {
	if len(facts) == 0 {
		return
	}
	t.put("  ---\n")
	for _, f := range facts {
		if f.value.Kind() != jsonv.KindArray {
			t.put("  ", f.name, ": ", f.value.String(), "\n")
			continue
		}
		t.put("  ", f.name, ":\n")
		for _, v := range f.value.Elems() {
			t.put("    - ", v.String(), "\n")
		}
	}
	t.put("  ...\n")
}

// caseFacts are the lines of the YAML block below a test point; a test that
// passed has none unless it has a score or a remark.
func caseFacts(c *result.Case) (facts []fact) {
	add := func(name string, v jsonv.Value) { facts = append(facts, fact{name, v}) }
	text := func(name, s string) {
		if s != "" {
			add(name, jsonv.String(term.EscapeLines(s)))
		}
	}
	failed := broke(c.Status)
	if failed {
		text("message", oneLine(failureReason(c), longest))
		text("severity", string(c.Status))
		file, line, column := location(c)
		text("at", place(file, line, column))
	}
	if c.Score != nil {
		add("score", jsonv.Float(*c.Score))
	}
	for _, m := range c.DerivedMetrics {
		add("metric "+jsonv.String(term.Escape(m.Name)).String(), jsonv.Float(m.Value))
	}
	if c.Flaky {
		add("flaky", jsonv.Bool(true))
	}
	if len(c.Warnings) > 0 {
		add("warnings", texts(c.Warnings))
	}
	var phases []string
	for i := range c.Phases {
		ph := &c.Phases[i]
		phases = append(phases, fmt.Sprintf("%s: %s %s (%s)", ph.Phase, ph.Status, ph.Name, duration(ph.DurationMS)))
	}
	if phases != nil {
		add("phases", texts(phases))
	}
	if len(facts) == 0 {
		return nil
	}
	add("duration_ms", jsonv.Float(c.DurationMS))
	if !failed {
		return facts
	}
	for _, a := range failing(c.Assertions) {
		lines := []string{label(&a) + ": " + agentReason(&a)}
		add("assert", texts(append(lines, a.Diff...)))
	}
	for i := range c.Phases {
		if ph := &c.Phases[i]; broke(ph.Status) {
			text("phase", ph.Phase+": "+ph.Name+": "+ph.Message)
		}
	}
	text("stderr", c.Stderr)
	text("repro", c.Repro)
	return numbered(facts)
}

// numbered makes repeated keys different: a YAML mapping has each key once.
func numbered(facts []fact) []fact {
	seen := map[string]int{}
	for i := range facts {
		name := facts[i].name
		if seen[name]++; seen[name] > 1 {
			facts[i].name = fmt.Sprintf("%s_%d", name, seen[name])
		}
	}
	for i := range facts { // "metric quality" as one key
		if name, ok := strings.CutPrefix(facts[i].name, `metric "`); ok {
			facts[i].name = `"metric ` + name
		}
	}
	return facts
}

func texts(lines []string) jsonv.Value {
	var vs []jsonv.Value
	for _, l := range lines {
		vs = append(vs, jsonv.String(oneLine(l, longest)))
	}
	return jsonv.Array(vs...)
}

func (t *tap) runLevel(e pseudoTest) {
	title := e.kind
	if e.name != e.kind {
		title += ": " + e.name
	}
	t.point(false, title, "")
	facts := []fact{{"message", jsonv.String(oneLine(e.message, longest))}, {"severity", jsonv.String(string(e.status))}}
	if e.file != "" {
		facts = append(facts, fact{"at", jsonv.String(place(e.file, e.line, 0))})
	}
	if e.server != "" {
		facts = append(facts, fact{"server", jsonv.String(term.Escape(e.server))})
	}
	t.yaml(append(facts, fact{"text", texts(strings.Split(e.text, "\n"))}))
}
