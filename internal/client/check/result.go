package check

import (
	"encoding/base64"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/protocol"
)

// Result checks the result of a method against the requirements of MCP (server/tools,
// server/resources, server/prompts of every protocol version). asTask is set if the
// request allowed a task as its result.
func Result(version, method string, res jsonv.Value, asTask bool) Report {
	c := checker{version: protocol.VersionOf(version), res: res}
	c.optional("", res, "_meta", jsonv.KindObject)
	if another(res) {
		return c.Report
	}
	c.caching(method, res)
	switch method {
	case "tools/call":
		c.toolResult(res, asTask)
	case "tools/list":
		c.list(method, "tools")
	case "prompts/list":
		c.list(method, "prompts")
	case "resources/list":
		c.list(method, "resources")
	case "resources/templates/list":
		c.list(method, "resourceTemplates")
	case "resources/read":
		c.each("", res, "contents", c.contents)
	case "prompts/get":
		c.optional("", res, "description", jsonv.KindString)
		c.each("", res, "messages", c.message)
	case "completion/complete":
		c.completion(res)
	}
	return c.Report
}

// completion checks the values for an argument.
func (c *checker) completion(res jsonv.Value) {
	const at = "completion"
	c.checkRequired("", res, at, jsonv.KindObject)
	found := res.Lookup(at)
	if found.Kind() != jsonv.KindObject {
		return
	}
	c.checkRequired(at, found, "values", jsonv.KindArray)
	c.strings(at, found, "values")
	c.optional(at, found, "total", jsonv.KindNumber)
	c.optional(at, found, "hasMore", jsonv.KindBool)
}

// another reports whether a result is of another kind than that of its method:
// input_required or a task.
func another(res jsonv.Value) bool {
	t := res.Lookup("resultType")
	return !t.IsAbsent() && t.Text() != "complete"
}

func (c *checker) toolResult(res jsonv.Value, asTask bool) {
	if e := res.Lookup("isError"); !e.IsAbsent() && e.Kind() != jsonv.KindBool {
		c.violation("isError is %s, not a boolean", e.Short(40))
	}
	structured, has := res.Get("structuredContent")
	if has && structured.Kind() != jsonv.KindObject && !c.version.AnyStructured {
		c.violation("structuredContent is %s, not an object", structured.Kind().WithArticle())
	}
	if asTask && isTask(res) {
		return
	}
	c.each("", res, "content", c.block)
}

// isTask reports whether a result is that of a call that was requested as a task
// (2025-11-25).
func isTask(res jsonv.Value) bool {
	_, content := res.Get("content")
	return !content && res.Lookup("task", "taskId").Kind() == jsonv.KindString
}

// message checks a message of a prompt.
func (c *checker) message(at string, v jsonv.Value) {
	if role := v.Lookup("role").Text(); role != "user" && role != "assistant" {
		c.violation("%s.role is %s, not user or assistant", at, v.Lookup("role").Short(40))
	}
	c.block(at+".content", v.Lookup("content"))
}

// block checks a content block.
func (c *checker) block(at string, v jsonv.Value) {
	if v.Kind() != jsonv.KindObject {
		c.violation("%s is %s, not an object", at, v.Kind().WithArticle())
		return
	}
	typ := v.Lookup("type")
	if typ.Kind() != jsonv.KindString {
		c.violation("%s.type is %s, not a string", at, typ.Kind().WithArticle())
		return
	}
	c.meta(at, v)
	c.annotations(at, v)
	switch typ.Text() {
	case "text":
		c.checkRequired(at, v, "text", jsonv.KindString)
	case "image", "audio":
		c.checkRequired(at, v, "mimeType", jsonv.KindString)
		c.base64(at, v, "data")
	case "resource":
		c.contents(at+".resource", v.Lookup("resource"))
	case "resource_link":
		c.checkNamed(at, v)
		c.resource(at, v, "uri")
	default:
		c.warning("%s.type is %s, which no version of the protocol defines", at, typ.Short(40))
	}
}

// contents checks the contents of a resource.
func (c *checker) contents(at string, v jsonv.Value) {
	if v.Kind() != jsonv.KindObject {
		c.violation("%s is %s, not an object", at, v.Kind().WithArticle())
		return
	}
	c.meta(at, v)
	c.checkRequired(at, v, "uri", jsonv.KindString)
	c.optional(at, v, "mimeType", jsonv.KindString)
	if _, ok := v.Get("blob"); ok {
		c.base64(at, v, "blob")
		return
	}
	c.checkRequired(at, v, "text", jsonv.KindString)
}

func (c *checker) base64(at string, v jsonv.Value, key string) {
	c.checkRequired(at, v, key, jsonv.KindString)
	if _, err := base64.StdEncoding.DecodeString(v.Lookup(key).Text()); err != nil {
		c.violation("%s.%s is not base64", at, key)
	}
}
