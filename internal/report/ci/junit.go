package ci

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"mcptest/internal/base/term"
	"mcptest/internal/report/explain"
	"mcptest/internal/report/render"
	"mcptest/internal/report/result"
)

// WriteJUnit writes JUnit XML as CI systems read it: a testsuite for each
// suite, with scores and metrics as its properties, and a last testsuite for
// run-level failures, so that the report fails whenever the run does.
func WriteJUnit(w io.Writer, r *result.Run, _ render.Options) error {
	all, err := explain.Sections(r)
	if err != nil {
		return err
	}
	x := explain.NewExplainer(r, render.Options{})
	runLevel := explain.PseudoTests(r, x)
	j := &junit{Out: render.NewOut(w), run: r, x: x}
	j.head(runLevel)
	err = explain.BySection(r, all, func(s *explain.Section, first bool, c *result.Case) error {
		if first {
			if j.begun {
				j.Put("  </testsuite>\n")
			}
			j.suite(s)
		}
		j.testCase(s, c)
		return nil
	})
	if err != nil {
		return err
	}
	if j.begun {
		j.Put("  </testsuite>\n")
	}
	j.runLevel(runLevel)
	j.Put("</testsuites>\n")
	return j.Flush()
}

type junit struct {
	render.Out
	run   *result.Run
	x     *explain.Explainer
	begun bool // a suite was written, which has what belongs to the run
}

// xmlEscaper escapes markup. Characters that XML 1.0 does not allow (control
// characters, lone surrogates, non-characters) were replaced by term's functions.
var xmlEscaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&apos;")

// attr is a text for an attribute: one line.
func attr(s string) string { return xmlEscaper.Replace(term.Escape(s)) }

// body is a text for an element: several lines.
func body(s string) string { return xmlEscaper.Replace(term.EscapeLines(s)) }

// took is the attribute with a duration, which is left out where none was measured.
func took(ms float64) string {
	if ms == 0 {
		return ""
	}
	return ` time="` + strconv.FormatFloat(ms/1000, 'f', 6, 64) + `"`
}

func (j *junit) head(runLevel []explain.PseudoTest) {
	s := j.run.Summary
	failed, errored, _ := tally(runLevel)
	failed += s.Failed
	errored += s.Errored + s.Inconclusive
	j.Put(`<?xml version="1.0" encoding="UTF-8"?>`, "\n")
	j.Put(`<testsuites name="`, attr(j.run.Tool.Name), `"`)
	j.Put(counts(s.Total+len(runLevel), failed, errored, s.Skipped))
	j.Put(took(j.run.DurationMS), timestamp(j.run.Started), ">\n")
}

func counts(total, failed, errored, skipped int) string {
	return fmt.Sprintf(` tests="%d" failures="%d" errors="%d" skipped="%d"`, total, failed, errored, skipped)
}

func timestamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return ` timestamp="` + t.UTC().Format("2006-01-02T15:04:05") + `"`
}

func (j *junit) suite(s *explain.Section) {
	j.Put(`  <testsuite name="`, attr(s.Title()), `"`)
	j.Put(counts(s.Total, s.Failed, s.Errored+s.Inconclusive, s.Skipped))
	j.Put(took(s.MS), timestamp(j.run.Started))
	if s.File != "" {
		j.Put(` file="`, attr(s.File), `"`)
	}
	j.Put(">\n")
	var props [][2]string
	for _, v := range s.Scores {
		props = append(props, [2]string{"score:" + v.Name, render.Number(v.Value)})
	}
	for _, m := range s.Metrics {
		props = append(props, [2]string{"metric:" + m.Name, render.Number(m.Value)})
	}
	if !j.begun {
		for _, f := range j.run.Findings {
			if f.Kind == result.OfResult {
				props = append(props, [2]string{f.Rule + ":" + f.Tool, explain.OnServer(f)})
			}
		}
		for _, c := range explain.Coverages(j.run, false) {
			props = append(props, [2]string{"coverage:" + c.Server, c.Line})
		}
	}
	j.begun = true
	for i := range j.run.Phases {
		if ph := &j.run.Phases[i]; ph.File == s.File {
			text := string(ph.Status) + ", " + render.Duration(ph.DurationMS)
			props = append(props, [2]string{"phase:" + ph.Phase + ":" + ph.Name, text})
		}
	}
	j.properties("    ", props)
}

func (j *junit) properties(indent string, props [][2]string) {
	if len(props) == 0 {
		return
	}
	j.Put(indent, "<properties>\n")
	seen := map[string]int{}
	for _, p := range props {
		// Readers keep properties by name. Tags and warnings are lists.
		seen[p[0]]++
		if seen[p[0]] > 1 && strings.HasPrefix(p[0], "phase:") {
			p[0] = fmt.Sprintf("%s #%d", p[0], seen[p[0]])
		}
		j.Put(indent, `  <property name="`, attr(p[0]), `" value="`, attr(p[1]), "\"/>\n")
	}
	j.Put(indent, "</properties>\n")
}

func (j *junit) testCase(s *explain.Section, c *result.Case) {
	j.Put(`    <testcase name="`, attr(c.Name), `" classname="`, attr(s.Title()), `"`, took(c.DurationMS))
	if c.File != "" {
		j.Put(` file="`, attr(c.File), `"`)
	}
	if c.Line > 0 {
		j.Put(` line="`, strconv.Itoa(c.Line), `"`)
	}
	props := caseProperties(c)
	if len(props) == 0 && c.Status == result.Pass {
		j.Put("/>\n")
		return
	}
	j.Put(">\n")
	j.properties("      ", props)
	j.outcome(c)
	j.Put("    </testcase>\n")
}

// caseProperties are the facts of a case that the format has no place for.
func caseProperties(c *result.Case) (props [][2]string) {
	add := func(name, value string) { props = append(props, [2]string{name, value}) }
	if c.Score != nil {
		add("score", render.Number(*c.Score))
	}
	if c.Threshold != nil {
		add("threshold", render.Number(*c.Threshold))
	}
	for _, m := range c.DerivedMetrics {
		add("metric:"+m.Name, render.Number(m.Value))
	}
	if c.Description != "" {
		add("description", c.Description)
	}
	for _, t := range c.Tags {
		add("tag", t)
	}
	if c.Flaky {
		add("flaky", fmt.Sprintf("passed on attempt %d of %d", explain.PassedOn(c), len(c.Attempts)))
	}
	for i := range c.Phases {
		ph := &c.Phases[i]
		add("phase:"+ph.Phase+":"+ph.Name, string(ph.Status)+", "+render.Duration(ph.DurationMS))
	}
	for _, w := range c.Warnings {
		add("warning", w)
	}
	return props
}

func (j *junit) outcome(c *result.Case) {
	switch c.Status {
	case result.Pass:
		return
	case result.Skip:
		j.Put(`      <skipped message="`, attr(explain.Reason(c)), "\"/>\n")
		return
	}
	word, kind := "failure", "assertion"
	switch {
	case c.Status == result.Error:
		word, kind = "error", "no-answer"
	case c.Status == result.Inconclusive:
		word, kind = "error", "inconclusive"
	case len(explain.Failing(c.Assertions)) == 0 && len(c.Violations) > 0:
		kind = "protocol-violation"
	}
	j.Put("      <", word, ` message="`, attr(explain.Reason(c)), `" type="`, kind, `">`)
	j.Put(body(j.x.TestCase(c)), "</", word, ">\n")
	if text := exchangeText(c); text != "" {
		j.Put("      <system-out>", body(text), "</system-out>\n")
	}
	if c.Stderr != "" {
		j.Put("      <system-err>", body(c.Stderr), "</system-err>\n")
	}
}

// exchangeText is the frames of a case, one a line.
func exchangeText(c *result.Case) string {
	var b strings.Builder
	for i := range c.Exchanges {
		b.WriteString(explain.ExchangeLines(&c.Exchanges[i]))
	}
	return b.String()
}

// tally counts run-level failures by their status and adds their durations.
func tally(all []explain.PseudoTest) (failed, errored int, ms float64) {
	for _, e := range all {
		ms += e.MS
		if e.Status == result.Error {
			errored++
		} else {
			failed++
		}
	}
	return failed, errored, ms
}

// runLevel writes the run-level failures as a testsuite.
func (j *junit) runLevel(all []explain.PseudoTest) {
	if len(all) == 0 {
		return
	}
	failed, errored, ms := tally(all)
	const name = "run-level failures"
	j.Put(`  <testsuite name="`, name, `"`, counts(len(all), failed, errored, 0))
	j.Put(took(ms), timestamp(j.run.Started), ">\n")
	for _, e := range all {
		word := "failure"
		if e.Status == result.Error {
			word = "error"
		}
		j.Put(`    <testcase name="`, attr(e.Title()), `" classname="`, name, `"`, took(e.MS))
		if e.File != "" {
			j.Put(` file="`, attr(e.File), `"`)
		}
		j.Put(">\n      <", word, ` message="`, attr(e.Message), `" type="`, attr(e.Kind), `">`)
		j.Put(body(e.Text), "</", word, ">\n    </testcase>\n")
	}
	j.Put("  </testsuite>\n")
}
