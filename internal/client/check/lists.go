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
	c.checkMeta("", v)
	switch method {
	case "tools/list":
		c.checkTool(v)
	case "prompts/list":
		c.checkObjects("", v, "arguments", c.checkArgument)
	case "resources/list":
		c.checkResource("", v, "uri")
		c.checkAnnotations("", v)
	case "resources/templates/list":
		c.checkResource("", v, "uriTemplate")
		c.checkAnnotations("", v)
	}
	return c.listMessages()
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
	c.checkOptional("", res, "_meta", jsonv.KindObject)
	c.checkPage(key)
	return c.listMessages()
}

func (c *checker) checkPage(key string) {
	if c.res.Lookup(key).IsAbsent() {
		c.addViolation("the result has no %s", key)
	}
	c.checkOptional("", c.res, key, jsonv.KindArray)
	// The text of 2026-07-28 for clients takes null for the end.
	if c.version.Stateless && c.res.Lookup("nextCursor").Kind() == jsonv.KindNull {
		c.Warnings = append(c.Warnings, "nextCursor is null: leave it out on the last page")
		return
	}
	c.checkOptional("", c.res, "nextCursor", jsonv.KindString)
}

// checkList checks a page of a list and its entries.
func (c *checker) checkList(method, key string) {
	c.checkPage(key)
	for i, v := range c.res.Lookup(key).Elems() {
		for _, msg := range Entry(c.version.Name, method, v) {
			c.addViolation("%s: %s", Subject(key, i, v), msg)
		}
	}
}

// checkNamed checks what tools, prompts, resources and templates have in common.
func (c *checker) checkNamed(at string, v jsonv.Value) {
	c.checkRequired(at, v, "name", jsonv.KindString)
	c.checkOptional(at, v, "description", jsonv.KindString)
	if c.version.PartMeta {
		c.checkOptional(at, v, "title", jsonv.KindString)
	}
	if c.version.Icons {
		c.checkObjects(at, v, "icons", c.checkIcon)
	}
}

func (c *checker) checkTool(v jsonv.Value) {
	c.checkSchema(v, "inputSchema")
	if _, ok := v.Get("outputSchema"); ok && c.version.PartMeta {
		c.checkSchema(v, "outputSchema")
	}
	hints := v.Lookup("annotations")
	if c.version.ToolHints {
		c.checkOptional("", v, "annotations", jsonv.KindObject)
		c.checkOptional("annotations", hints, "title", jsonv.KindString)
		for _, hint := range []string{"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"} {
			c.checkOptional("annotations", hints, hint, jsonv.KindBool)
		}
	}
	if c.version.Tasks {
		c.checkOptional("", v, "execution", jsonv.KindObject)
		c.checkOneOf("execution", v.Lookup("execution"), "taskSupport", "forbidden", "optional", "required")
	}
}

// checkSchema checks what MCP requires of a tool's schema, not whether it is valid.
func (c *checker) checkSchema(tool jsonv.Value, key string) {
	s := tool.Lookup(key)
	c.checkRequired("", tool, key, jsonv.KindObject)
	if s.Kind() != jsonv.KindObject || key == "outputSchema" && c.version.AnyStructured {
		return
	}
	if t := s.Lookup("type"); t.Text() != "object" {
		c.addViolation(`%s.type is %s, not "object"`, key, describeMember(t))
	}
	if c.version.AnyStructured {
		return
	}
	c.checkOptional(key, s, "properties", jsonv.KindObject)
	c.checkStrings(key, s, "required")
}

func (c *checker) checkIcon(at string, v jsonv.Value) {
	c.checkRequired(at, v, "src", jsonv.KindString)
	c.checkOptional(at, v, "mimeType", jsonv.KindString)
	c.checkStrings(at, v, "sizes")
	c.checkOneOf(at, v, "theme", "light", "dark")
}

func (c *checker) checkArgument(at string, v jsonv.Value) {
	c.checkRequired(at, v, "name", jsonv.KindString)
	c.checkOptional(at, v, "description", jsonv.KindString)
	c.checkOptional(at, v, "required", jsonv.KindBool)
}

// checkResource checks a resource, a link to one, or a template; key is its address.
func (c *checker) checkResource(at string, v jsonv.Value, key string) {
	c.checkRequired(at, v, key, jsonv.KindString)
	c.checkOptional(at, v, "mimeType", jsonv.KindString)
	if key == "uri" && c.version.ToolHints {
		c.checkOptional(at, v, "size", jsonv.KindNumber)
	}
}

func (c *checker) listMessages() (out []string) {
	for _, v := range c.Violations {
		out = append(out, v.Msg)
	}
	return out
}
