package explain

import (
	"bytes"
	"cmp"
	"path"
	"path/filepath"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/term"
	"mcptest/internal/report/render"
	"mcptest/internal/report/result"
)

// Explainer describes failures in plain text, for formats that embed it. It is
// escaped like the pretty report.
type Explainer struct {
	buf bytes.Buffer
	p   *render.Printer
}

// NewExplainer returns an explainer of a run.
func NewExplainer(r *result.Run, o render.Options) *Explainer {
	x := &Explainer{}
	x.p = render.NewPrinter(&x.buf, r, o)
	return x
}

// TestCase explains a case that did not pass, without its name.
func (x *Explainer) TestCase(c *result.Case) string {
	Case(x.p, c)
	return x.flushText(3)
}

// Text explains a case that did not pass, for a reader who has its name and message.
func Text(c *result.Case, r *result.Run) string {
	return NewExplainer(r, render.Options{Headlined: true}).TestCase(c)
}

// Phase explains a hook or a step that failed.
func (x *Explainer) Phase(ph *result.Phase) string {
	Phase(x.p, 0, ph)
	return x.flushText(0)
}

func (x *Explainer) flushText(indent int) string {
	_ = x.p.Flush() // writing to memory cannot fail
	text := x.buf.String()
	x.buf.Reset()
	if indent > 0 {
		text = strings.ReplaceAll("\n"+text, "\n"+strings.Repeat(" ", indent), "\n")[1:]
	}
	return strings.TrimRight(text, "\n")
}

// PseudoTest is a run-level failure: a hook or step that belongs to no test, or a
// finding. Formats that only have tests show it as a test.
type PseudoTest struct {
	Kind    string // the phase's or the finding's
	Name    string
	Status  result.Status
	Message string // as recorded
	excerpt string // of the server's output, escaped
	Text    string // escaped, several lines
	Server  string
	File    string
	Line    int
	MS      float64
}

// ListPseudoTests returns the run-level failures, except teardown steps and afterAll
// hooks, because a failed cleanup must not fail the run in CI.
func ListPseudoTests(r *result.Run, x *Explainer) (out []PseudoTest) {
	for i := range r.Phases {
		if ph := &r.Phases[i]; Failed(ph.Status) && BeforeTests(ph) {
			out = append(out, PseudoTest{
				Kind:    ph.Phase,
				Name:    ph.Name,
				Status:  ph.Status,
				Message: ph.Message,
				Text:    x.Phase(ph),
				File:    ph.File,
				Line:    ph.Line,
				MS:      ph.DurationMS,
			})
		}
	}
	for _, f := range FoldFindings(r.Findings) {
		if f.Severity != "error" {
			continue
		}
		text := term.EscapeLines(FormatOnServer(f))
		if f.Excerpt != "" {
			text += "\n" + "│ " + render.OneLine(f.Excerpt, render.LongestExcerpt)
		}
		e := PseudoTest{
			Kind:    f.Kind,
			Name:    f.Kind,
			Status:  result.Fail,
			Message: f.Message,
			excerpt: f.Excerpt,
			Text:    text,
			Server:  f.Server,
			File:    f.File,
			Line:    f.Line,
		}
		if e.File == "" && len(r.Suites) > 0 { // formats for code hosts require a location
			e.File = r.Suites[0].File
		}
		out = append(out, e)
	}
	return out
}

// Title returns the kind, and the name if it says more.
func (e *PseudoTest) Title() string {
	if e.Name == e.Kind {
		return e.Kind
	}
	return e.Kind + ": " + e.Name
}

// MessageLine returns the message with the server and the excerpt, in one line.
func (e *PseudoTest) MessageLine() string {
	return FormatFinding(result.Finding{Server: e.Server, Message: cmp.Or(e.Message, e.Name), Excerpt: e.excerpt})
}

// Failed reports whether a status counts as a failure.
func Failed(s result.Status) bool { return s.Failed() }

// FindLocation returns the line of the first failed assertion, or of the case.
func FindLocation(c *result.Case) (file string, line, column int) {
	for i := range c.Assertions {
		if a := &c.Assertions[i]; !a.Pass && a.Line > 0 {
			if a.File != "" {
				return a.File, a.Line, a.Column
			}
			return c.File, a.Line, a.Column
		}
	}
	return c.File, c.Line, c.Column
}

// Reason returns the message of a case that did not pass, with the row that it was made
// of, which long messages are shortened for. It is never empty.
func Reason(c *result.Case) string {
	text := c.Message
	switch {
	case text != "":
	case c.Status == result.Skip:
		return "skipped"
	case c.Status == result.Error:
		text = "the server did not respond"
	case c.Status == result.Inconclusive:
		text = "inconclusive"
	default:
		text = "failed"
	}
	if c.Row == nil {
		return text + findDiagnosedCause(c)
	}
	row := " (row " + Row(c) + ")"
	return display.Middle(text, max(render.LongestLine-len(row)-len(c.Name), 80)) + row + findDiagnosedCause(c)
}

// findDiagnosedCause returns what names the test that caused the failure of another, or "".
func findDiagnosedCause(c *result.Case) string {
	if text := Diagnosis(c); text != "" {
		return "; " + text
	}
	return ""
}

// Diagnosis says that a failed test passes alone, and after which tests it fails, or why that
// is not known; "" if no other test caused the failure.
func Diagnosis(c *result.Case) string {
	if c.Diagnosis == nil || c.Diagnosis.Status != result.Pass && c.Diagnosis.Status != result.Skip {
		return ""
	}
	return c.Diagnosis.Message
}

// Row returns the position and the values of the row of a case, or "":
// prices.csv:4 {"id":1}.
func Row(c *result.Case) string {
	if c.Row == nil {
		return ""
	}
	return strings.TrimSpace(render.Place(c.Row.File, c.Row.Line, 0) + " " + display.Truncate(c.Row.Values, render.LongestExcerpt))
}

// RelateToRepository converts a path of a record to its path in the repository, which code
// hosts need. dir is Run.Dir; an absolute path is unchanged.
func RelateToRepository(dir, file string) string {
	if dir == "" || file == "" || path.IsAbs(file) || filepath.IsAbs(file) {
		return file
	}
	return path.Join(dir, strings.ReplaceAll(file, `\`, "/"))
}
