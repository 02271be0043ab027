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

// writePretty writes the report for people: the list of tests (unless a Live
// has shown it), then what went wrong, then the summary in the last line.
func writePretty(w io.Writer, r *result.Run, o Options) error {
	p := newPrinter(w, r, o)
	if !o.Listed {
		banner(p, r)
		if err := list(p, r); err != nil {
			return err
		}
	}
	listFailedPhases(p, r)
	if err := listFailures(p, r); err != nil {
		return err
	}
	listFindings(p, r)
	listServers(p, r)
	listRollups(p, r)
	for _, n := range r.Notes {
		p.blank()
		p.line(0, p.paint(term.Warn, "note: "), oneLine(n, longest))
	}
	p.blank()
	for _, sp := range o.Written {
		p.line(0, p.faint("wrote the "+sp.Format.Name+" report to "), term.Escape(sp.Path))
	}
	p.line(0, summary(p, r))
	return p.flush()
}

func banner(p *printer, r *result.Run) {
	parts := []string{strings.TrimSpace(term.Escape(r.Tool.Name) + " " + term.Escape(r.Tool.Version))}
	if n := len(r.Suites); n > 1 {
		parts = append(parts, display.Count(n, "suite"))
	}
	parts = append(parts, display.Count(r.Summary.Total, "test"))
	if r.Parallel > 1 {
		parts = append(parts, fmt.Sprintf("%d calls in flight per server", r.Parallel))
	}
	p.line(0, p.faint(strings.Join(parts, " · ")))
}

// failedPhases comes first: a failed setup is the cause of the failures below.
func listFailedPhases(p *printer, r *result.Run) {
	first := true
	for i := range r.Phases {
		ph := &r.Phases[i]
		if ph.Status != result.Fail && ph.Status != result.Error {
			continue
		}
		if first {
			p.heading("Setup, hooks and teardown")
			first = false
		}
		p.blank()
		explainPhase(p, 0, ph)
	}
}

// Many failures are explained in groups and up to a limit, so that the summary of
// a run in which everything broke can be found.
const (
	mostFailures = 100
	mostNames    = 10
)

// group is a failure with those that have the same cause.
type group struct {
	first  *result.Case
	others []*result.Case // the first few
	more   int            // others beyond these
	rows   bool           // they are rows of one test
}

// failures explains the cases that did not pass. Those that have a cause in
// common are grouped.
func listFailures(p *printer, r *result.Run) error {
	var groups []*group
	known, all := map[*cause]*group{}, causes{verbose: p.Verbose}
	dropped := 0
	for c, err := range result.Select(r.Cases, result.Fail, result.Error) {
		if err != nil {
			return err
		}
		why, explain := all.of(c)
		if g := known[why]; !explain && g != nil {
			if len(g.others) < mostNames {
				g.others = append(g.others, c)
			} else {
				g.more++
			}
			continue
		}
		if len(groups) == mostFailures && !p.Verbose {
			dropped++
			continue
		}
		g := &group{first: c}
		groups = append(groups, g)
		if why != nil {
			g.rows = why.rows
			known[why] = g
		}
	}
	if len(groups) == 0 {
		return nil
	}
	p.heading("Failures")
	for i, g := range groups {
		failure(p, i+1, g.first)
		sameWay(p, g)
	}
	if dropped > 0 {
		p.blank()
		p.line(0, p.paint(term.Warn, fmt.Sprintf("… and %s, not shown here: see the list of tests, or ask for verbose output", display.Count(dropped, "more failure"))))
	}
	return p.err
}

// sameWay lists the failures of a group that are not explained, with what
// differs in rows.
func sameWay(p *printer, g *group) {
	if len(g.others) == 0 {
		return
	}
	if g.rows {
		p.line(3, p.faint("and in the same way:"))
	} else {
		p.line(3, p.faint("and for the same reason:"))
	}
	for _, c := range g.others {
		text := term.Escape(c.Name)
		if g.rows && c.Message != g.first.Message {
			text += "  " + p.faint(oneLine(failureReason(c), longest))
		}
		p.line(5, p.glyph(c.Status), " ", text)
	}
	if g.more > 0 {
		p.line(5, p.faint(fmt.Sprintf("… and %d more", g.more)))
	}
}

// findings lists the findings, which belong to no test.
func listFindings(p *printer, r *result.Run) {
	var last result.Finding // without its excerpt
	for _, f := range folded(r.Findings) {
		if ofPhase(f) {
			continue // reported with its hook or step
		}
		excerpt := f.Excerpt
		if f.Excerpt = ""; f == last && excerpt != "" {
			p.line(4, p.faint("│ "), oneLine(excerpt, excerptMax))
			continue
		}
		if last == (result.Finding{}) {
			p.heading("Findings outside the tests")
		}
		last = f
		st, mark := term.Bad, "✗ "
		switch f.Severity {
		case "warning":
			st, mark = term.Warn, "! "
		case "info":
			st, mark = term.Faint, "- "
		}
		p.line(2, p.paint(st, mark+term.Escape(f.Kind)), "  ", oneLine(onServer(f), longest))
		if f.File != "" {
			p.line(4, p.paint(term.Accent, place(f.File, f.Line, 0)))
		}
		if excerpt != "" {
			p.line(4, p.faint("│ "), oneLine(excerpt, excerptMax))
		}
	}
}

// servers lists the servers if verbose; otherwise those whose certificate was not
// verified or whose stderr is not shown with a test.
func listServers(p *printer, r *result.Run) {
	first := true
	for i := range r.Servers {
		s := &r.Servers[i]
		if !p.Verbose && !s.Insecure && (s.Stderr == "" || p.stderrShown[s]) {
			continue
		}
		if first {
			p.heading("Servers")
			first = false
		}
		server(p, s)
	}
}

func server(p *printer, s *result.Server) {
	parts := []string{term.Escape(s.Transport)}
	add := func(text string) {
		if text != "" {
			parts = append(parts, text)
		}
	}
	if s.ServerInfo != nil {
		add(strings.TrimSpace(term.Escape(s.ServerInfo.Name) + " " + term.Escape(s.ServerInfo.Version)))
	}
	add(term.Escape(s.Protocol))
	if s.StartMS > 0 {
		add("started in " + duration(s.StartMS))
	}
	if s.Starts > 1 {
		add(fmt.Sprintf("%d starts", s.Starts))
	}
	add(term.Escape(s.Exit))
	p.line(2, p.paint(term.Strong, term.Escape(s.Name)), "  ", oneLine(s.Target, longest), p.faint("  "+strings.Join(parts, " · ")))
	if s.Insecure {
		p.line(4, p.paint(term.Warn, "its TLS certificate was not verified (insecure: true)"))
	}
	if len(s.Tolerated) > 0 {
		p.line(4, p.faint("tolerated: "+term.Escape(strings.Join(s.Tolerated, ", "))))
	}
	if s.Stderr != "" && !p.stderrShown[s] {
		p.line(4, p.faint("stderr"))
		p.block(4, s.Stderr, stderrLines, true)
	}
}

// rollups writes the table of metrics over the run.
func listRollups(p *printer, r *result.Run) {
	if len(r.Rollups) == 0 {
		return
	}
	p.heading("Metric rollups")
	width := 0
	for _, m := range r.Rollups {
		width = max(width, display.Width(term.Escape(m.Name)))
	}
	for _, m := range r.Rollups {
		p.line(2, term.Pad(term.Escape(m.Name), width), "  mean ", p.paint(term.Strong, term.Pad(number(m.Mean), 6)),
			p.faint(fmt.Sprintf("  over %s", display.Count(m.Count, "test"))))
	}
}

// summary is the last line: the verdict, then the counts.
func summary(p *printer, r *result.Run) string {
	word, st := verdict(r)
	s := r.Summary
	parts := []string{counted(p, term.Good, s.Passed, "passed")}
	add := func(st term.Style, n int, text string) {
		if n > 0 {
			parts = append(parts, counted(p, st, n, text))
		}
	}
	add(term.Bad, s.Failed, "failed")
	add(term.Broken, s.Errored, display.Plural(s.Errored, "error"))
	add(term.Faint, s.Skipped, "skipped")
	counts := strings.Join(parts, ", ") + " of " + display.Count(s.Total, "test")
	broken, found := failedPhases(r), errorFindings(r)
	if r.ExitCode != 0 && s.Passed > 0 && s.Failed+s.Errored+broken == 0 && found > 0 {
		counts = p.paint(term.Good, display.Count(s.Passed, "test")+" passed")
		if s.Skipped > 0 {
			counts += ", " + counted(p, term.Faint, s.Skipped, "skipped")
		}
		counts += ", but " + p.paint(term.Bad, findingsFail(r, found))
		found = 0
	}
	text := p.paint(st, word) + "  " + counts
	tally := func(st term.Style, n int, noun string) {
		if n > 0 {
			text += p.faint(" · ") + p.paint(st, fmt.Sprintf("%d %s", n, noun))
		}
	}
	tally(term.Bad, broken, hooksOrSteps(broken)+" failed")
	tally(term.Warn, s.Flaky, "flaky")
	tally(term.Bad, found, display.Plural(found, "finding"))
	tally(term.Warn, s.Warnings, display.Plural(s.Warnings, "warning"))
	return text + p.faint(" · "+duration(r.DurationMS))
}

// findingsFail says which kinds of findings make a run fail in which every test
// passed.
func findingsFail(r *result.Run, n int) string {
	var kinds []string
	for _, f := range r.Findings {
		if kind := term.Escape(f.Kind); f.Severity == "error" && !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	return display.Count(n, "finding") + " failed the run: " + oneLine(strings.Join(kinds, ", "), longest)
}

func counted(p *printer, st term.Style, n int, word string) string {
	text := fmt.Sprintf("%d %s", n, word)
	if n == 0 {
		return text
	}
	return p.paint(st, text)
}

func hooksOrSteps(n int) string {
	if n == 1 {
		return "hook or step"
	}
	return "hooks or steps"
}

// failedPhases counts the hooks and steps outside the tests that failed.
func failedPhases(r *result.Run) (n int) {
	for i := range r.Phases {
		if st := r.Phases[i].Status; st == result.Fail || st == result.Error {
			n++
		}
	}
	return n
}

func errorFindings(r *result.Run) (n int) {
	for _, f := range r.Findings {
		if f.Severity == "error" {
			n++
		}
	}
	return n
}

// verdict is the run's outcome in one word. It follows the exit code, so that
// text and code always agree.
func verdict(r *result.Run) (string, term.Style) {
	switch {
	case r.Interrupted != "":
		return "INTERRUPTED (" + term.Escape(r.Interrupted) + ")", term.Bad
	case r.ExitCode == 0:
		return "PASSED", term.Good
	case r.ExitCode == 7:
		return "NO TESTS", term.Warn
	}
	return "FAILED", term.Bad
}
