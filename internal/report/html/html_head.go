package html

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/term"
	"mcptest/internal/report/explain"
	"mcptest/internal/report/render"
	"mcptest/internal/report/result"
)

// Title returns the name of what was tested.
func (p *htmlPage) Title() string {
	n := len(p.Run.Suites)
	switch {
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
	switch st {
	case term.Good:
		return "good"
	case term.Bad:
		return "bad"
	case term.Warn:
		return "warn"
	}
	return ""
}

// Tool returns the name of the program that wrote the record.
func (p *htmlPage) Tool() string {
	return strings.TrimSpace(p.Run.Tool.Name + " " + p.Run.Tool.Version)
}

// HasFailures reports whether the section "What failed" says more than the list of
// tests, which begins with those that failed, the first one open.
func (p *htmlPage) HasFailures() bool {
	failed := 0
	for _, f := range p.stats.failures {
		failed += 1 + f.Others
	}
	return explain.CountFailedPhases(p.Run) > 0 || failed > 1
}

// NotPassed counts the tests that did not pass as the text report does.
func (p *htmlPage) NotPassed() string {
	return strings.Join(explain.ListNotPassed(term.Palette{}, p.Run.Summary), ", ")
}

// Broken counts the tests of the list of failures by their status.
func (p *htmlPage) Broken() string {
	s := p.Run.Summary
	s.Skipped = 0
	return strings.Join(explain.ListNotPassed(term.Palette{}, s), ", ")
}

// shortCommit is the length of a commit's name that people recognize.
const shortCommit = 12

// Commit returns the commit that was tested, shortened, and its branch.
func (p *htmlPage) Commit() string {
	o := p.Run.Origin
	if o == nil {
		return ""
	}
	commit := display.Truncate(o.Commit, shortCommit)
	if len(o.Commit) > shortCommit && strings.Trim(o.Commit, "0123456789abcdef") == "" {
		commit = o.Commit[:shortCommit]
	}
	switch {
	case commit == "" && o.Branch == "":
		return ""
	case commit == "":
		return "branch " + o.Branch
	case o.Branch == "":
		return "commit " + commit
	}
	return "commit " + commit + " on " + o.Branch
}

// JobURL returns the address of the CI job, or "" if it is not one that a page may link to.
func (p *htmlPage) JobURL() string {
	if p.Run.Origin == nil {
		return ""
	}
	u, err := url.Parse(p.Run.Origin.URL)
	if err != nil || u.Host == "" || u.User != nil {
		return ""
	}
	if u.Scheme != "https" && u.Scheme != "http" {
		return ""
	}
	return u.String()
}

// namedMost limits the servers that the top of the page names.
const namedMost = 6

// Tested names the servers with what they say of themselves.
func (p *htmlPage) Tested() string {
	var names []string
	for i := range p.Run.Servers {
		s := &p.Run.Servers[i]
		if i == namedMost {
			names = append(names, fmt.Sprintf("%d more", len(p.Run.Servers)-i))
			break
		}
		name := s.Name
		if info := s.ServerInfo; info != nil {
			name += " (" + strings.TrimSpace(info.Name+" "+info.Version) + ")"
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

// NotesLast reports whether the notes follow the tests: there are so many that the figures
// would not be seen first.
func (p *htmlPage) NotesLast() bool {
	const few = 3
	return len(p.Run.Notes) > few
}

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
			bars = append(bars, newRect(class, x, 0, max(width/float64(parts)-gap, 1), 8))
			x += width / float64(parts)
		}
		left, all = left-width, all-n
	}
	return bars
}

// phaseOrigin returns the position and kind of a hook or step.
func phaseOrigin(ph *result.Phase) string {
	return strings.TrimPrefix(render.Place(ph.File, ph.Line, 0)+" · "+term.Escape(ph.Kind), " · ")
}

// startedLayout is how the page shows when the run began.
const startedLayout = "2 January 2006, 15:04:05 UTC"

// pageTile is a number at the top of the page.
type pageTile struct {
	Class  string
	Number int
	Text   string
}

// Tiles returns the numbers at the top. Those that are rarely anything but 0 are left out
// if they are.
func (p *htmlPage) Tiles() []pageTile {
	s := &p.Run.Summary
	total := pageTile{"", s.Total, display.Plural(s.Total, "test")}
	if s.Total == 0 {
		total.Class = "none"
	}
	all := []pageTile{
		total,
		tileOf("pass", s.Passed, "passed"),
		tileOf("fail", s.Failed, "failed"),
		tileOf("error", s.Errored, display.Plural(s.Errored, "error")+" (no response)"),
	}
	if s.Inconclusive != 0 {
		all = append(all, pageTile{"inconclusive", s.Inconclusive, "inconclusive"})
	}
	skipped := pageTile{"", s.Skipped, "skipped"}
	if s.Skipped == 0 {
		skipped.Class = "none"
	}
	all = append(all, skipped)
	if s.Flaky != 0 {
		all = append(all, pageTile{"warnn", s.Flaky, "flaky"})
	}
	if n := explain.CountErrorFindings(p.Run); n != 0 {
		all = append(all, pageTile{"fail", n, display.Plural(n, "finding")})
	}
	if n := explain.CountFailedPhases(p.Run); n != 0 {
		all = append(all, pageTile{"fail", n, explain.NameHooksOrSteps(n) + " failed"})
	}
	if n := s.Warnings; n != 0 {
		all = append(all, pageTile{"warnn", n, display.Plural(n, "warning")})
	}
	return all
}

// tileOf returns a tile that has its class only if the number is not 0.
func tileOf(class string, n int, text string) pageTile {
	if n == 0 {
		class = "none"
	}
	return pageTile{class, n, text}
}

// pageLink is a link to a section of the page.
type pageLink struct{ ID, Text string }

// Links returns links to the sections that the page has.
func (p *htmlPage) Links() (all []pageLink) {
	add := func(there bool, id, text string) {
		if there {
			all = append(all, pageLink{id, text})
		}
	}
	add(p.HasFailures(), "why", "What failed")
	add(len(p.Run.Findings) > 0, "findings", "Findings")
	add(true, "tests", "Tests")
	add(p.NotesLast(), "notes", "Notes")
	add(len(p.Variants) > 0, "variants", "Variants")
	add(p.HasCharts, "overview", "Charts")
	add(len(p.Run.Phases) > 0, "phases", "Hooks and steps")
	add(p.Run.Coverage != nil, "coverage", "Coverage")
	add(len(p.Run.Servers) > 0, "servers", "Servers")
	return all
}
