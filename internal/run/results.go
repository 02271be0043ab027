package run

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/toolresult"
	"mcptest/internal/report/result"
	"mcptest/internal/run/pool"
	"mcptest/internal/spec/plan"
)

// seenResults holds the worst result of each tool by each rule of package toolresult. Results
// that the suite made itself, by a mock or by damage, say nothing about a server.
type seenResults struct {
	mu    sync.Mutex
	worst map[noteKey]seenNote
}

type noteKey struct{ server, tool, rule string }

// seenNote is a note and the test whose call it is about.
type seenNote struct {
	toolresult.Note
	test  string
	index int // of the test, which decides among equal notes: runs are in parallel
}

// add remembers notes about the result of a test's call.
func (r *seenResults) add(server, tool string, c *plan.Case, notes []toolresult.Note) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.worst == nil {
		r.worst = map[noteKey]seenNote{}
	}
	for _, n := range notes {
		key := noteKey{server: server, tool: tool, rule: n.Rule}
		had, seen := r.worst[key]
		if !seen || n.Size > had.Size || n.Size == had.Size && c.Index < had.index {
			r.worst[key] = seenNote{Note: n, test: c.Name, index: c.Index}
		}
	}
}

// findings returns what was seen, by server, tool and rule.
func (r *seenResults) findings() (out []result.Finding) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for key, n := range r.worst {
		out = append(out, result.Finding{
			Kind: result.OfResult, Severity: "info", Server: key.server, Message: n.Message,
			Rule: key.rule, Tool: key.tool, Test: n.test, Level: n.Level,
		})
	}
	slices.SortFunc(out, func(a, b result.Finding) int {
		return cmp.Or(cmp.Compare(a.Server, b.Server), cmp.Compare(a.Tool, b.Tool), cmp.Compare(a.Rule, b.Rule))
	})
	return out
}

// examine examines what clients do with the result of a call of a test.
func (r *seenResults) examine(ctx context.Context, s *pool.Server, c *plan.Case, op *plan.Op, x *mcp.Exchange) {
	if x.Method != "tools/call" || s.Def.IsMock() || !toolresult.Suspicious(x.Result) {
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
		r.add(s.Def.Name, op.Subject, c, notes)
	}
}
