package basics

import (
	"context"
	"net/http"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/run/allow"
	"mcptest/internal/run/probe/argument"
	"mcptest/internal/run/probe/exam"
)

// repeated is a request whose header Mcp-Name repeats a name of its body.
type repeated struct {
	method string
	params jsonv.Value
	other  string // another name of the same list, or one that nothing has
	tool   jsonv.Value
}

// names sends requests whose Mcp-Name is that of something else, and without it: a call of a
// tool, a prompt and a resource, because a server may compare only one of them.
func names(ctx context.Context, v *exam.Visit) {
	for _, request := range namedRequests(v) {
		rejected := func(rule, what string, headers http.Header) {
			subject := request.method + " with " + what
			var refused *mcp.Exchange
			v.Check(ctx, rule, subject, func(ctx context.Context) exam.Outcome {
				if control := request.send(ctx, v, nil); control.Result == nil {
					return exam.Unverified("the same request with right headers got %s", exam.Answer(control))
				}
				refused = request.send(ctx, v, headers)
				return exam.ExpectStatus(refused, http.StatusBadRequest, "a request with "+what)
			})
			if refused != nil && exam.Status(refused) == http.StatusBadRequest {
				v.State(ctx, "header-code", subject, exam.BrokenIf(!exam.GotCode(refused, protocol.CodeHeaderMismatch), refused,
					"a request with %s got %s, expected the error -32020", what, exam.Answer(refused)))
			}
		}
		rejected("header-mismatch", "another name in Mcp-Name", http.Header{"Mcp-Name": {protocol.HeaderValue(request.other)}})
		rejected("header-missing", "no Mcp-Name", http.Header{"Mcp-Name": nil})
	}
}

func (r repeated) send(ctx context.Context, v *exam.Visit, headers http.Header) *mcp.Exchange {
	if !r.tool.IsAbsent() {
		v.Policy.Call(r.tool, r.params.Lookup("arguments"))
	}
	return v.Tell(ctx, v.Frame(7006, r.method, r.params), headers)
}

// namedRequests are a call of a read-only tool, a prompt without required arguments and a
// resource, as far as there are such. The tool of the wrong header is read-only, too: a
// server may look at the header only.
func namedRequests(v *exam.Visit) (out []repeated) {
	const nothing = "mcptest-no-such-name"
	var tools []jsonv.Value
	for _, tool := range v.Tools {
		if allow.ReadOnly(tool) && !v.Slow(tool) && !strings.Contains(tool.Lookup("inputSchema").String(), "x-mcp-header") {
			tools = append(tools, tool)
		}
	}
	if len(tools) > 0 {
		last := tools[len(tools)-1]
		request := repeated{"tools/call", exam.Params(last, argument.Valid(last)), nothing, last}
		if len(tools) > 1 {
			request.other = tools[0].Lookup("name").Text()
		}
		out = append(out, request)
	}
	for _, prompt := range v.Prompts {
		if prompt.Lookup("arguments").Len() == 0 {
			out = append(out, repeated{method: "prompts/get", params: jsonv.ObjectOf("name", prompt.Lookup("name")), other: nothing})
			break
		}
	}
	if n := len(v.Resources); n > 0 {
		out = append(out, repeated{method: "resources/read", params: jsonv.ObjectOf("uri", v.Resources[n-1].Lookup("uri")), other: "mcptest:" + nothing})
	}
	return out
}
