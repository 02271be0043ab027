package check

import "mcptest/internal/jsonv"

// ToolsPage returns the violations of a page of tools/list as a whole.
func ToolsPage(res jsonv.Value) []string {
	var out []string
	if tools := res.Lookup("tools"); tools.IsAbsent() {
		out = append(out, "the result has no tools")
	} else if tools.Kind() != jsonv.KindArray {
		out = append(out, "tools is "+tools.Kind().WithArticle()+", not an array")
	}
	// The schema does not allow null, but many servers send it at the end of the
	// list, and every client accepts it.
	if c, ok := res.Get("nextCursor"); ok && c.Kind() != jsonv.KindString && c.Kind() != jsonv.KindNull {
		out = append(out, "nextCursor is "+c.Kind().WithArticle()+", not a string")
	}
	return out
}

// Tool describes the violation of an entry of tools/list, or returns "".
func Tool(tool jsonv.Value) string {
	if tool.Kind() != jsonv.KindObject {
		return "a tool is " + tool.Kind().WithArticle() + ", not an object"
	}
	if name := tool.Lookup("name"); name.Kind() != jsonv.KindString {
		return "a tool's name is " + name.Kind().WithArticle() + ", not a string"
	}
	if in := tool.Lookup("inputSchema"); in.Kind() != jsonv.KindObject {
		return "inputSchema is " + in.Kind().WithArticle() + ", not an object"
	}
	if out, ok := tool.Get("outputSchema"); ok && out.Kind() != jsonv.KindObject && out.Kind() != jsonv.KindNull {
		return "outputSchema is " + out.Kind().WithArticle() + ", not an object"
	}
	return ""
}
