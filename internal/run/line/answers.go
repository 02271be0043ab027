package line

import (
	"slices"

	"mcptest/internal/run/respond"
	"mcptest/internal/spec/plan"
	"mcptest/internal/spec/suite"
)

// answers are what a case answers to the requests of its servers.
type answers struct {
	c      *plan.Case
	script *respond.Script   // of the case; nil: it has none
	used   []*respond.Script // of all calls
}

func newAnswers(c *plan.Case) answers { return answers{c: c, script: scriptOf(c)} }

// restart lets the answers of the case be used from the first one on.
func (s *answers) restart() { s.script = scriptOf(s.c) }

// startScript returns the answers during a call; nil if the client declares that it has none.
// Those of a step come before those of the case.
func (s *answers) startScript(op *plan.Op) *respond.Script {
	script := s.script
	if op.Respond != nil {
		script = respond.New(op.Respond, s.c.Respond, op.Server.Respond)
	}
	declares := !op.Server.Client.Declares.IsAbsent()
	if script == nil && declares {
		script = respond.Empty()
	}
	if script == nil {
		return nil
	}
	if declares {
		script.Claims()
	}
	s.used = append(s.used, script)
	return script
}

// listWarnings lists answers that do not fit, or that nothing asked for.
func (s *answers) listWarnings() (list []string) {
	for i, script := range s.used {
		if !slices.Contains(s.used[:i], script) { // steps share the script of the test
			list = append(list, script.Mistakes()...)
		}
	}
	written := []*suite.Respond{s.c.Respond}
	for _, op := range s.c.Ops {
		written = append(written, op.Respond)
	}
	for _, what := range respond.FindUnrequested(written, s.used) {
		list = append(list, "respond: the server never requested "+what)
	}
	return list
}
