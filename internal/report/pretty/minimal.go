package pretty

import (
	"io"
	"strings"

	"mcptest/internal/base/term"
	"mcptest/internal/report/explain"
	"mcptest/internal/report/render"
	"mcptest/internal/report/result"
)

// WriteMinimal writes one line for each failure and each warning, and the summary.
func WriteMinimal(w io.Writer, r *result.Run, o render.Options) error {
	p := render.NewPrinter(w, r, o)
	entry := func(st term.Style, word string, parts ...string) {
		text := ""
		for _, s := range parts {
			if s != "" {
				text += " " + s
			}
		}
		p.Line(0, p.Paint(st, word), text)
	}
	for i := range r.Phases {
		if ph := &r.Phases[i]; ph.Status.Failed() {
			st, word := explain.NamePhase(ph)
			place := render.Colon(render.Place(ph.File, ph.Line, 0))
			name := render.Colon(term.Escape(ph.Phase + " " + ph.Name))
			entry(st, word, place, name, render.OneLine(ph.Message, render.LongestLine))
		}
	}
	for c, err := range r.Cases.NotPassed() {
		if err != nil {
			return err
		}
		st, _ := render.StyleVerdict(c.Status)
		line := c.Line
		if f := explain.ListFailing(c.Assertions); len(f) > 0 && f[0].Line > 0 && f[0].File == "" {
			line = f[0].Line
		}
		place := render.Colon(render.Place(c.File, line, 0))
		name := render.Colon(term.Escape(c.Name))
		reason := render.OneLine(explain.Reason(c), render.LongestLine)
		entry(st, strings.ToUpper(string(c.Status)), place, name, reason)
	}
	for _, f := range explain.FoldFindings(r.Findings) {
		if f.Severity == "error" {
			place := render.Colon(render.Place(f.File, f.Line, 0))
			text := render.OneLine(explain.FormatFinding(f), render.LongestLine)
			entry(term.Bad, "FINDING", place, render.Colon(term.Escape(f.Kind)), text)
		}
	}
	if err := explain.VisitWarnings(p, r, func(w *explain.Warning) {
		place := render.Colon(render.Place(w.File, w.Line, 0))
		entry(term.Warn, "WARN", place, render.OneLine(w.MessageLine(), render.LongestLine))
	}); err != nil {
		return err
	}
	for _, line := range explain.Results(r) {
		entry(term.Faint, "RESULT", render.OneLine(line, render.LongestLine))
	}
	for _, c := range explain.ListCoverages(r, false) {
		p.Line(0, c.String())
	}
	p.Line(0, explain.Summary(p, r))
	return p.Flush()
}
