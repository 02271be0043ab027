package report

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"mcptest/internal/result"
	"mcptest/internal/term"
)

// writeJUnit writes JUnit XML as CI systems read it: a testsuite for each
// suite, with scores and metrics as its properties, and a last testsuite for
// run-level failures, so that the report fails whenever the run does.
func writeJUnit(w io.Writer, r *result.Run, _ Options) error {
	all, err := sections(r)
	if err != nil {
		return err
	}
	x := newExplainer(r, Options{})
	runLevel := pseudoTests(r, x)
	bw := bufio.NewWriter(w)
	j := &junit{out: out{w: bw}, run: r, x: x}
	j.head(runLevel)
	open := false
	err = bySection(r, all, func(s *section, first bool, c *result.Case) error {
		if first {
			if open {
				j.put("  </testsuite>\n")
			}
			open = true
			j.suite(s)
		}
		j.testCase(s, c)
		return j.err
	})
	if err != nil {
		return err
	}
	if open {
		j.put("  </testsuite>\n")
	}
	j.runLevel(runLevel)
	j.put("</testsuites>\n")
	if j.err != nil {
		return j.err
	}
	return bw.Flush()
}

type junit struct {
	out
	run *result.Run
	x   *explainer
}

// xmlEscaper escapes markup. Characters that XML 1.0 does not allow (control
// characters, lone surrogates, non-characters) were replaced by term's functions.
var xmlEscaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&apos;")

// attr is a text for an attribute: one line.
func attr(s string) string { return xmlEscaper.Replace(term.Escape(s)) }

// body is a text for an element: several lines.
func body(s string) string { return xmlEscaper.Replace(term.EscapeLines(s)) }

func seconds(ms float64) string { return strconv.FormatFloat(ms/1000, 'f', 6, 64) }

func (j *junit) head(runLevel []pseudoTest) {
	s := j.run.Summary
	failed, errored := s.Failed, s.Errored
	for _, e := range runLevel {
		if e.status == result.Error {
			errored++
		} else {
			failed++
		}
	}
	j.put(`<?xml version="1.0" encoding="UTF-8"?>`, "\n", `<testsuites name="`, attr(j.run.Tool.Name), `"`,
		counts(s.Total+len(runLevel), failed, errored, s.Skipped), ` time="`, seconds(j.run.DurationMS), `"`, timestamp(j.run.Started), ">\n")
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

func (j *junit) suite(s *section) {
	j.put(`  <testsuite name="`, attr(s.title()), `"`, counts(s.total, s.failed, s.errored, s.skipped),
		` time="`, seconds(s.ms), `"`, timestamp(j.run.Started))
	if s.file != "" {
		j.put(` file="`, attr(s.file), `"`)
	}
	j.put(">\n")
	var props [][2]string
	for _, v := range s.scores {
		props = append(props, [2]string{"score:" + v.name, number(v.value)})
	}
	for _, m := range s.metrics {
		props = append(props, [2]string{"metric:" + m.name, number(m.value)})
	}
	for i := range j.run.Phases {
		if ph := &j.run.Phases[i]; ph.File == s.file {
			props = append(props, [2]string{"phase:" + ph.Phase + ":" + ph.Name, string(ph.Status) + ", " + duration(ph.DurationMS)})
		}
	}
	j.properties("    ", props)
}

func (j *junit) properties(indent string, props [][2]string) {
	if len(props) == 0 {
		return
	}
	j.put(indent, "<properties>\n")
	seen := map[string]int{}
	for _, p := range props {
		// Readers keep properties by name. Tags and warnings are lists.
		if seen[p[0]]++; seen[p[0]] > 1 && strings.HasPrefix(p[0], "phase:") {
			p[0] = fmt.Sprintf("%s #%d", p[0], seen[p[0]])
		}
		j.put(indent, `  <property name="`, attr(p[0]), `" value="`, attr(p[1]), "\"/>\n")
	}
	j.put(indent, "</properties>\n")
}

func (j *junit) testCase(s *section, c *result.Case) {
	j.put(`    <testcase name="`, attr(c.Name), `" classname="`, attr(s.title()), `" time="`, seconds(c.DurationMS), `"`)
	if c.File != "" {
		j.put(` file="`, attr(c.File), `"`)
	}
	if c.Line > 0 {
		j.put(` line="`, strconv.Itoa(c.Line), `"`)
	}
	props := caseProperties(c)
	if len(props) == 0 && c.Status == result.Pass {
		j.put("/>\n")
		return
	}
	j.put(">\n")
	j.properties("      ", props)
	j.outcome(c)
	j.put("    </testcase>\n")
}

// caseProperties are the facts of a case that the format has no place for.
func caseProperties(c *result.Case) (props [][2]string) {
	add := func(name, value string) { props = append(props, [2]string{name, value}) }
	if c.Score != nil {
		add("score", number(*c.Score))
	}
	if c.Threshold != nil {
		add("threshold", number(*c.Threshold))
	}
	for _, m := range c.DerivedMetrics {
		add("metric:"+m.Name, number(m.Value))
	}
	if c.Description != "" {
		add("description", c.Description)
	}
	for _, t := range c.Tags {
		add("tag", t)
	}
	if c.Flaky {
		add("flaky", fmt.Sprintf("passed on try %d of %d", passedOn(c), len(c.Attempts)))
	}
	for i := range c.Phases {
		ph := &c.Phases[i]
		add("phase:"+ph.Phase+":"+ph.Name, string(ph.Status)+", "+duration(ph.DurationMS))
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
		j.put(`      <skipped message="`, attr(failureReason(c)), "\"/>\n")
		return
	}
	word, kind := "failure", "assertion"
	switch {
	case c.Status == result.Error:
		word, kind = "error", "no-answer"
	case len(failing(c.Assertions)) == 0 && len(c.Violations) > 0:
		kind = "protocol-violation"
	}
	j.put("      <", word, ` message="`, attr(failureReason(c)), `" type="`, kind, `">`, body(j.x.testCase(c)), "</", word, ">\n")
	if text := exchangeText(c); text != "" {
		j.put("      <system-out>", body(text), "</system-out>\n")
	}
	if c.Stderr != "" {
		j.put("      <system-err>", body(c.Stderr), "</system-err>\n")
	}
}

// exchangeText is the frames of a case, one a line.
func exchangeText(c *result.Case) string {
	var b strings.Builder
	for i := range c.Exchanges {
		b.WriteString(exchangeLines(&c.Exchanges[i]))
	}
	return b.String()
}

func exchangeLines(x *result.Exchange) string {
	var b strings.Builder
	line := func(arrow, raw string) {
		if raw != "" {
			b.WriteString(arrow + " " + raw + "\n")
		}
	}
	line("→", x.Request)
	for _, m := range x.During {
		if m.Dir == "to-server" {
			line("→", m.Raw)
		} else {
			line("←", m.Raw)
		}
	}
	line("←", x.Response)
	line("✗", x.Error)
	return b.String()
}

// runLevel writes the run-level failures as a testsuite.
func (j *junit) runLevel(all []pseudoTest) {
	if len(all) == 0 {
		return
	}
	failed, errored, ms := 0, 0, 0.0
	for _, e := range all {
		ms += e.ms
		if e.status == result.Error {
			errored++
		} else {
			failed++
		}
	}
	const name = "run-level failures"
	j.put(`  <testsuite name="`, name, `"`, counts(len(all), failed, errored, 0), ` time="`, seconds(ms), `"`, timestamp(j.run.Started), ">\n")
	for _, e := range all {
		word := "failure"
		if e.status == result.Error {
			word = "error"
		}
		title := e.kind
		if e.name != e.kind {
			title += ": " + e.name
		}
		j.put(`    <testcase name="`, attr(title), `" classname="`, name, `" time="`, seconds(e.ms), `"`)
		if e.file != "" {
			j.put(` file="`, attr(e.file), `"`)
		}
		j.put(">\n      <", word, ` message="`, attr(e.message), `" type="`, attr(e.kind), `">`, body(e.text), "</", word, ">\n    </testcase>\n")
	}
	j.put("  </testsuite>\n")
}
