package match

import (
	"context"
	"fmt"
	"time"

	"mcptest/internal/assert/shown"
	"mcptest/internal/assert/target"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
	"mcptest/internal/offer/compat"
)

var rowCheck = Row{
	Name: "check", Doc: "clients and app directories accept the tools, as `mcptest check` predicts; for the target surface. Findings below fail_on are warnings",
	Example: `check: {for: [claude], only: [clients], fail_on: error}`, Passes: `{"tools": []}`, Fails: `{"tools": [{"name": "a.b", "inputSchema": {"type": "object"}}]}`,
	schema: compat.CheckSchema(),
	compile: func(c *Compiler, n *source.Node, path string) Matcher {
		if choice := compat.DecodeChoice(n, path, c.Mistakes, c.noteOpened); choice != nil {
			return accepted{choice}
		}
		return nil
	},
}

// accepted implements the matcher check.
type accepted struct{ choice *compat.Choice }

func (m accepted) Match(ctx context.Context, s target.Subject, env *Env) Outcome {
	if s.Value.Lookup("tools").Kind() != jsonv.KindArray {
		return unfit("the target surface", s.Value)
	}
	failing, others, err := m.choice.Run(ctx, s.Value, env.Others, time.Now())
	if err != nil {
		return Outcome{Unfit: true, Msg: shown.Line(err.Error(), shown.MaxLine)}
	}
	if len(failing) == 0 {
		return Outcome{Pass: true, Unseen: others}
	}
	o := Outcome{Msg: failing[0], Actual: "findings", Notes: others}
	if len(failing) > 1 {
		o.Msg, o.Diff = fmt.Sprintf("%d findings", len(failing)), failing
	}
	return o
}
