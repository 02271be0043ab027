package load

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"mcptest/internal/assert/expect"
	"mcptest/internal/assert/target"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/check"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/run/boundary"
	"mcptest/internal/spec/plan"
)

// isCall reports whether an operation is a call of a tool, a resource or a prompt.
func isCall(op *plan.Op) bool {
	isRequest := op.Fill == nil && op.Action == nil && op.Raw == nil && !op.Notification && !op.MaybeMethod
	return isRequest && slices.Contains([]string{"tools/call", "resources/read", "prompts/get"}, op.Method)
}

// ExplainUnfit returns why a test cannot be sent many times, "" if it can.
func ExplainUnfit(c *plan.Case) string {
	op := c.Ops[0]
	switch {
	case c.Flow || !isCall(op):
		return "it is not a single call of a tool, a resource or a prompt"
	case c.Exclusive || op.Until != nil || op.Wait != nil || op.CancelAfter > 0:
		return "its call cannot share a session with others, or is canceled, repeated or waited for"
	case len(op.Server.Upstreams) > 0:
		return "its server has upstreams, whose doubles are only started by a run"
	case c.Tree.Uses().Execs() || c.Tree.Uses().Surface():
		return "its assertions run programs, or examine what the server offers"
	case c.ExpectFailure != "":
		return "it is expected to fail"
	}
	return ""
}

// Examined returns a call whose responses are checked with the rules of the protocol, the
// outputSchema of the tool and, unless it is nil, the tree.
func Examined(method, subject string, params []byte, tool jsonv.Value, tolerate map[string]bool, tree *expect.Tree) Call {
	e := &examination{method: method, subject: subject, tolerate: tolerate, tree: tree, schema: check.NewOutputSchema(tool.Lookup("outputSchema"))}
	return Call{Tool: subject, Call: mcp.Call{Method: method, Params: params}, Examine: e.examine}
}

// examination checks responses, one at a time.
type examination struct {
	mu              sync.Mutex
	method, subject string
	tolerate        map[string]bool
	tree            *expect.Tree
	schema          *check.OutputSchema
}

func (e *examination) examine(ctx context.Context, version string, x *mcp.Exchange) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	v, bad, err := x.Parse(jsonv.Options{})
	if err != nil {
		return "the response could not be read: " + err.Error()
	}
	res := v.Lookup("result")
	bad = append(append(bad, x.Violations...), check.Response(version, e.method, x, res).Violations...)
	if e.method == "tools/call" && !res.IsAbsent() {
		bad = append(bad, e.schema.Check(ctx, e.subject, res).Violations...)
	}
	bad = slices.DeleteFunc(bad, func(v protocol.Violation) bool { return v.Tolerated || e.tolerate[v.Kind] })
	if len(bad) > 0 {
		return strings.TrimSuffix(bad[0].Kind+": "+bad[0].Msg+": "+bad[0].Excerpt, ": ")
	}
	if e.tree == nil {
		return ""
	}
	o := &target.Observation{
		Result:        res,
		Error:         v.Lookup("error"),
		DurationMS:    float64(x.Elapsed) / float64(time.Millisecond),
		ResponseBytes: len(x.Response),
		Steps:         jsonv.Object(),
	}
	if x.HTTP != nil {
		o.HTTPStatus, o.HTTPHeaders = x.HTTP.Status, boundary.HeaderValue(x.HTTP.Header)
	}
	if out := e.tree.Evaluate(context.WithoutCancel(ctx), o, nil); !out.Pass {
		return out.Message
	}
	return ""
}
