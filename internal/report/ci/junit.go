package ci

import (
	"fmt"
	"io"
	"strings"

	"mcptest/internal/report/explain"
	"mcptest/internal/report/render"
	"mcptest/internal/report/result"
)

// WriteJUnit writes JUnit XML as CI systems read it: a testsuite for each
// suite, with scores and metrics as its properties, and a last testsuite for
// run-level failures, so that the report fails whenever the run does.
func WriteJUnit(w io.Writer, r *result.Run, _ render.Options) error {
	all, err := explain.ListSections(r)
	if err != nil {
		return err
	}
	x := explain.NewExplainer(r, render.Options{})
	runLevel := explain.ListPseudoTests(r, x)
	j := &junit{junitWriter: junitWriter{render.NewOut(w)}, run: r, x: x}
	j.begin(j.makeHead(runLevel))
	err = explain.WalkSections(r, all, func(s *explain.Section, first bool, c *result.Case) error {
		if first {
			j.writeSuite(s)
		}
		j.writeCase(j.buildCase(s, c))
		return nil
	})
	if err != nil {
		return err
	}
	if j.begun {
		j.endSuite()
	}
	j.writeRunLevel(runLevel)
	j.end()
	return j.Flush()
}

// junit decides what of a run is in which element.
type junit struct {
	junitWriter
	run   *result.Run
	x     *explain.Explainer
	begun bool // a suite was begun, which has what belongs to the run
}

// makeHead describes the whole run.
func (j *junit) makeHead(runLevel []explain.PseudoTest) junitHead {
	s := j.run.Summary
	failed, errored, _ := tally(runLevel)
	return junitHead{
		Name:    j.run.Tool.Name,
		Tests:   s.Total + len(runLevel),
		Failed:  s.Failed + failed,
		Errored: s.Errored + s.Inconclusive + errored,
		Skipped: s.Skipped,
		MS:      j.run.DurationMS,
		Started: j.run.Started,
	}
}

// writeSuite ends the suite before and begins the next one.
func (j *junit) writeSuite(s *explain.Section) {
	if j.begun {
		j.endSuite()
	}
	properties := j.listSuiteProperties(s)
	j.begun = true
	j.beginSuite(junitHead{
		Name:    s.Title(),
		Tests:   s.Total,
		Failed:  s.Failed,
		Errored: s.Errored + s.Inconclusive,
		Skipped: s.Skipped,
		MS:      s.MS,
		Started: j.run.Started,
		File:    s.File,
	}, properties)
}

// listSuiteProperties are the facts of a suite that the format has no place for. The first
// suite has those of the run, too.
func (j *junit) listSuiteProperties(s *explain.Section) (all []junitProperty) {
	add := func(name, value string) { all = append(all, junitProperty{name, value}) }
	for _, v := range s.Scores {
		add("score:"+v.Name, render.Number(v.Value))
	}
	for _, m := range s.Metrics {
		add("metric:"+m.Name, render.Number(m.Value))
	}
	if !j.begun {
		for _, f := range j.run.Findings {
			if f.Kind == result.OfResult {
				add(f.Rule+":"+f.Tool, explain.FormatOnServer(f))
			}
		}
		for _, c := range explain.ListCoverages(j.run, false) {
			add("coverage:"+c.Server, c.Line)
		}
	}
	for i := range j.run.Phases {
		ph := &j.run.Phases[i]
		if ph.File == s.File {
			add(describePhase(ph))
		}
	}
	return numberPhases(all)
}

// describePhase returns the name and the value of the property for a hook or step.
func describePhase(ph *result.Phase) (name, value string) {
	return "phase:" + ph.Phase + ":" + ph.Name, string(ph.Status) + ", " + render.Duration(ph.DurationMS)
}

// numberPhases makes the names of hooks and steps different, because readers keep
// properties by name. Tags and warnings are lists.
func numberPhases(all []junitProperty) []junitProperty {
	seen := map[string]int{}
	for i := range all {
		p := &all[i]
		seen[p.Name]++
		if n := seen[p.Name]; n > 1 && strings.HasPrefix(p.Name, "phase:") {
			p.Name = fmt.Sprintf("%s #%d", p.Name, n)
		}
	}
	return all
}

// buildCase converts a test.
func (j *junit) buildCase(s *explain.Section, c *result.Case) junitCase {
	v := junitCase{
		Name:       c.Name,
		Class:      s.Title(),
		MS:         c.DurationMS,
		File:       c.File,
		Line:       c.Line,
		Properties: listCaseProperties(c),
	}
	switch c.Status {
	case result.Pass:
	case result.Skip:
		v.Outcome = &junitOutcome{Element: junitSkipped, Message: explain.Reason(c)}
	default:
		element, kind := findFailure(c)
		v.Outcome = &junitOutcome{Element: element, Message: explain.Reason(c), Type: kind, Text: j.x.TestCase(c)}
		v.Out, v.Err = formatExchanges(c), c.Stderr
	}
	return v
}

// findFailure returns the element for a test that failed, and its type.
func findFailure(c *result.Case) (element, kind string) {
	switch {
	case c.Status == result.Error:
		return junitError, "no-answer"
	case c.Status == result.Inconclusive:
		return junitError, "inconclusive"
	case len(explain.ListFailing(c.Assertions)) == 0 && len(c.Violations) > 0:
		return junitFailure, "protocol-violation"
	}
	return junitFailure, "assertion"
}

// listCaseProperties are the facts of a case that the format has no place for.
func listCaseProperties(c *result.Case) (all []junitProperty) {
	add := func(name, value string) { all = append(all, junitProperty{name, value}) }
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
		add("flaky", fmt.Sprintf("passed on attempt %d of %d", explain.CountPassedOn(c), len(c.Attempts)))
	}
	for i := range c.Phases {
		add(describePhase(&c.Phases[i]))
	}
	for _, w := range c.Warnings {
		add("warning", w)
	}
	return numberPhases(all)
}

// formatExchanges returns the frames of a case, one a line.
func formatExchanges(c *result.Case) string {
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

// writeRunLevel writes the run-level failures as a testsuite.
func (j *junit) writeRunLevel(all []explain.PseudoTest) {
	if len(all) == 0 {
		return
	}
	failed, errored, ms := tally(all)
	const name = "run-level failures"
	j.beginSuite(junitHead{
		Name:    name,
		Tests:   len(all),
		Failed:  failed,
		Errored: errored,
		MS:      ms,
		Started: j.run.Started,
	}, nil)
	for _, e := range all {
		outcome := &junitOutcome{Element: junitFailure, Message: e.Message, Type: e.Kind, Text: e.Text}
		if e.Status == result.Error {
			outcome.Element = junitError
		}
		j.writeCase(junitCase{Name: e.Title(), Class: name, MS: e.MS, File: e.File, Outcome: outcome})
	}
	j.endSuite()
}
