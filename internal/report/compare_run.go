package report

import (
	"fmt"
	"regexp"

	"mcptest/internal/result"
	"mcptest/internal/term"
)

// RunFailure is a reason for which a run failed that belongs to no test: a
// hook or step before the tests, a finding, or an exit code that nothing else
// in the record explains.
type RunFailure struct {
	Kind    string `json:"kind"`
	Name    string `json:"name,omitempty"`
	Server  string `json:"server,omitempty"`
	Message string `json:"message"`
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
}

// runFailures lists why a run failed apart from its tests.
func runFailures(r *result.Run) (out []RunFailure) {
	for i := range r.Phases {
		if ph := &r.Phases[i]; broke(ph.Status) && before(ph) {
			out = append(out, RunFailure{Kind: ph.Phase, Name: ph.Name, Message: orElse(ph.Message, "failed"), File: ph.File, Line: ph.Line})
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
var messageParts = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|[0-9]+`)

func withoutNumbers(message string) string {
	return messageParts.ReplaceAllStringFunc(message, func(s string) string {
		if s[0] == '"' {
			return s
		}
		return "#"
	})
}

// runs finds the reasons for which only the later run failed. names maps its
// files to those of the earlier run.
func (c *Comparison) runs(before, after *result.Run, names map[string]string) {
	key := func(f RunFailure, file string) RunFailure {
		if f.Name != "" { // a failed hook or step is the same failure even if its message differs
			return RunFailure{Kind: f.Kind, Name: f.Name, File: file}
		}
		return RunFailure{Kind: f.Kind, Server: f.Server, Message: withoutNumbers(f.Message)}
	}
	known := map[RunFailure]bool{}
	for _, f := range runFailures(before) {
		known[key(f, f.File)] = true
	}
	all := runFailures(after)
	for _, f := range all {
		if k := key(f, orElse(names[f.File], f.File)); !known[k] {
			known[k] = true
			c.RunFailures = append(c.RunFailures, f)
		}
	}
	explained := len(all) > 0 || after.Summary.Failed+after.Summary.Errored > 0 || c.Incomplete != ""
	if after.ExitCode != 0 && after.ExitCode != before.ExitCode && !explained {
		c.RunFailures = append(c.RunFailures, RunFailure{
			Kind: "exit-code", Message: fmt.Sprintf("the exit code is %d, and was %d", after.ExitCode, before.ExitCode),
		})
	}
}

// runFailures writes why only the later run failed.
func listRunFailures(p *printer, list []RunFailure) {
	if len(list) == 0 {
		return
	}
	p.heading(fmt.Sprintf("New failures outside the tests (%d)", len(list)))
	for _, f := range list {
		what := colon(f.Kind)
		if f.Name != "" {
			what += " " + colon(f.Name)
		}
		if f.Server != "" {
			what += " server " + colon(f.Server)
		}
		p.line(2, p.paint(term.Bad, "✗ "), term.Escape(what), " ", oneLine(f.Message, longest))
		if f.File != "" {
			p.line(6, p.faint(place(f.File, f.Line, 0)))
		}
	}
}
