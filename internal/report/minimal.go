package report

import (
	"io"
	"strings"

	"mcptest/internal/result"
	"mcptest/internal/term"
)

// writeMinimal writes one line for everything that made the run fail, one for
// each warning, and the summary.
func writeMinimal(w io.Writer, r *result.Run, o Options) error {
	p := newPrinter(w, r, o)
	entry := func(st term.Style, word string, parts ...string) {
		text := ""
		for _, s := range parts {
			if s != "" {
				text += " " + s
			}
		}
		p.line(0, p.paint(st, word), text)
	}
	for i := range r.Phases {
		if ph := &r.Phases[i]; ph.Status == result.Fail || ph.Status == result.Error {
			st, word := phaseWord(ph)
			entry(st, word, colon(place(ph.File, ph.Line, 0)), colon(term.Escape(ph.Phase+" "+ph.Name)), oneLine(ph.Message, longest))
		}
	}
	for c, err := range result.Select(r.Cases, result.Fail, result.Error) {
		if err != nil {
			return err
		}
		st, _ := verdictStyle(c.Status)
		line := c.Line
		if f := failing(c.Assertions); len(f) > 0 && f[0].Line > 0 && f[0].File == "" {
			line = f[0].Line
		}
		entry(st, strings.ToUpper(string(c.Status)), colon(place(c.File, line, 0)), colon(term.Escape(c.Name)), oneLine(c.Message, longest))
	}
	for _, f := range folded(r.Findings) {
		if f.Severity == "error" {
			entry(term.Bad, "FINDING", colon(place(f.File, f.Line, 0)), colon(term.Escape(f.Kind)), oneLine(findingLine(f), longest))
		}
	}
	if err := eachWarning(p, r, func(w *warned) {
		entry(term.Warn, "WARN", colon(place(w.file, w.line, 0)), oneLine(w.messageLine(), longest))
	}); err != nil {
		return err
	}
	p.line(0, summary(p, r))
	return p.flush()
}

// colon puts a colon behind a text that is there.
func colon(s string) string {
	if s == "" {
		return ""
	}
	return s + ":"
}
