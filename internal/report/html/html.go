package html

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html/template"
	"io"
	"slices"
	"strings"
	"sync"

	"mcptest/internal/base/display"
	"mcptest/internal/base/term"
	"mcptest/internal/report/explain"
	"mcptest/internal/report/render"
	"mcptest/internal/report/result"
)

//go:embed page
var htmlFiles embed.FS

// htmlTemplates parses the templates of the page on first use. They escape for HTML;
// a template also passes text of servers and suites through line, lines, short or
// long, which make hidden characters visible.
var htmlTemplates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Funcs(template.FuncMap{
		"indent": indented, "usd": render.USD, "line": term.Escape, "lines": term.EscapeLines, "truncate": display.Truncate,
		"short":    func(s string) string { return render.OneLine(s, render.LongestLine) },
		"long":     func(s string) string { return render.OneLine(s, 4*render.LongestLine) },
		"trim":     strings.TrimSpace,
		"duration": render.Duration, "number": render.Number, "count": display.Count, "place": render.Place,
		"class": statusClass, "broke": explain.Failed, "glyph": statusGlyph,
		"scrolls": scrolls, "stacked": stacked, "missed": missed, "hasPrefix": strings.HasPrefix,
		"trimLines":   func(s string) string { return strings.TrimRight(s, "\n") },
		"phaseOrigin": phaseOrigin, "exchangeLines": explain.ExchangeLines, "tryNumber": func(i int) int { return i + 1 },
		"passedOn": explain.PassedOn, "repeated": explain.Repeated, "tolerated": explain.Tolerated,
		"plural": display.Plural, "hooksOrSteps": explain.HooksOrSteps, "words": func(s string) []string { return strings.Split(s, " ") },
	}).ParseFS(htmlFiles, "page/*.html"))
})

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
	all, err := explain.Sections(r)
	if err != nil {
		return err
	}
	variants, err := explain.Variants(r)
	if err != nil {
		return err
	}
	style, _ := htmlFiles.ReadFile("page/report.css")
	script, _ := htmlFiles.ReadFile("page/report.js")
	p := &htmlPage{
		Run: r, Variants: variants, Style: template.CSS(style), Script: template.JS(script), HasCharts: len(st.metrics) > 0 || len(st.bars) > 0 && r.Summary.Total >= chartsFrom,
		stats: st, printer: render.NewPrinter(nil, r, render.Options{}), Changed: o.Changed, Changes: o.Changes,
	}
	bw := bufio.NewWriterSize(w, 64<<10)
	write := func(name string, data any) error { return htmlTemplates().ExecuteTemplate(bw, name, data) }
	if err := write("top", p); err != nil {
		return err
	}
	if err := p.writeTests(all, write); err != nil {
		return err
	}
	if err := write("bottom", p); err != nil {
		return err
	}
	return bw.Flush()
}

// writeTests writes the tests that failed, then all others under their suites. A
// browser with scripts reads the rows of a noscript element as text, which is fast, and
// the script makes elements of those that the reader asks for.
func (p *htmlPage) writeTests(all []*explain.Section, write func(name string, data any) error) error {
	n, sum := 0, p.Run.Summary
	broken := &explain.Section{Total: sum.Failed + sum.Errored + sum.Inconclusive}
	for c, err := range result.Select(p.Run.Cases) {
		if err != nil {
			return err
		}
		if !explain.Failed(c.Status) {
			continue
		}
		if n == 0 {
			err = write("suite", suiteView{Section: broken, Above: true})
			p.InSuite = true
		} else if n == listedMost && p.Many() {
			p.Folded = true
			err = write("fold", nil)
		}
		if err = cmp.Or(err, write("test", testView{c, p, n < openMost})); err != nil {
			return err
		}
		n++
	}
	var last *explain.Section
	return explain.BySection(p.Run, all, func(s *explain.Section, _ bool, c *result.Case) error {
		if explain.Failed(c.Status) {
			return nil
		}
		if s != last {
			last = s
			if err := write("suite", suiteView{s, false, p.InSuite, p.Folded, p.Many()}); err != nil {
				return err
			}
			p.InSuite, p.Folded = true, p.Many()
		}
		return write("test", testView{c, p, false})
	})
}

// suiteView is a group of tests: those that failed, or the others of a suite.
type suiteView struct {
	*explain.Section
	Above         bool // the tests that failed, of all suites
	After         bool // another group precedes it
	Folded, Folds bool // the rows of the preceding group, and of this one, are folded
}

// Broken counts the tests that failed and are listed above their suite.
func (s suiteView) Broken() int { return s.Section.Failed + s.Section.Errored + s.Section.Inconclusive }

// Policy returns the page's content security policy, which only allows the style and
// the script of the page.
func (p *htmlPage) Policy() template.HTML { return policy(p.Style, p.Script) }

// policy allows a style and, unless it is empty, a script.
func policy(style template.CSS, script template.JS) template.HTML {
	hash := func(s string) string {
		sum := sha256.Sum256([]byte(s))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; "
	}
	text := `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src ` + hash(string(style))
	if script != "" {
		text += "script-src " + hash(string(script))
	}
	return template.HTML(text + `base-uri 'none'; form-action 'none'">`)
}

// Title returns the name of what was tested.
func (p *htmlPage) Title() string {
	switch n := len(p.Run.Suites); {
	case n == 1:
		return cmp.Or(p.Run.Suites[0].Name, p.Run.Suites[0].File)
	case n > 1:
		return display.Count(n, "suite")
	}
	return "Test run"
}

// Verdict returns the verdict in sentence case: "Failed", "Interrupted (sigint)".
func (p *htmlPage) Verdict() string {
	word, _ := explain.Verdict(p.Run)
	return word[:1] + strings.ToLower(word[1:])
}

// VerdictClass returns the CSS class of the verdict.
func (p *htmlPage) VerdictClass() string {
	_, st := explain.Verdict(p.Run)
	return map[term.Style]string{term.Good: "good", term.Bad: "bad", term.Warn: "warn"}[st]
}

// Tool returns the name of the program that wrote the record.
func (p *htmlPage) Tool() string {
	return strings.TrimSpace(p.Run.Tool.Name + " " + p.Run.Tool.Version)
}

// FailedPhases returns the number of failed hooks and steps.
func (p *htmlPage) FailedPhases() int { return explain.FailedPhases(p.Run) }

// ErrorFindings returns the number of findings that made the run fail.
func (p *htmlPage) ErrorFindings() int { return explain.ErrorFindings(p.Run) }

// HasFailures reports whether the section "What failed" says more than the list of
// tests, which begins with those that failed.
func (p *htmlPage) HasFailures() bool {
	common := func(f failureLink) bool { return f.Others > 0 }
	return slices.ContainsFunc(p.stats.failures, common) || explain.FailedPhases(p.Run) > 0
}

// Findings returns the findings of the run without duplicates.
func (p *htmlPage) Findings() []result.Finding { return explain.Folded(p.Run.Findings) }

// Coverages returns the coverage of each server.
func (p *htmlPage) Coverages() []explain.Coverage { return explain.Coverages(p.Run, true) }

// Ratio returns the bar with the shares of the outcomes. Each failure has a segment
// that can be seen, if they are few.
func (p *htmlPage) Ratio() (bars []shape) {
	const few, visible, most, gap = 20, 12.0, 40.0, 2.0
	s := p.Run.Summary
	x, left, all := 0.0, 1000.0, s.Total
	for i, n := range []int{s.Failed, s.Errored, s.Inconclusive, s.Skipped, s.Passed} {
		if n == 0 {
			continue
		}
		width := left * float64(n) / float64(all)
		class, parts := []string{"fail", "error", "inconclusive", "skip-f", "pass"}[i], 1
		switch {
		case i < 3 && n <= few:
			width, parts = max(width, visible*float64(n)), n
		case i < 3:
			width = max(width, most)
		}
		for range parts {
			bars = append(bars, rect(class, x, 0, max(width/float64(parts)-gap, 1), 8))
			x += width / float64(parts)
		}
		left, all = left-width, all-n
	}
	return bars
}

// Failures returns the causes of failures, without duplicates.
func (p *htmlPage) Failures() []failureLink { return p.stats.failures }

// Unlisted returns the number of failures that are not in Failures.
func (p *htmlPage) Unlisted() int { return p.stats.dropped }

// phaseOrigin returns the position and kind of a hook or step.
func phaseOrigin(ph *result.Phase) string {
	return strings.TrimPrefix(render.Place(ph.File, ph.Line, 0)+" · "+term.Escape(ph.Kind), " · ")
}
