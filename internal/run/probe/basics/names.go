package basics

import (
	"context"
	"net/http"
	"strings"

	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/run/probe/exam"
)

// names sends requests whose Mcp-Name is that of something else, and without it: a call of a
// tool, a prompt and a resource, because a server may compare only one of them.
func names(ctx context.Context, v *exam.Visit) {
	for _, request := range listNamedKinds(v) {
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
		for _, near := range listNearNames(request) {
			headers := http.Header{"Mcp-Name": {protocol.HeaderValue(near)}}
			rejected("header-mismatch", "the name "+near+" in Mcp-Name", headers)
		}
		rejected("header-missing", "no Mcp-Name", http.Header{"Mcp-Name": nil})
	}
}

// listNearNames returns names that a careless comparison takes for that of a request: one in capital
// letters, because the values of headers are case-sensitive, and one that begins with it. Of a URI a
// server may compare the normal form.
func listNearNames(request kind) (near []string) {
	name := request.name()
	if upper := strings.ToUpper(name); upper != name && request.method != "resources/read" {
		near = append(near, upper)
	}
	return append(near, name+"-mcptest")
}
