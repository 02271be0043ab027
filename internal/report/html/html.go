package html

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html/template"
	"io"
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
		"line": term.Escape, "lines": term.EscapeLines, "truncate": display.Truncate,
		"short":    func(s string) string { return render.OneLine(s, render.LongestLine) },
		"long":     func(s string) string { return render.OneLine(s, 4*render.LongestLine) },
		"trim":     strings.TrimSpace,
		"duration": render.Duration, "number": render.Number, "percent": func(rate float64) string { return render.Number(100 * rate) }, "count": display.Count, "place": render.Place,
		"class": statusClass, "broke": explain.Failed, "glyph": statusGlyph,
		"scrolls": scrolls, "stacked": stacked, "missed": missed, "hasPrefix": strings.HasPrefix,
		"trimLines":   func(s string) string { return strings.TrimRight(s, "\n") },
		"phaseOrigin": phaseOrigin, "exchangeLines": explain.ExchangeLines, "tryNumber": func(i int) int { return i + 1 },
		"passedOn": explain.PassedOn, "tolerated": explain.Tolerated,
		"plural": display.Plural, "hooksOrSteps": explain.HooksOrSteps,
	}).ParseFS(htmlFiles, "page/*.html"))
})

// Write writes a page that needs no network and no other file. All content is
// readable without JavaScript; the script adds search, filters and copying. The
// page's policy allows only its own style and script, so that markup which the
// escaping missed could not run. Tests are written one by one: memory use does not
// depend on their number.
func Write(w io.Writer, r *result.Run, _ render.Options) error {
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
		Run: r, Variants: variants, Style: template.CSS(style), Script: template.JS(script), HasCharts: len(st.bars) > 0 || len(st.metrics) > 0,
		stats: st, printer: render.NewPrinter(nil, r, render.Options{}),
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

// writeTests writes the list of all tests, under their suites.
func (p *htmlPage) writeTests(all []*explain.Section, write func(name string, data any) error) error {
	return explain.BySection(p.Run, all, func(s *explain.Section, first bool, c *result.Case) error {
		if first {
			if err := write("suite", suiteView{p.InSuite, s.Title(), s.File, s.Total, s.MS}); err != nil {
				return err
			}
			p.InSuite = true
		}
		return write("test", testView{c, p})
	})
}

type suiteView struct {
	After       bool // a new suite begins
	Title, File string
	Total       int
	MS          float64
}

// Policy returns the page's content security policy, which only allows the style and
// the script of the page.
func (p *htmlPage) Policy() template.HTML {
	hash := func(s string) string {
		sum := sha256.Sum256([]byte(s))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return template.HTML(`<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src ` + hash(string(p.Style)) +
		"; script-src " + hash(string(p.Script)) + `; base-uri 'none'; form-action 'none'">`)
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

// HasFailures reports whether the section "What failed" has content.
func (p *htmlPage) HasFailures() bool {
	return len(p.stats.failures) > 0 || explain.FailedPhases(p.Run) > 0
}

// Findings returns the findings of the run without duplicates.
func (p *htmlPage) Findings() []result.Finding { return explain.Folded(p.Run.Findings) }

// Coverages returns the coverage of each server.
func (p *htmlPage) Coverages() []explain.Coverage { return explain.Coverages(p.Run, true) }

// Ratio returns the bar with the shares of the outcomes.
func (p *htmlPage) Ratio() (bars []shape) {
	s := p.Run.Summary
	x := 0.0
	for i, n := range []int{s.Passed, s.Failed, s.Errored, s.Skipped} {
		if n > 0 {
			width := 1000 * float64(n) / float64(s.Total)
			bars = append(bars, rect([]string{"pass", "fail", "error", "skip-f"}[i], x, 0, width, 8))
			x += width
		}
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
