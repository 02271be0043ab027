package ci

import (
	"fmt"
	"io"
	"path"
	"strings"

	"mcptest/internal/base/term"
	"mcptest/internal/report/explain"
	"mcptest/internal/report/gate"
	"mcptest/internal/report/render"
	"mcptest/internal/report/result"
)

// gitlabWarned bounds the warnings among the entries.
const gitlabWarned = 200

// WriteGitLab writes a GitLab Code Quality report: one entry for each test
// that did not pass and each run-level failure, on the suite's line, and one of
// the lowest severity for each warning.
func WriteGitLab(w io.Writer, r *result.Run, _ render.Options) error {
	g := &gitlab{w: render.NewJSON(w), seen: map[string]int{}, dir: r.Dir}
	g.w.Put("[")
	for _, e := range explain.ListPseudoTests(r, explain.NewExplainer(r, render.Options{})) {
		severity := "major"
		if e.Status == result.Error {
			severity = "critical"
		}
		identity := e.Kind + "\x00" + e.Name + "\x00" + e.Server
		g.writeEntry("mcptest/"+makeSlug(e.Kind), e.Name+": "+e.MessageLine(), severity, e.File, e.Line, identity)
	}
	for c, err := range r.Cases.NotPassed() {
		if err != nil {
			return err
		}
		severity, check := "major", "mcptest/test-failed"
		if c.Status == result.Error {
			severity, check = "critical", "mcptest/test-error"
		} else if c.Status == result.Inconclusive {
			severity, check = "minor", "mcptest/test-inconclusive"
		}
		file, line, _ := explain.FindLocation(c)
		g.writeEntry(check, c.Name+": "+explain.Reason(c), severity, file, line, c.File+"\x00"+c.Name)
	}
	list, err := explain.Warnings(r)
	if err != nil {
		return err
	}
	for _, w := range list[:min(len(list), gitlabWarned)] {
		file := w.File
		if file == "" && len(r.Suites) > 0 {
			file = r.Suites[0].File
		}
		g.writeEntry("mcptest/warning", w.MessageLine(), "info", file, w.Line, w.Name+"\x00"+w.Text)
	}
	for _, line := range explain.Results(r) {
		g.writeEntry("mcptest/result", line, "info", "", 0, line)
	}
	for _, c := range explain.ListCoverages(r, false) {
		g.writeEntry("mcptest/coverage", c.String(), "info", "", 0, c.Server)
	}
	g.w.Put("\n]\n")
	return g.w.Flush()
}

type gitlab struct {
	w    render.JSONWriter
	seen map[string]int
	dir  string // of the paths, in the repository
}

// gitlabIssue is an entry of the report (docs.gitlab.com/ci/testing/code_quality, "Code
// Quality report format").
type gitlabIssue struct {
	Description string      `json:"description"`
	CheckName   string      `json:"check_name"`
	Fingerprint string      `json:"fingerprint"`
	Severity    string      `json:"severity"` // info, minor, major, critical or blocker
	Location    gitlabPlace `json:"location"`
}

type gitlabPlace struct {
	Path  string      `json:"path"`
	Lines gitlabLines `json:"lines"`
}

type gitlabLines struct {
	Begin int `json:"begin"`
}

// writeEntry adds an entry of the report. GitLab recognizes known issues by their fingerprint, so
// it depends on the identity of the test and not on its line.
func (g *gitlab) writeEntry(check, text, severity, file string, line int, identity string) {
	g.seen[identity]++
	if g.seen[identity] > 1 {
		identity += fmt.Sprintf("\x00%d", g.seen[identity])
	}
	g.w.Item(gitlabIssue{
		Description: render.OneLine(text, render.LongestLine),
		CheckName:   term.Escape(check),
		Fingerprint: gate.Fingerprint(check, identity),
		Severity:    severity,
		Location: gitlabPlace{
			Path:  toSlashes(explain.RelateToRepository(g.dir, file)),
			Lines: gitlabLines{Begin: max(line, 1)},
		},
	})
}

// toSlashes is a path with forward slashes, "suite" if there is none.
func toSlashes(file string) string {
	if file == "" {
		return "suite"
	}
	return term.Escape(path.Clean(strings.ReplaceAll(file, `\`, "/")))
}

// makeSlug makes a name of letters, digits and dashes.
func makeSlug(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '-'
	}, s)
	if s = strings.Trim(s, "-"); s == "" {
		return "other"
	}
	return s[:min(len(s), 60)]
}
