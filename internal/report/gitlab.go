package report

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"strings"

	"mcptest/internal/result"
	"mcptest/internal/term"
)

// codeIssue is an entry of a GitLab Code Quality report
// (docs.gitlab.com/ci/testing/code_quality, "Code Quality report format").
type codeIssue struct {
	Description string       `json:"description"`
	CheckName   string       `json:"check_name"`
	Fingerprint string       `json:"fingerprint"`
	Severity    string       `json:"severity"` // info, minor, major, critical or blocker
	Location    codeLocation `json:"location"`
}

type codeLocation struct {
	Path  string    `json:"path"`
	Lines codeLines `json:"lines"`
}

type codeLines struct {
	Begin int `json:"begin"`
}

// gitlabWarned bounds the warnings among the entries.
const gitlabWarned = 200

// writeGitLab writes a GitLab Code Quality report: one entry for each test
// that did not pass and for what failed beside the tests, on the suite's line,
// and one of the least severity for each warning.
func writeGitLab(w io.Writer, r *result.Run, _ Options) error {
	bw := bufio.NewWriter(w)
	g := &gitlab{out: out{w: bw}, seen: map[string]int{}, dir: r.Dir}
	g.put("[")
	for _, e := range extras(r, newExplainer(r)) {
		severity := "major"
		if e.status == result.Error {
			severity = "critical"
		}
		file := e.file
		if file == "" && len(r.Suites) > 0 {
			file = r.Suites[0].File
		}
		g.entry("mcptest/"+slug(e.kind), e.name+": "+e.message, severity, file, e.line, e.kind+"\x00"+e.name+"\x00"+e.server)
	}
	for c, err := range result.Select(r.Cases, result.Fail, result.Error) {
		if err != nil {
			return err
		}
		severity, check := "major", "mcptest/test-failed"
		if c.Status == result.Error {
			severity, check = "critical", "mcptest/test-error"
		}
		file, line, _ := spot(c)
		g.entry(check, c.Name+": "+reason(c), severity, file, line, c.File+"\x00"+c.Name)
	}
	list, err := warnings(r)
	if err != nil {
		return err
	}
	for _, w := range list[:min(len(list), gitlabWarned)] {
		file := w.file
		if file == "" && len(r.Suites) > 0 {
			file = r.Suites[0].File
		}
		g.entry("mcptest/warning", w.told(), "info", file, w.line, w.name+"\x00"+w.text)
	}
	g.put("\n]\n")
	if g.err != nil {
		return g.err
	}
	return bw.Flush()
}

type gitlab struct {
	out
	n    int
	seen map[string]int
	dir  string // of the paths, in the repository
}

// entry adds an issue. The fingerprint is what GitLab tells old issues from
// new ones by, so it holds the identity of the test and not its line.
func (g *gitlab) entry(check, text, severity, file string, line int, identity string) {
	if g.seen[identity]++; g.seen[identity] > 1 {
		identity += fmt.Sprintf("\x00%d", g.seen[identity])
	}
	sum := sha256.Sum256([]byte(check + "\x00" + identity))
	issue := codeIssue{
		Description: oneLine(text, longest), CheckName: term.Escape(check), Fingerprint: hex.EncodeToString(sum[:16]),
		Severity: severity, Location: codeLocation{slashed(inRepository(g.dir, file)), codeLines{max(line, 1)}},
	}
	g.item(issue)
}

func (g *gitlab) item(v any) {
	comma := ",\n  "
	if g.n++; g.n == 1 {
		comma = "\n  "
	}
	g.put(comma)
	g.json(v)
}

// json writes a value on one line. The text in it must have been escaped.
func (o *out) json(v any) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil && o.err == nil {
		o.err = err
	}
	o.put(strings.TrimSuffix(b.String(), "\n"))
}

// slashed is a path as repositories write it, "suite" for none.
func slashed(file string) string {
	if file == "" {
		return "suite"
	}
	return term.Escape(path.Clean(strings.ReplaceAll(file, `\`, "/")))
}

// slug makes a name of letters, digits and dashes.
func slug(s string) string {
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
