package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"mcptest/internal/display"
	"mcptest/internal/result"
	"mcptest/internal/term"
)

// githubMost is how many annotations are written. GitHub shows ten of a kind
// for a step; more than this is noise in the log.
const githubMost = 50

// writeGitHub writes workflow commands: an annotation on the suite's line for
// everything that failed. All of a command's text is percent-encoded where
// GitHub decodes it, so that text of a server can't end it or begin another.
func writeGitHub(w io.Writer, r *result.Run, o Options) error {
	bw := bufio.NewWriter(w)
	g := &github{out: out{w: bw}, dir: r.Dir}
	x := newExplainer(r, Options{})
	for _, e := range pseudoTests(r, x) {
		g.annotate("error", e.kind, e.file, e.line, 0, e.messageLine())
	}
	dropped := 0
	for c, err := range result.Select(r.Cases, result.Fail, result.Error) {
		if err != nil {
			return err
		}
		if g.n >= githubMost && !o.Verbose {
			dropped++
			continue
		}
		file, line, column := location(c)
		text := failureReason(c)
		if c.Repro != "" {
			text += "\n" + c.Repro
		}
		g.annotate("error", c.Name, file, line, column, text)
	}
	if dropped > 0 {
		g.put(fmt.Sprintf("::notice::%s without an annotation\n", display.Count(dropped, "more failure")))
	}
	if err := g.warnings(r); err != nil {
		return err
	}
	p := newPrinter(nil, r, Options{})
	g.put(summary(p, r), "\n")
	if g.err != nil {
		return g.err
	}
	return bw.Flush()
}

type github struct {
	out
	n   int
	dir string // of the paths, in the repository
}

// warnings annotates flaky tests and the warnings of the run.
func (g *github) warnings(r *result.Run) error {
	for _, f := range folded(r.Findings) {
		if ofPhase(f) && g.n < githubMost {
			g.annotate("warning", f.Kind, f.File, f.Line, 0, f.Message)
		}
	}
	list, err := warnings(r)
	if err != nil {
		return err
	}
	for _, w := range list {
		if g.n < githubMost {
			text := w.text
			if w.more > 0 {
				text += fmt.Sprintf(" (and %s)", display.Count(w.more, "more test"))
			}
			g.annotate("warning", w.name, w.file, w.line, 0, text)
		}
	}
	if r.Summary.Flaky == 0 {
		return g.err
	}
	for c, err := range result.Select(r.Cases, result.Pass) {
		if err != nil {
			return err
		}
		if c.Flaky && g.n < githubMost {
			g.annotate("warning", c.Name, c.File, c.Line, c.Column, fmt.Sprintf("flaky: passed on try %d of %d", passedOn(c), len(c.Attempts)))
		}
	}
	return g.err
}

// What a workflow command decodes in its text and in its properties.
var (
	commandData     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	commandProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

func (g *github) annotate(level, title, file string, line, column int, text string) {
	g.n++
	var props []string
	add := func(name, value string) {
		if value != "" && value != "0" {
			props = append(props, name+"="+commandProperty.Replace(oneLine(value, longest)))
		}
	}
	add("file", inRepository(g.dir, file))
	if file != "" {
		add("line", fmt.Sprint(line))
		add("col", fmt.Sprint(column))
	}
	add("title", title)
	g.put("::", level, " ", strings.Join(props, ","), "::", commandData.Replace(display.Truncate(term.EscapeLines(text), 4*longest)), "\n")
}
