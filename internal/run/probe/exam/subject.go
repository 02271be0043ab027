package exam

import (
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
)

// enterAbout enters what an exchange shows, about its request.
func (v *Visit) enterAbout(x *mcp.Exchange, o Outcome, rule string) {
	if !v.Applies(rule) {
		return
	}
	subject := v.requestOf(x)
	o.Why = strings.TrimPrefix(o.Why, x.Method+": ")
	v.Add(rule, subject, o)
}

// requestOf names the request of an exchange, so that a baseline can accept what is wrong
// with one request and nothing else: its method, with the name of what the server lists.
// Names that a probe made up are left out, and so are methods that it made up.
func (v *Visit) requestOf(x *mcp.Exchange) string {
	if strings.HasPrefix(x.Method, "mcptest/") {
		return ""
	}
	request, _ := jsonv.Parse(x.Request)
	name := protocol.NameOf(x.Method, Text(request.Lookup("params")))
	lists := map[string][]jsonv.Value{"tools/call": v.Tools, "prompts/get": v.Prompts, "resources/read": v.Resources}
	known := func(item jsonv.Value) bool {
		return item.Lookup("name").Text() == name || item.Lookup("uri").Text() == name
	}
	if name != "" && slices.ContainsFunc(lists[x.Method], known) {
		return x.Method + " " + name
	}
	return x.Method
}
