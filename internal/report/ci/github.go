package ci

import (
	"fmt"
	"io"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/term"
	"mcptest/internal/report/explain"
	"mcptest/internal/report/gate"
	"mcptest/internal/report/render"
	"mcptest/internal/report/result"
)

// githubMost limits the number of annotations. GitHub shows ten of each kind for a
// step; more only make the log longer.
const githubMost = 50

// WriteGitHub writes workflow commands: an annotation on the suite's line for
// everything that failed. All of a command's text is percent-encoded where
// GitHub decodes it, so that text of a server can't end it or begin another.
func WriteGitHub(w io.Writer, r *result.Run, o render.Options) error {
	g := &github{Out: render.NewOut(w), dir: r.Dir}
	x := explain.NewExplainer(r, render.Options{})
	for _, e := range explain.ListPseudoTests(r, x) {
		g.annotate("error", e.Kind, e.File, e.Line, 0, e.MessageLine())
	}
	dropped := 0
	for c, err := range r.Cases.NotPassed() {
		if err != nil {
			return err
		}
		if g.n >= githubMost && !o.Verbose {
			dropped++
			continue
		}
		file, line, column := explain.FindLocation(c)
		text := explain.Reason(c)
		if c.Repro != "" {
			text += "\n" + c.Repro
		}
		g.annotate("error", c.Name, file, line, column, text)
	}
	if dropped > 0 {
		g.Put(fmt.Sprintf("::notice::%s without an annotation\n", display.Count(dropped, "more failure")))
	}
	if err := g.writeWarnings(r); err != nil {
		return err
	}
	for _, line := range explain.Results(r) {
		g.annotate("notice", "results", "", 0, 0, line)
	}
	for _, c := range explain.ListCoverages(r, false) {
		lines := append([]string{c.Line}, c.Missing...)
		g.annotate("notice", "coverage of "+c.Server, "", 0, 0, strings.Join(lines, "\n"))
	}
	p := render.NewPrinter(nil, r, render.Options{})
	g.Put(explain.Summary(p, r), "\n")
	return g.Flush()
}

type github struct {
	render.Out
	n   int
	dir string // directory of the paths in the repository
}

// writeWarnings annotates flaky tests and the warnings of the run.
func (g *github) writeWarnings(r *result.Run) error {
	for _, f := range explain.FoldFindings(r.Findings) {
		if explain.IsOfPhase(f) && g.n < githubMost {
			g.annotate("warning", f.Kind, f.File, f.Line, 0, f.Message)
		}
	}
	list, err := explain.Warnings(r)
	if err != nil {
		return err
	}
	for _, w := range list {
		if g.n < githubMost {
			text := w.Text
			if w.More > 0 {
				text += fmt.Sprintf(" (and %s)", display.Count(w.More, "more test"))
			}
			g.annotate("warning", w.Name, w.File, w.Line, 0, text)
		}
	}
	if r.Summary.Flaky == 0 {
		return nil
	}
	for c, err := range r.Cases.Select(result.Pass) {
		if err != nil {
			return err
		}
		if c.Flaky && g.n < githubMost {
			text := fmt.Sprintf("flaky: passed on attempt %d of %d", explain.CountPassedOn(c), len(c.Attempts))
			g.annotate("warning", c.Name, c.File, c.Line, c.Column, text)
		}
	}
	return nil
}

func (g *github) annotate(level, title, file string, line, column int, text string) {
	g.n++
	short := func(s string) string { return render.OneLine(s, render.LongestLine) }
	text = display.Middle(term.EscapeLines(text), 4*render.LongestLine)
	g.Put(gate.FormatGitHubCommand(level, short(title), short(explain.RelateToRepository(g.dir, file)), line,
		column, text))
}
