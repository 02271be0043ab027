package run

import (
	"context"

	"mcptest/internal/jsonv"
	"mcptest/internal/mcp"
)

// pageFaults says what is wrong with a page of tools/list as a whole.
func pageFaults(res jsonv.Value) []string {
	var out []string
	if tools := res.Lookup("tools"); tools.IsAbsent() {
		out = append(out, "the result has no tools")
	} else if tools.Kind() != jsonv.KindArray {
		out = append(out, "tools is "+article(tools.Kind())+", not an array")
	}
	// null is not in the schema either; servers that write it for a list that is
	// over are many, and every client takes it for that.
	if c, ok := res.Get("nextCursor"); ok && c.Kind() != jsonv.KindString && c.Kind() != jsonv.KindNull {
		out = append(out, "nextCursor is "+article(c.Kind())+", not a string")
	}
	return out
}

// toolFault says what is wrong with an entry of tools/list, "" for nothing.
func toolFault(tool jsonv.Value) string {
	if tool.Kind() != jsonv.KindObject {
		return "a tool is " + article(tool.Kind()) + ", not an object"
	}
	if name := tool.Lookup("name"); name.Kind() != jsonv.KindString {
		return "a tool's name is " + article(name.Kind()) + ", not a string"
	}
	if in := tool.Lookup("inputSchema"); in.Kind() != jsonv.KindObject {
		return "inputSchema is " + article(in.Kind()) + ", not an object"
	}
	if out, ok := tool.Get("outputSchema"); ok && out.Kind() != jsonv.KindObject && out.Kind() != jsonv.KindNull {
		return "outputSchema is " + article(out.Kind()) + ", not an object"
	}
	return ""
}

// listFault reports a malformed tools/list, which no test made.
func (e *entry) listFault(msg string) {
	for _, f := range e.findings([]mcp.Violation{{Kind: mcp.BadResult, Msg: "tools/list: " + msg}}) {
		e.r.finding(f)
	}
}

// fault is what is wrong with the entry of a tool in the list.
func (t *toolIndex) fault(ctx context.Context, name string) string {
	t.wait(ctx)
	select {
	case <-t.done:
		return t.faults[name]
	default:
		return ""
	}
}

// listed says what is wrong with a tool in the list, where the list is waited for.
func (e *entry) listed(ctx context.Context, tool string) string {
	if !e.def.ValidateOutput {
		return ""
	}
	return e.tools.fault(ctx, tool)
}

// unusable says why a client must not call a tool. It does not wait: where
// arguments are headers, the list was waited for before.
func (t *toolIndex) unusable(name string) string {
	select {
	case <-t.done:
		return t.dropped[name]
	default:
		return ""
	}
}
