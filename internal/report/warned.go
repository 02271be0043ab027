package report

import (
	"fmt"

	"mcptest/internal/display"
	"mcptest/internal/result"
	"mcptest/internal/term"
)

// warned is a warning: of tests, the first of which is named, or of the run.
type warned struct {
	text string
	name string // of the first test; the kind of a finding
	file string
	line int
	test bool // a test warns of it, not the run
	more int  // further tests that warn of the same
}

// ofPhase reports whether a finding only repeats that a run-level hook or step
// failed.
func ofPhase(f result.Finding) bool {
	return f.Severity == "warning" && (f.Kind == "teardown" || f.Kind == "afterAll")
}

// mostWarned bounds the warnings in a short format.
const mostWarned = 20

// messageLine is the warning in one line.
func (w *warned) messageLine() string {
	text := w.name + ": " + w.text
	if w.more > 0 {
		text += fmt.Sprintf(" (and %s)", display.Count(w.more, "more test"))
	}
	return text
}

// warnings lists the warnings of tests, equal ones once, and those of the run,
// except for failed run-level hooks and steps, which formats show as such. The
// cases of a record without warnings are not read.
func warnings(r *result.Run) (list []*warned, err error) {
	for _, f := range r.Findings {
		if f.Severity == "warning" && !ofPhase(f) {
			list = append(list, &warned{text: onServer(f), name: f.Kind, file: f.File, line: f.Line})
		}
	}
	if r.Summary.Warnings == 0 || r.Cases == nil {
		return list, nil
	}
	known := map[string]*warned{}
	for c, err := range r.Cases.All() {
		if err != nil {
			return nil, err
		}
		for _, text := range c.Warnings {
			if w := known[text]; w != nil {
				w.more++
				continue
			}
			w := &warned{text: text, name: c.Name, file: c.File, line: c.Line, test: true}
			known[text] = w
			list = append(list, w)
		}
	}
	return list, nil
}

// warned writes a line for each warning, up to a limit.
func eachWarning(p *printer, r *result.Run, write func(w *warned)) error {
	list, err := warnings(r)
	if err != nil {
		return err
	}
	for i, w := range list {
		if i == mostWarned && !p.Verbose {
			p.line(0, p.paint(term.Warn, "MORE"), fmt.Sprintf(" %s not shown", display.Count(len(list)-i, "warning")))
			break
		}
		write(w)
	}
	return p.err
}

// phaseWord labels a failed hook or step: one that runs after the tests does not
// change the verdict.
func phaseWord(ph *result.Phase) (st term.Style, word string) {
	switch {
	case !before(ph):
		return term.Warn, "WARN"
	case ph.Status == result.Error:
		return term.Bad, "ERROR"
	}
	return term.Bad, "FAIL"
}
