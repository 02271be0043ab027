package compare

import (
	"cmp"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"mcptest/internal/base/lazy"
	"mcptest/internal/base/term"
	"mcptest/internal/report/explain"
	"mcptest/internal/report/render"
	"mcptest/internal/report/result"
)

// RunFailure is a reason for the failure of a run that belongs to no test: a hook or
// step before the tests, a finding, or an exit code that nothing else in the record
// explains.
type RunFailure struct {
	Kind    string `json:"kind"`
	Name    string `json:"name,omitempty"`
	Server  string `json:"server,omitempty"`
	Message string `json:"message"`
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
}

// runFailures returns the failures of a run apart from its tests.
func runFailures(r *result.Run) (out []RunFailure) {
	for i := range r.Phases {
		if ph := &r.Phases[i]; explain.Failed(ph.Status) && explain.BeforeTests(ph) {
			out = append(out, RunFailure{
				Kind:    ph.Phase,
				Name:    ph.Name,
				Message: cmp.Or(ph.Message, "failed"),
				File:    ph.File,
				Line:    ph.Line,
			})
		}
	}
	for _, f := range r.Findings {
		if f.Severity == "error" {
			out = append(out, RunFailure{Kind: f.Kind, Server: f.Server, Message: f.Message, File: f.File, Line: f.Line})
		}
	}
	return out
}

// messageParts matches quoted text, which is kept when messages are compared,
// and numbers (request ids, byte offsets), which differ from run to run.
var messageParts = lazy.Regexp(`"(?:[^"\\]|\\.)*"|[0-9]+`)

func maskNumbers(message string) string {
	return messageParts().ReplaceAllStringFunc(message, func(s string) string {
		if s[0] == '"' {
			return s
		}
		return "#"
	})
}

// listRunFailures writes the failures of only the later run.
func listRunFailures(p *render.Printer, list []RunFailure) {
	if len(list) == 0 {
		return
	}
	p.Heading(fmt.Sprintf("New failures outside the tests (%d)", len(list)))
	for _, f := range list {
		what := render.Colon(f.Kind)
		if f.Name != "" {
			what += " " + render.Colon(f.Name)
		}
		if f.Server != "" {
			what += " server " + render.Colon(f.Server)
		}
		p.Line(2, p.Paint(term.Bad, "✗ "), term.Escape(what), " ", render.OneLine(f.Message, render.LongestLine))
		if f.File != "" {
			p.Line(6, p.Faint(render.Place(f.File, f.Line, 0)))
		}
	}
}

// findRenamedFiles maps the suite files of one run to those of another, which may have been
// started in another folder. A file with the same path in both is the same; otherwise it
// is the only one whose suite has the same name, or else the one with the longest common
// path suffix, if there is exactly one. The result maps names of after to names of before.
func findRenamedFiles(before, after *result.Run) map[string]string {
	const path, name = 2000, 1000
	alike := func(was, now result.Suite) int {
		switch {
		case explain.RelateToRepository(before.Dir, was.File) == explain.RelateToRepository(after.Dir, now.File):
			return path
		case was.Name == now.Name && now.Name != "":
			return name + countSharedEnd(was.File, now.File)
		}
		return countSharedEnd(was.File, now.File)
	}
	out := map[string]string{}
	taken := map[string]bool{}
	for _, least := range []int{path, name, 1} {
		for _, now := range after.Suites {
			best, most, tie := "", 0, out[now.File] != ""
			for _, was := range before.Suites {
				n := alike(was, now)
				switch {
				case taken[was.File] || n < max(most, least):
				case n == most:
					tie = true
				default:
					best, most, tie = was.File, n, out[now.File] != ""
				}
			}
			if best != "" && !tie {
				out[now.File], taken[best] = best, true
			}
		}
	}
	return out
}

// countSharedEnd counts the common last elements of two paths.
func countSharedEnd(a, b string) (n int) {
	as := strings.Split(path.Clean(filepath.ToSlash(a)), "/")
	bs := strings.Split(path.Clean(filepath.ToSlash(b)), "/")
	for n < len(as) && n < len(bs) && as[len(as)-1-n] == bs[len(bs)-1-n] {
		n++
	}
	return n
}
