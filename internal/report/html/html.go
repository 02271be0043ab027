package html

import (
	"bufio"
	"cmp"
	"io"

	"mcptest/internal/report/explain"
	"mcptest/internal/report/render"
	"mcptest/internal/report/result"
)

// Write writes a page that needs no network and no other file. All content is
// readable without JavaScript; the script adds search, filters and copying. The
// page's policy allows only its own style and script, so that markup which the
// escaping missed could not run. Tests are written one by one: memory use does not
// depend on their number.
func Write(w io.Writer, r *result.Run, o render.Options) error {
	st, err := survey(r)
	if err != nil {
		return err
	}
	all, err := explain.ListSections(r)
	if err != nil {
		return err
	}
	variants, err := explain.ListVariants(r)
	if err != nil {
		return err
	}
	p := &htmlPage{
		Run: r, Variants: variants, HasCharts: len(st.metrics) > 0 || len(st.bars) > 0 && r.Summary.Total >= chartsFrom,
		stats: st, printer: render.NewPrinter(nil, r, render.Options{}), Earlier: cmp.Or(o.Earlier, "the earlier record"), Changed: o.Changed, Changes: o.Changes,
	}
	bw := bufio.NewWriterSize(w, 64<<10)
	writetop(bw, p)
	if err := p.writeTests(bw, all); err != nil {
		return err
	}
	writebottom(bw, p)
	return bw.Flush()
}

// writeTests writes the tests that failed, then all others under their suites. A
// browser with scripts reads the rows of a noscript element as text, which is fast, and
// the script makes elements of those that the reader asks for.
func (p *htmlPage) writeTests(w *bufio.Writer, all []*explain.Section) error {
	n := 0
	for c, err := range p.Run.Cases.All() {
		if err != nil {
			return err
		}
		if !explain.Failed(c.Status) {
			continue
		}
		if n == 0 {
			writesuite(w, p, nil)
			p.InSuite = true
		} else if n == listedMost && p.Many() {
			p.Folded = true
			writefold(w)
		}
		if err := (testView{c, p, n < openMost}).write(w); err != nil {
			return err
		}
		n++
	}
	var last *explain.Section
	return explain.WalkSections(p.Run, all, func(s *explain.Section, _ bool, c *result.Case) error {
		if explain.Failed(c.Status) {
			return nil
		}
		if s != last {
			last = s
			writesuite(w, p, s)
			p.InSuite, p.Folded = true, p.Many()
		}
		return testView{c, p, false}.write(w)
	})
}

// write writes the test, and returns the first error of the writer.
func (t testView) write(w *bufio.Writer) error {
	writerow(w, t)
	_, err := w.Write(nil)
	return err
}
