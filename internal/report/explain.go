package report

import (
	"bytes"
	"io"
	"strings"

	"mcptest/internal/result"
	"mcptest/internal/term"
)

// explainer explains failures in plain text, for formats that embed such a
// text. It is escaped like the pretty report.
type explainer struct {
	buf bytes.Buffer
	p   *printer
}

func newExplainer(r *result.Run, o Options) *explainer {
	x := &explainer{}
	x.p = newPrinter(&x.buf, r, o)
	return x
}

// testCase explains a case that did not pass, without its name.
func (x *explainer) testCase(c *result.Case) string {
	explainCase(x.p, c)
	return x.take(3)
}

// phase explains a hook or a step that failed.
func (x *explainer) phase(ph *result.Phase) string {
	explainPhase(x.p, 0, ph)
	return x.take(0)
}

func (x *explainer) take(indent int) string {
	_ = x.p.w.Flush() // into memory
	text := x.buf.String()
	x.buf.Reset()
	if indent > 0 {
		margin := strings.Repeat(" ", indent)
		text = strings.ReplaceAll("\n"+text, "\n"+margin, "\n")[1:]
	}
	return strings.TrimRight(text, "\n")
}

// pseudoTest is a run-level failure: a hook or step that belongs to no test, or
// a finding. Formats that know only tests show it as one.
type pseudoTest struct {
	kind    string // the phase's or the finding's
	name    string
	status  result.Status
	message string // as recorded
	excerpt string // of the server's output, escaped
	text    string // escaped, several lines
	server  string
	file    string
	line    int
	ms      float64
}

// pseudoTests lists the run-level failures. A teardown step or an afterAll hook
// is never one of them: a failed cleanup must not fail the run in CI.
func pseudoTests(r *result.Run, x *explainer) (out []pseudoTest) {
	for i := range r.Phases {
		if ph := &r.Phases[i]; broke(ph.Status) && before(ph) {
			out = append(out, pseudoTest{kind: ph.Phase, name: ph.Name, status: ph.Status, message: ph.Message, text: x.phase(ph), file: ph.File, line: ph.Line, ms: ph.DurationMS})
		}
	}
	for _, f := range folded(r.Findings) {
		if f.Severity != "error" {
			continue
		}
		text := term.EscapeLines(onServer(f))
		if f.Excerpt != "" {
			text += "\n" + "│ " + oneLine(f.Excerpt, excerptMax)
		}
		e := pseudoTest{kind: f.Kind, name: f.Kind, status: result.Fail, message: f.Message, excerpt: f.Excerpt, text: text, server: f.Server, file: f.File, line: f.Line}
		if e.file == "" && len(r.Suites) > 0 { // formats for code hosts require a location
			e.file = r.Suites[0].File
		}
		out = append(out, e)
	}
	return out
}

// messageLine is the message with the server and the excerpt, in one line.
func (e *pseudoTest) messageLine() string {
	return findingLine(result.Finding{Server: e.server, Message: orElse(e.message, e.name), Excerpt: e.excerpt})
}

func broke(s result.Status) bool { return s == result.Fail || s == result.Error }

// location is the line of the suite to look at first: that of the first failed
// assertion, or of the case.
func location(c *result.Case) (file string, line, column int) {
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

// failureReason is the message of a case that did not pass, never empty.
func failureReason(c *result.Case) string {
	if c.Message != "" {
		return c.Message
	}
	switch c.Status {
	case result.Skip:
		return "skipped"
	case result.Error:
		return "the server did not respond"
	}
	return "failed"
}

// section is a run of cases that belong to one suite, in the order of the
// plan, with what a format that names totals first needs to know.
type section struct {
	name, file             string
	total, failed, errored int
	skipped                int
	ms                     float64
	scores                 []named // of cases that have one
	metrics                []named
}

type named struct {
	name  string
	value float64
}

// sections reads the cases once and returns the suites they belong to.
func sections(r *result.Run) ([]*section, error) {
	var out []*section
	if r.Cases == nil {
		return nil, nil
	}
	metric := map[string]*[]float64{}
	var order []string
	closeOne := func() {
		if len(out) == 0 {
			return
		}
		s := out[len(out)-1]
		for _, name := range order {
			values, sum := *metric[name], 0.0
			for _, v := range values {
				sum += v
			}
			s.metrics = append(s.metrics, named{name, sum / float64(len(values))})
		}
		clear(metric)
		order = nil
	}
	for c, err := range r.Cases.All() {
		if err != nil {
			return nil, err
		}
		file := suiteFile(c, r.Suites)
		if len(out) == 0 || out[len(out)-1].name != c.Suite || out[len(out)-1].file != file {
			closeOne()
			out = append(out, &section{name: c.Suite, file: file})
		}
		s := out[len(out)-1]
		s.add(c)
		for _, m := range c.DerivedMetrics {
			if metric[m.Name] == nil {
				metric[m.Name] = &[]float64{}
				order = append(order, m.Name)
			}
			*metric[m.Name] = append(*metric[m.Name], m.Value)
		}
	}
	closeOne()
	return out, nil
}

func (s *section) add(c *result.Case) {
	s.total++
	s.ms += c.DurationMS
	switch c.Status {
	case result.Fail:
		s.failed++
	case result.Error:
		s.errored++
	case result.Skip:
		s.skipped++
	}
	if c.Score != nil {
		s.scores = append(s.scores, named{c.Name, *c.Score})
	}
}

// title is the name of a section for people.
func (s *section) title() string {
	switch {
	case s.name != "":
		return s.name
	case s.file != "":
		return s.file
	}
	return "tests"
}

// bySection yields each case with the section it belongs to; sections must be
// what sections returned for the same record.
func bySection(r *result.Run, all []*section, fn func(s *section, first bool, c *result.Case) error) error {
	if r.Cases == nil {
		return nil
	}
	at, n := 0, 0
	for c, err := range r.Cases.All() {
		if err != nil {
			return err
		}
		for n == all[at].total {
			at, n = at+1, 0
		}
		if err := fn(all[at], n == 0, c); err != nil {
			return err
		}
		n++
	}
	return nil
}

// out writes text and remembers the first error.
type out struct {
	w   io.Writer
	err error
}

func (o *out) put(parts ...string) {
	for _, s := range parts {
		if o.err != nil {
			return
		}
		_, o.err = io.WriteString(o.w, s)
	}
}
