package exam

import (
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
)

// requestOf names the request of an exchange, so that a baseline can accept what is wrong
// with one request and nothing else: its method, with the name of what the server lists.
// Names that a probe made up are left out, and so are methods that it made up.
func (v *Visit) requestOf(x *mcp.Exchange) string {
	request := parseValue(x.Request)
	method := request.Lookup("method").Text()
	if strings.HasPrefix(method, "mcptest/") {
		return ""
	}
	name := protocol.NameOf(method, Text(request.Lookup("params")))
	lists := map[string][]jsonv.Value{"tools/call": v.Tools, "prompts/get": v.Prompts, "resources/read": v.Resources}
	known := func(item jsonv.Value) bool {
		return item.Lookup("name").Text() == name || item.Lookup("uri").Text() == name
	}
	if name != "" && slices.ContainsFunc(lists[method], known) {
		return method + " " + name
	}
	return method
}
