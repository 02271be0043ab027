package match

import (
	"context"

	"mcptest/internal/assert/target"
	"mcptest/internal/assert/trajectory"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
)

var rowTrajectory = Row{
	Name: "trajectory", Doc: "a model made these calls: in_order or any_order, each a name (with *), {NAME: arguments that the call has at least, lists of the same length} or {optional: …}; forbid names those that it must not make; for the target calls",
	Example: `trajectory: {in_order: [search, {optional: get_me}, {get: {id: 4}}], extra: forbid, forbid: ["delete_*"]}`,
	Passes:  `[{"name":"search"},{"name":"get","arguments":{"id":4}}]`, Fails: `[{"name":"get","arguments":{"id":4}}]`,
	schema: trajectory.Schema,
	compile: func(c *Compiler, n *source.Node, path string) Matcher {
		if p := trajectory.Decode(n, path, c.Mistakes); p != nil {
			return route{p}
		}
		return nil
	},
}

// route evaluates the calls of a model.
type route struct{ *trajectory.Path }

// Match compares the calls.
func (m route) Match(_ context.Context, s target.Subject, _ *Env) Outcome {
	if s.Value.Kind() != jsonv.KindArray {
		return unfit("the target calls", s.Value)
	}
	r := m.Path.Match(s.Value)
	return Outcome{Pass: r.Problem == "", Msg: r.Problem, Diff: r.Lines, Notes: r.Notes}
}
