package pretty

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/term"
	"mcptest/internal/report/explain"
	"mcptest/internal/report/render"
	"mcptest/internal/report/result"
)

// Limits of the agent format: enough to fix a cause in few tokens.
const (
	agentFailures = 25
	agentAsserts  = 5
	agentDiff     = 8
	agentText     = 200
	agentStderr   = 4
	agentSame     = 3
)

// WriteAgent writes the report for a program that reads text: the verdict in the
// first line, then the failures as "key: value" lines. A cause that many tests share
// is explained once.
func WriteAgent(w io.Writer, r *result.Run, o render.Options) error {
	p := render.NewPrinter(w, r, render.Options{Verbose: o.Verbose})
	p.Line(0, formatAgentVerdict(r))
	writeAgentPhases(p, r)
	if err := writeAgentTests(p, r); err != nil {
		return err
	}
	for _, f := range explain.FoldFindings(r.Findings) {
		if f.Severity == "error" {
			p.Line(0, "FINDING ", render.Colon(term.Escape(f.Kind)), " ", render.OneLine(f.Message, agentText))
			writeAgentFact(p, "at", render.Place(f.File, f.Line, 0))
			writeAgentFact(p, "server", term.Escape(f.Server))
			writeAgentFact(p, "excerpt", render.OneLine(f.Excerpt, agentText))
		}
	}
	if err := explain.VisitWarnings(p, r, func(w *explain.Warning) {
		p.Line(0, "WARN ", render.OneLine(w.MessageLine(), 2*agentText))
		writeAgentFact(p, "at", render.Place(w.File, w.Line, 0))
	}); err != nil {
		return err
	}
	for _, line := range explain.Results(r) {
		p.Line(0, "RESULT ", render.OneLine(line, 2*agentText))
	}
	for _, c := range explain.ListCoverages(r, o.Verbose) {
		p.Line(0, "COVERAGE ", c.Server, " ", c.Line)
		for _, line := range c.Missing {
			p.Line(1, line)
		}
		for line := range strings.Lines(c.Skeleton) {
			p.Line(2, strings.TrimRight(line, "\n"))
		}
	}
	for _, n := range r.Notes {
		p.Line(0, "NOTE ", render.OneLine(n, agentText))
	}
	return p.Flush()
}

// writeAgentPhases writes the hooks and steps that failed.
func writeAgentPhases(p *render.Printer, r *result.Run) {
	for i := range r.Phases {
		if ph := &r.Phases[i]; explain.Failed(ph.Status) {
			_, word := explain.NamePhase(ph)
			p.Line(0, word, " ", term.Escape(ph.Phase), " ", term.Escape(ph.Name))
			writeAgentFact(p, "at", render.Place(ph.File, ph.Line, 0))
			writeAgentFact(p, "cause", render.OneLine(ph.Message, agentText))
			writeLastLines(p, "output", ph.Output)
		}
	}
}

// writeAgentTests writes the tests that did not pass; a shared cause is written once.
func writeAgentTests(p *render.Printer, r *result.Run) error {
	all := explain.Causes{Verbose: p.Verbose}
	var shared []*explain.Cause
	explained := map[*explain.Cause]bool{}
	shown, more := 0, 0
	for c, err := range r.Cases.NotPassed() {
		if err != nil {
			return err
		}
		why, first := all.Find(c)
		head := strings.ToUpper(string(c.Status)) + " " + term.Escape(c.Name)
		switch {
		case !first && explained[why]:
			if why.Others <= agentSame {
				writeSameCause(p, head, c, why)
			}
			continue
		case shown == agentFailures && !p.Verbose:
			more++
			continue
		case why != nil && !explained[why]:
			explained[why] = true
			shared = append(shared, why)
		}
		shown++
		p.Line(0, head)
		writeAgentCase(p, c)
	}
	for _, s := range shared {
		if n := s.Others - agentSame; n > 0 {
			p.Line(0, fmt.Sprintf("MORE %d with the cause of %s", n, term.Escape(s.Last)))
		}
	}
	if more > 0 {
		p.Line(0, fmt.Sprintf("MORE %d failures not shown; -v shows all", more))
	}
	return writeAgentSkipped(p, r)
}

// writeAgentSkipped writes why tests were skipped: each reason once, with the first test.
func writeAgentSkipped(p *render.Printer, r *result.Run) error {
	count := map[string]int{}
	var lines, reasons []string
	for c, err := range r.Cases.Select(result.Skip) {
		if err != nil {
			return err
		}
		reason := explain.Reason(c)
		count[reason]++
		if count[reason] == 1 {
			lines, reasons = append(lines, term.Escape(c.Name)+": "+render.OneLine(reason, agentText)), append(reasons, reason)
		}
	}
	for i, line := range lines {
		if i == agentFailures && !p.Verbose {
			p.Line(0, fmt.Sprintf("MORE %d reasons of skipped tests not shown", len(lines)-i))
			break
		}
		if n := count[reasons[i]] - 1; n > 0 {
			line += fmt.Sprintf(" (and %d more)", n)
		}
		p.Line(0, "SKIP ", line)
	}
	return nil
}

// writeSameCause writes a failure whose cause was explained, with the differences of a
// row.
func writeSameCause(p *render.Printer, head string, c *result.Case, why *explain.Cause) {
	text := head + " (cause as for " + term.Escape(why.Last) + ")"
	if c.Row != nil || why.Rows && !slices.Contains(why.Messages, c.Message) {
		text += ": " + render.OneLine(explain.Reason(c), 2*agentText)
	}
	p.Line(0, text)
}

func formatAgentVerdict(r *result.Run) string {
	s := r.Summary
	word := "fail"
	if r.ExitCode == 0 {
		word = "pass"
	}
	parts := explain.ListNotPassed(term.Palette{}, s)
	add := func(n int, text string) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, text))
		}
	}
	add(s.Flaky, "flaky")
	add(explain.CountFailedPhases(r), explain.NameHooksOrSteps(explain.CountFailedPhases(r))+" failed")
	add(explain.CountErrorFindings(r), display.Plural(explain.CountErrorFindings(r), "finding"))
	if r.Interrupted != "" {
		parts = append(parts, "interrupted by "+term.Escape(r.Interrupted))
	}
	text := fmt.Sprintf("VERDICT %s %d/%d passed", word, s.Passed, s.Total)
	if len(parts) > 0 {
		text += " (" + strings.Join(parts, ", ") + ")"
	}
	return text
}

// writeAgentFact writes one `key: text` line, or nothing for an empty text.
func writeAgentFact(p *render.Printer, key, text string) {
	if text != "" {
		p.Line(2, key, ": ", text)
	}
}

func writeAgentCase(p *render.Printer, c *result.Case) {
	failed := explain.ListFailing(c.Assertions)
	line := c.Line
	if len(failed) > 0 && failed[0].Line > 0 && failed[0].File == "" {
		line = failed[0].Line
	}
	writeAgentFact(p, "at", render.Place(c.File, line, 0))
	writeAgentFact(p, "row", render.OneLine(explain.Row(c), 2*agentText))
	text := explain.ChooseHeadline(c, failed)
	if !explain.Alone(c, failed) && !strings.HasSuffix(text, " failed") {
		writeAgentFact(p, "cause", render.OneLine(text, agentText))
	}
	writeAgentAssertions(p, failed, new(agentAsserts))
	if c.Score != nil && c.Threshold != nil {
		writeAgentFact(p, "score", render.Number(*c.Score)+", needs "+render.Number(*c.Threshold))
	}
	for _, m := range c.DerivedMetrics {
		if m.Passed == nil || *m.Passed || m.Threshold == nil {
			continue
		}
		needs := render.Number(*m.Threshold)
		writeAgentFact(p, "metric", fmt.Sprintf("%s %s, needs %s", term.Escape(m.Name), render.Number(m.Value), needs))
	}
	_, call := explain.FindLastCall(c)
	writeAgentFact(p, "call", render.OneLine(call, 2*agentText))
	if text, kind := explain.FindUnseenResponse(p, c, failed); text != "" {
		writeAgentFact(p, "response", kind+render.OneLine(text, agentText))
	}
	for _, v := range c.Violations {
		if !v.Tolerated {
			writeAgentFact(p, "violation", term.Escape(v.Kind)+": "+render.OneLine(v.Message, agentText))
			writeAgentFact(p, "excerpt", render.OneLine(v.Excerpt, agentText))
		}
	}
	for i := range c.Phases {
		if ph := &c.Phases[i]; ph.Status == result.Fail || ph.Status == result.Error {
			writeAgentFact(p, "phase", term.Escape(ph.Phase)+" "+term.Escape(ph.Name)+": "+render.OneLine(ph.Message, agentText))
			writeLastLines(p, "output", ph.Output)
		}
	}
	writeLastLines(p, "stderr", explain.WriteServerStderr(p, c))
	writeAgentFact(p, "diagnosis", explain.Diagnosis(c))
	writeAgentFact(p, "repro", explain.Repro(c))
}

func writeAgentAssertions(p *render.Printer, failed []result.Assertion, left *int) {
	for i := range failed {
		a := &failed[i]
		if a.Set && len(a.Assertions) > 0 {
			writeAgentFact(p, "set", explain.Label(a)+explain.AddWeight(p, a))
			writeAgentAssertions(p, explain.ListFailing(a.Assertions), left)
			continue
		}
		if *left == 0 {
			writeAgentFact(p, "assert", fmt.Sprintf("… %d more", len(failed)-i))
			return
		}
		*left--
		writeAgentFact(p, "assert", explain.Label(a)+": "+explain.FormatAssertionReason(a))
		n := 0
		for _, l := range a.Diff {
			if !strings.HasPrefix(l, "-") && !strings.HasPrefix(l, "+") {
				continue
			}
			n++
			if n > agentDiff {
				p.Line(4, "…")
				break
			}
			p.Line(4, render.OneLine(l, agentText))
		}
		for _, note := range a.Notes {
			writeAgentFact(p, "note", render.OneLine(note, agentText))
		}
	}
}

// writeLastLines writes the end of a text, one fact per line.
func writeLastLines(p *render.Printer, key, text string) {
	text = strings.TrimRight(text, "\r\n ")
	if text == "" {
		return
	}
	lines := strings.Split(text, "\n")
	for _, l := range lines[max(0, len(lines)-agentStderr):] {
		writeAgentFact(p, key, render.OneLine(l, agentText))
	}
}
