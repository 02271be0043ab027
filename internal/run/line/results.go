package line

import (
	"context"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/toolresult"
	"mcptest/internal/report/result"
	"mcptest/internal/run/pool"
	"mcptest/internal/spec/plan"
)

// Results holds the worst result of each tool by each rule of package toolresult. Results
// that the suite made itself, by a mock or by damage, say nothing about a server.
type Results struct{ toolresult.Worst }

// Findings returns what was seen, by server, tool and rule.
func (r *Results) Findings() (out []result.Finding) {
	for _, s := range r.All() {
		out = append(out, result.Finding{
			Kind: result.OfResult, Severity: "info", Server: s.Server, Message: s.Message,
			Rule: s.Rule, Tool: s.Tool, Test: s.Test, Level: s.Level,
		})
	}
	return out
}

// examine examines what clients do with the result of a call of a test.
func (r *Results) examine(ctx context.Context, s *pool.Server, c *plan.Case, op *plan.Op, x *mcp.Exchange) {
	if x.Method != "tools/call" || s.Def.IsMock() || !toolresult.IsSuspicious(x.Result) {
		return
	}
	res, err := jsonv.Parse(x.Result)
	if err != nil {
		return // a violation that has been reported
	}
	definition := jsonv.Value{}
	if toolresult.IsLarge(x.Result) {
		definition = jsonv.ObjectOf("_meta", s.ToolMeta(ctx, op.Subject))
	}
	if notes := toolresult.Examine(op.Subject, definition, res); len(notes) > 0 {
		r.Add(toolresult.Seen{Server: s.Def.Name, Tool: op.Subject, Test: c.Name, At: c.Index}, notes)
	}
}
