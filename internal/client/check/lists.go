package check

import (
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/protocol"
)

// Entry returns the violations of an entry of the list that a method returns, such as
// a tool. Members that the protocol version does not define may have any type.
func Entry(version, method string, v jsonv.Value) []string {
	if v.Kind() != jsonv.KindObject {
		return []string{"it is " + v.Kind().WithArticle() + ", not an object"}
	}
	c := checker{version: protocol.VersionOf(version)}
	c.checkNamed("", v)
	c.meta("", v)
	switch method {
	case "tools/list":
		c.tool(v)
	case "prompts/list":
		c.objects("", v, "arguments", c.argument)
	case "resources/list":
		c.resource("", v, "uri")
		c.annotations("", v)
	case "resources/templates/list":
		c.resource("", v, "uriTemplate")
		c.annotations("", v)
	}
	return c.messages()
}

// Subject names an entry of a list: tool "add", or tools[0] if it has no name.
func Subject(key string, i int, v jsonv.Value) string {
	if name := v.Lookup("name"); name.Kind() == jsonv.KindString {
		return strings.TrimSuffix(key, "s") + " " + name.Short(80)
	}
	return jsonv.JoinIndex(key, i)
}

// Page returns the violations of a page of a list as a whole; key is the member with
// the entries.
func Page(key string, res jsonv.Value) []string {
	c := checker{res: res}
	c.optional("", res, "_meta", jsonv.KindObject)
	c.page(key)
	return c.messages()
}

func (c *checker) page(key string) {
	if c.res.Lookup(key).IsAbsent() {
		c.violation("the result has no %s", key)
	}
	c.optional("", c.res, key, jsonv.KindArray)
	// The text of 2026-07-28 for clients takes null for the end.
	if c.version.Stateless && c.res.Lookup("nextCursor").Kind() == jsonv.KindNull {
		c.Warnings = append(c.Warnings, "nextCursor is null: leave it out on the last page")
		return
	}
	c.optional("", c.res, "nextCursor", jsonv.KindString)
}

// list checks a page of a list and its entries.
func (c *checker) list(method, key string) {
	c.page(key)
	for i, v := range c.res.Lookup(key).Elems() {
		for _, msg := range Entry(c.version.Name, method, v) {
			c.violation("%s: %s", Subject(key, i, v), msg)
		}
	}
}

// checkNamed checks what tools, prompts, resources and templates have in common.
func (c *checker) checkNamed(at string, v jsonv.Value) {
	c.checkRequired(at, v, "name", jsonv.KindString)
	c.optional(at, v, "description", jsonv.KindString)
	if c.version.PartMeta {
		c.optional(at, v, "title", jsonv.KindString)
	}
	if c.version.Icons {
		c.objects(at, v, "icons", c.icon)
	}
}

func (c *checker) tool(v jsonv.Value) {
	c.schema(v, "inputSchema")
	if _, ok := v.Get("outputSchema"); ok && c.version.PartMeta {
		c.schema(v, "outputSchema")
	}
	hints := v.Lookup("annotations")
	if c.version.ToolHints {
		c.optional("", v, "annotations", jsonv.KindObject)
		c.optional("annotations", hints, "title", jsonv.KindString)
		for _, hint := range []string{"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"} {
			c.optional("annotations", hints, hint, jsonv.KindBool)
		}
	}
	if c.version.Tasks {
		c.optional("", v, "execution", jsonv.KindObject)
		c.oneOf("execution", v.Lookup("execution"), "taskSupport", "forbidden", "optional", "required")
	}
}

// schema checks what MCP requires of a tool's schema, not whether it is valid.
func (c *checker) schema(tool jsonv.Value, key string) {
	s := tool.Lookup(key)
	c.checkRequired("", tool, key, jsonv.KindObject)
	if s.Kind() != jsonv.KindObject || key == "outputSchema" && c.version.AnyStructured {
		return
	}
	if t := s.Lookup("type"); t.Text() != "object" {
		c.violation(`%s.type is %s, not "object"`, key, shown(t))
	}
	if c.version.AnyStructured {
		return
	}
	c.optional(key, s, "properties", jsonv.KindObject)
	c.strings(key, s, "required")
}

func (c *checker) icon(at string, v jsonv.Value) {
	c.checkRequired(at, v, "src", jsonv.KindString)
	c.optional(at, v, "mimeType", jsonv.KindString)
	c.strings(at, v, "sizes")
	c.oneOf(at, v, "theme", "light", "dark")
}

func (c *checker) argument(at string, v jsonv.Value) {
	c.checkRequired(at, v, "name", jsonv.KindString)
	c.optional(at, v, "description", jsonv.KindString)
	c.optional(at, v, "required", jsonv.KindBool)
}

// resource checks a resource, a link to one, or a template; key is its address.
func (c *checker) resource(at string, v jsonv.Value, key string) {
	c.checkRequired(at, v, key, jsonv.KindString)
	c.optional(at, v, "mimeType", jsonv.KindString)
	if key == "uri" && c.version.ToolHints {
		c.optional(at, v, "size", jsonv.KindNumber)
	}
}

func (c *checker) messages() (out []string) {
	for _, v := range c.Violations {
		out = append(out, v.Msg)
	}
	return out
}
