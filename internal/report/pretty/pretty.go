package pretty

import (
	"fmt"
	"io"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/term"
	"mcptest/internal/report/explain"
	"mcptest/internal/report/render"
	"mcptest/internal/report/result"
)

// Write writes the report for people: the list of tests (unless a Live has shown it),
// the failures, and the summary in the last line.
func Write(w io.Writer, r *result.Run, o render.Options) error {
	p := render.NewPrinter(w, r, o)
	if !o.Listed {
		writeBanner(p, r)
		if err := list(p, r); err != nil {
			return err
		}
	}
	listFailedPhases(p, r)
	if err := listFailures(p, r); err != nil {
		return err
	}
	listFindings(p, r)
	listResults(p, r)
	if err := listVariants(p, r); err != nil {
		return err
	}
	listServers(p, r)
	listRollups(p, r)
	listCoverage(p, r)
	for _, n := range r.Notes {
		p.Blank()
		p.Line(0, p.Paint(term.Warn, "note: "), render.OneLine(n, render.LongestLine))
	}
	p.Blank()
	for _, sp := range o.Written {
		p.Line(0, p.Faint("wrote the "+sp.Format+" report to "), term.Escape(sp.Path))
	}
	p.Line(0, explain.Summary(p, r))
	return p.Flush()
}

// listCoverage writes the coverage of the servers.
func listCoverage(p *render.Printer, r *result.Run) {
	all := explain.ListCoverages(r, p.Verbose)
	if len(all) > 0 {
		p.Heading("Coverage")
	}
	for _, c := range all {
		p.Line(2, p.Paint(term.Strong, c.Server), "  ", c.Line)
		for _, line := range c.Missing {
			p.Line(4, p.Faint(line))
		}
		if c.Skeleton != "" {
			p.Line(4, "drafts of tests:")
			for line := range strings.Lines(c.Skeleton) {
				p.Line(6, strings.TrimRight(line, "\n"))
			}
		}
	}
}

func writeBanner(p *render.Printer, r *result.Run) {
	parts := []string{strings.TrimSpace(term.Escape(r.Tool.Name) + " " + term.Escape(r.Tool.Version))}
	if n := len(r.Suites); n > 1 {
		parts = append(parts, display.Count(n, "suite"))
	}
	parts = append(parts, display.Count(r.Summary.Total, "test"))
	if r.Parallel > 1 {
		parts = append(parts, fmt.Sprintf("%d calls in flight per server", r.Parallel))
	}
	p.Line(0, p.Faint(strings.Join(parts, " · ")))
}

// listFailedPhases comes first: a failed setup causes the failures below.
func listFailedPhases(p *render.Printer, r *result.Run) {
	first := true
	for i := range r.Phases {
		ph := &r.Phases[i]
		if !ph.Status.Failed() {
			continue
		}
		if first {
			p.Heading("Setup, hooks and teardown")
			first = false
		}
		p.Blank()
		explain.Phase(p, 0, ph)
	}
}

// group is a failure with others that have the same cause.
type group struct {
	first  *result.Case
	others []*result.Case // the first few
	more   int            // number of others beyond these
	rows   bool           // they are rows of one test
}

// listFailures explains the cases that did not pass. Those with a common cause are
// grouped.
func listFailures(p *render.Printer, r *result.Run) error {
	var groups []*group
	known, all := map[*explain.Cause]*group{}, explain.Causes{Verbose: p.Verbose}
	dropped := 0
	for c, err := range r.Cases.NotPassed() {
		if err != nil {
			return err
		}
		why, first := all.Find(c)
		if g := known[why]; !first && g != nil {
			if len(g.others) < explain.MostNames {
				g.others = append(g.others, c)
			} else {
				g.more++
			}
			continue
		}
		if len(groups) == explain.MostFailures && !p.Verbose {
			dropped++
			continue
		}
		g := &group{first: c}
		groups = append(groups, g)
		if why != nil {
			g.rows = why.Rows
			known[why] = g
		}
	}
	if len(groups) == 0 {
		return nil
	}
	p.Heading("Failures")
	for i, g := range groups {
		explain.Failure(p, i+1, g.first)
		writeSameWay(p, g)
	}
	if dropped > 0 {
		p.Blank()
		p.Line(0, p.Paint(term.Warn, fmt.Sprintf("… and %s, not shown here: see the list of tests, or ask for verbose output", display.Count(dropped, "more failure"))))
	}
	return nil
}

// writeSameWay lists the failures of a group that are not explained, with the differences
// of rows.
func writeSameWay(p *render.Printer, g *group) {
	if len(g.others) == 0 {
		return
	}
	if g.rows {
		p.Line(3, p.Faint("and in the same way:"))
	} else {
		p.Line(3, p.Faint("and for the same reason:"))
	}
	for _, c := range g.others {
		text := term.Escape(c.Name)
		row := explain.Row(c)
		switch {
		case g.rows && c.Message != g.first.Message:
			text += "  " + p.Faint(render.OneLine(explain.Reason(c), render.LongestLine))
		case row != "":
			text += "  " + p.Faint("row "+render.OneLine(row, render.LongestLine))
		}
		p.Line(5, p.Glyph(c.Status), " ", text)
	}
	if g.more > 0 {
		p.Line(5, p.Faint(fmt.Sprintf("… and %d more", g.more)))
	}
}

// listFindings writes the findings.
func listFindings(p *render.Printer, r *result.Run) {
	var last result.Finding // without its excerpt
	for _, f := range explain.FoldFindings(r.Findings) {
		if explain.IsOfPhase(f) || f.Kind == result.OfResult {
			continue // shown with its hook or step, or by listResults
		}
		excerpt := f.Excerpt
		f.Excerpt = ""
		if f == last && excerpt != "" {
			p.Line(4, p.Faint("│ "), render.OneLine(excerpt, render.LongestExcerpt))
			continue
		}
		if last == (result.Finding{}) {
			p.Heading("Findings outside the tests")
		}
		last = f
		st, mark := term.Bad, "✗ "
		switch f.Severity {
		case "warning":
			st, mark = term.Warn, "! "
		case "info":
			st, mark = term.Faint, "- "
		}
		p.Line(2, p.Paint(st, mark+term.Escape(f.Kind)), "  ",
			render.OneLine(explain.FormatOnServer(f), render.LongestLine))
		if f.File != "" {
			p.Line(4, p.Paint(term.Accent, render.Place(f.File, f.Line, 0)))
		}
		if excerpt != "" {
			p.Line(4, p.Faint("│ "), render.OneLine(excerpt, render.LongestExcerpt))
		}
	}
}

// listResults writes what clients do with results.
func listResults(p *render.Printer, r *result.Run) {
	lines := explain.Results(r)
	if len(lines) == 0 {
		return
	}
	p.Heading("What clients do with results")
	for _, line := range lines {
		p.Line(2, p.Faint("- "), render.OneLine(line, render.LongestLine))
	}
}

// listVariants writes the totals of the variants of each server.
func listVariants(p *render.Printer, r *result.Run) error {
	all, err := explain.ListVariants(r)
	if err != nil || len(all) == 0 {
		return err
	}
	width, last := 0, ""
	for _, v := range all {
		width = max(width, display.Width(term.Escape(v.Name)))
	}
	p.Heading("Variants")
	for _, v := range all {
		if v.Server != last {
			p.Line(2, p.Paint(term.Strong, term.Escape(v.Server)))
			last = v.Server
		}
		t := &v.Totals
		p.Line(4, p.Glyph(t.Status()), " ", term.Pad(term.Escape(v.Name), width), "  ", explain.Counts(p, t.Summary))
	}
	return nil
}

// listServers lists all servers if verbose; otherwise those whose certificate was not
// verified or whose stderr is not shown with a test.
func listServers(p *render.Printer, r *result.Run) {
	first := true
	for i := range r.Servers {
		s := &r.Servers[i]
		if !p.Verbose && !s.Insecure && (s.Stderr == "" || p.StderrShown[s]) {
			continue
		}
		if first {
			p.Heading("Servers")
			first = false
		}
		writeServer(p, s)
	}
}

func writeServer(p *render.Printer, s *result.Server) {
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
		add("started in " + render.Duration(s.StartMS))
	}
	if s.Starts > 1 {
		add(fmt.Sprintf("%d starts", s.Starts))
	}
	add(term.Escape(s.Exit))
	target := render.OneLine(s.Target, render.LongestLine)
	facts := p.Faint("  " + strings.Join(parts, " · "))
	p.Line(2, p.Paint(term.Strong, term.Escape(s.Name)), "  ", target, facts)
	if s.Insecure {
		p.Line(4, p.Paint(term.Warn, "its TLS certificate was not verified (insecure: true)"))
	}
	if len(s.Tolerated) > 0 {
		p.Line(4, p.Faint("tolerated: "+term.Escape(strings.Join(s.Tolerated, ", "))))
	}
	if s.Stderr != "" && !p.StderrShown[s] {
		p.Line(4, p.Faint("stderr"))
		p.Block(4, s.Stderr, render.StderrLines, true)
	}
}

// listRollups writes the table of metrics of the run.
func listRollups(p *render.Printer, r *result.Run) {
	if len(r.Rollups) == 0 {
		return
	}
	p.Heading("Metric rollups")
	width := 0
	for _, m := range r.Rollups {
		width = max(width, display.Width(term.Escape(m.Name)))
	}
	for _, m := range r.Rollups {
		name := term.Pad(term.Escape(m.Name), width)
		mean := p.Paint(term.Strong, term.Pad(render.Number(m.Mean), 6))
		p.Line(2, name, "  mean ", mean, p.Faint(fmt.Sprintf("  over %s", display.Count(m.Count, "test"))))
	}
}
