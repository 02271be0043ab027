package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"mcptest/internal/display"
	"mcptest/internal/result"
	"mcptest/internal/term"
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

// writeAgent writes the report for a program that reads text: the verdict in
// the first line, then the failures as "key: value" lines. A cause that
// many tests share is explained once.
func writeAgent(w io.Writer, r *result.Run, o Options) error {
	p := newPrinter(w, r, Options{Verbose: o.Verbose})
	p.line(0, agentVerdict(r))
	agentPhases(p, r)
	if err := agentTests(p, r); err != nil {
		return err
	}
	for _, f := range folded(r.Findings) {
		if f.Severity == "error" {
			p.line(0, "FINDING ", colon(term.Escape(f.Kind)), " ", oneLine(f.Message, agentText))
			agentFact(p, "at", place(f.File, f.Line, 0))
			agentFact(p, "server", term.Escape(f.Server))
			agentFact(p, "excerpt", oneLine(f.Excerpt, agentText))
		}
	}
	if err := eachWarning(p, r, func(w *warned) {
		p.line(0, "WARN ", oneLine(w.messageLine(), 2*agentText))
		agentFact(p, "at", place(w.file, w.line, 0))
	}); err != nil {
		return err
	}
	for _, n := range r.Notes {
		p.line(0, "NOTE ", oneLine(n, agentText))
	}
	return p.flush()
}

// agentPhases writes the hooks and steps that failed.
func agentPhases(p *printer, r *result.Run) {
	for i := range r.Phases {
		if ph := &r.Phases[i]; broke(ph.Status) {
			_, word := phaseWord(ph)
			p.line(0, word, " ", term.Escape(ph.Phase), " ", term.Escape(ph.Name))
			agentFact(p, "at", place(ph.File, ph.Line, 0))
			agentFact(p, "cause", oneLine(ph.Message, agentText))
			lastLines(p, "output", ph.Output)
		}
	}
}

// agentTests writes the tests that did not pass; a shared cause is written once.
func agentTests(p *printer, r *result.Run) error {
	all := causes{verbose: p.Verbose}
	var shared []*cause
	explained := map[*cause]bool{}
	shown, more := 0, 0
	for c, err := range result.Select(r.Cases, result.Fail, result.Error) {
		if err != nil {
			return err
		}
		why, explain := all.of(c)
		head := strings.ToUpper(string(c.Status)) + " " + term.Escape(c.Name)
		switch {
		case !explain && explained[why]:
			if why.others <= agentSame {
				sameCause(p, head, c, why)
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
		p.line(0, head)
		agentCase(p, c)
	}
	for _, s := range shared {
		if n := s.others - agentSame; n > 0 {
			p.line(0, fmt.Sprintf("MORE %d with the cause of %s", n, term.Escape(s.last)))
		}
	}
	if more > 0 {
		p.line(0, fmt.Sprintf("MORE %d failures not shown", more))
	}
	return p.err
}

// sameCause names a failure whose cause was explained, with what differs in a row.
func sameCause(p *printer, head string, c *result.Case, why *cause) {
	text := head + " (cause as for " + term.Escape(why.last) + ")"
	if why.rows && !slices.Contains(why.messages, c.Message) {
		text += ": " + oneLine(failureReason(c), agentText)
	}
	p.line(0, text)
}

func agentVerdict(r *result.Run) string {
	s := r.Summary
	word := "fail"
	if r.ExitCode == 0 {
		word = "pass"
	}
	var parts []string
	add := func(n int, text string) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, text))
		}
	}
	add(s.Failed, "failed")
	add(s.Errored, display.Plural(s.Errored, "error"))
	add(s.Skipped, "skipped")
	add(s.Flaky, "flaky")
	add(failedPhases(r), hooksOrSteps(failedPhases(r))+" failed")
	add(errorFindings(r), display.Plural(errorFindings(r), "finding"))
	if r.Interrupted != "" {
		parts = append(parts, "interrupted by "+term.Escape(r.Interrupted))
	}
	text := fmt.Sprintf("VERDICT %s %d/%d passed", word, s.Passed, s.Total)
	if len(parts) > 0 {
		text += " (" + strings.Join(parts, ", ") + ")"
	}
	return text
}

// fact writes one `key: text` line, nothing for an empty text.
func agentFact(p *printer, key, text string) {
	if text != "" {
		p.line(2, key, ": ", text)
	}
}

func agentCase(p *printer, c *result.Case) {
	failed := failing(c.Assertions)
	line := c.Line
	if len(failed) > 0 && failed[0].Line > 0 && failed[0].File == "" {
		line = failed[0].Line
	}
	agentFact(p, "at", place(c.File, line, 0))
	if text := headline(c, failed); !alone(c, failed) && !strings.HasSuffix(text, " failed") {
		agentFact(p, "cause", oneLine(text, agentText))
	}
	left := agentAsserts
	agentAssertions(p, failed, &left)
	if c.Score != nil && c.Threshold != nil {
		agentFact(p, "score", number(*c.Score)+", needs "+number(*c.Threshold))
	}
	for _, m := range c.DerivedMetrics {
		if m.Passed != nil && !*m.Passed && m.Threshold != nil {
			agentFact(p, "metric", fmt.Sprintf("%s %s, needs %s", term.Escape(m.Name), number(m.Value), number(*m.Threshold)))
		}
	}
	if text, kind := unseenResponse(p, c, failed); text != "" {
		agentFact(p, "response", kind+oneLine(text, agentText))
	}
	for _, v := range c.Violations {
		if !v.Tolerated {
			agentFact(p, "violation", term.Escape(v.Kind)+": "+oneLine(v.Message, agentText))
			agentFact(p, "excerpt", oneLine(v.Excerpt, agentText))
		}
	}
	for i := range c.Phases {
		if ph := &c.Phases[i]; ph.Status == result.Fail || ph.Status == result.Error {
			agentFact(p, "phase", term.Escape(ph.Phase)+" "+term.Escape(ph.Name)+": "+oneLine(ph.Message, agentText))
			lastLines(p, "output", ph.Output)
		}
	}
	lastLines(p, "stderr", serverStderr(p, c))
	agentFact(p, "repro", repro(c))
}

func agentAssertions(p *printer, failed []result.Assertion, left *int) {
	for i := range failed {
		a := &failed[i]
		if a.Set && len(a.Assertions) > 0 {
			agentFact(p, "set", label(a)+weighed(p, a))
			agentAssertions(p, failing(a.Assertions), left)
			continue
		}
		if *left == 0 {
			agentFact(p, "assert", fmt.Sprintf("… %d more", len(failed)-i))
			return
		}
		*left--
		agentFact(p, "assert", label(a)+": "+agentReason(a))
		if len(a.Diff) == 0 {
			continue
		}
		n := 0
		for _, l := range a.Diff {
			if !strings.HasPrefix(l, "-") && !strings.HasPrefix(l, "+") {
				continue
			}
			if n++; n > agentDiff {
				p.line(4, "…")
				break
			}
			p.line(4, oneLine(l, agentText))
		}
	}
}

// agentReason is the message of an assertion, or else its expected and actual
// values.
func agentReason(a *result.Assertion) string {
	message, values := wording(a)
	if message != "" && !values {
		return oneLine(message, agentText)
	}
	if messageHasValues(a) || message == "" {
		message = ""
	} else {
		message = oneLine(message, agentText) + "; "
	}
	return message + "expected " + oneLine(a.Expected, agentText) + ", got " + oneLine(a.Actual, agentText)
}

// lastLines writes the end of a text, one fact a line.
func lastLines(p *printer, key, text string) {
	text = strings.TrimRight(text, "\r\n ")
	if text == "" {
		return
	}
	lines := strings.Split(text, "\n")
	for _, l := range lines[max(0, len(lines)-agentStderr):] {
		agentFact(p, key, oneLine(l, agentText))
	}
}
