package check

import (
	"encoding/base64"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/protocol"
)

// Request is what a result is the response to.
type Request struct {
	Version    string // of the protocol
	Method     string
	AllowsTask bool // a task is a valid result, too
}

// Result checks the result of a request against the requirements of MCP (server/tools,
// server/resources, server/prompts of every protocol version).
func Result(req Request, res jsonv.Value) Report {
	c := checker{version: protocol.VersionOf(req.Version), res: res}
	c.checkOptional("", res, "_meta", jsonv.KindObject)
	if isOtherResult(res) {
		return c.Report
	}
	c.checkCacheHints(req.Method, res)
	switch req.Method {
	case "tools/call":
		c.checkToolResult(req, res)
	case "tools/list":
		c.checkList(req.Method, "tools")
	case "prompts/list":
		c.checkList(req.Method, "prompts")
	case "resources/list":
		c.checkList(req.Method, "resources")
	case "resources/templates/list":
		c.checkList(req.Method, "resourceTemplates")
	case "resources/read":
		c.checkEach("", res, "contents", c.checkContents)
	case "prompts/get":
		c.checkOptional("", res, "description", jsonv.KindString)
		c.checkEach("", res, "messages", c.checkMessage)
	case "completion/complete":
		c.checkCompletion(res)
	}
	return c.Report
}

// checkCompletion checks the values for an argument.
func (c *checker) checkCompletion(res jsonv.Value) {
	const at = "completion"
	c.checkRequired("", res, at, jsonv.KindObject)
	found := res.Lookup(at)
	if found.Kind() != jsonv.KindObject {
		return
	}
	c.checkRequired(at, found, "values", jsonv.KindArray)
	c.checkStrings(at, found, "values")
	c.checkOptional(at, found, "total", jsonv.KindNumber)
	c.checkOptional(at, found, "hasMore", jsonv.KindBool)
}

// isOtherResult reports whether a result is of another kind than that of its method:
// input_required or a task.
func isOtherResult(res jsonv.Value) bool {
	t := res.Lookup("resultType")
	return !t.IsAbsent() && t.Text() != "complete"
}

func (c *checker) checkToolResult(req Request, res jsonv.Value) {
	if e := res.Lookup("isError"); !e.IsAbsent() && e.Kind() != jsonv.KindBool {
		c.addViolation("isError is %s, not a boolean", e.Short(40))
	}
	structured, has := res.Get("structuredContent")
	if has && structured.Kind() != jsonv.KindObject && !c.version.AnyStructured {
		c.addViolation("structuredContent is %s, not an object", structured.Kind().WithArticle())
	}
	if req.AllowsTask && isTask(res) {
		return
	}
	c.checkEach("", res, "content", c.checkBlock)
}

// isTask reports whether a result is that of a call that was requested as a task
// (2025-11-25).
func isTask(res jsonv.Value) bool {
	_, content := res.Get("content")
	return !content && res.Lookup("task", "taskId").Kind() == jsonv.KindString
}

// checkMessage checks a message of a prompt.
func (c *checker) checkMessage(at string, v jsonv.Value) {
	if role := v.Lookup("role").Text(); role != "user" && role != "assistant" {
		c.addViolation("%s.role is %s, not user or assistant", at, v.Lookup("role").Short(40))
	}
	c.checkBlock(at+".content", v.Lookup("content"))
}

// checkBlock checks a content block.
func (c *checker) checkBlock(at string, v jsonv.Value) {
	if v.Kind() != jsonv.KindObject {
		c.addViolation("%s is %s, not an object", at, v.Kind().WithArticle())
		return
	}
	typ := v.Lookup("type")
	if typ.Kind() != jsonv.KindString {
		c.addViolation("%s.type is %s, not a string", at, typ.Kind().WithArticle())
		return
	}
	c.checkMeta(at, v)
	c.checkAnnotations(at, v)
	switch typ.Text() {
	case "text":
		c.checkRequired(at, v, "text", jsonv.KindString)
	case "image", "audio":
		c.checkRequired(at, v, "mimeType", jsonv.KindString)
		c.checkBase64(at, v, "data")
	case "resource":
		c.checkContents(at+".resource", v.Lookup("resource"))
	case "resource_link":
		c.checkNamed(at, v)
		c.checkResource(at, v, "uri")
	default:
		c.addWarning("%s.type is %s, which no version of the protocol defines", at, typ.Short(40))
	}
}

// checkContents checks the contents of a resource.
func (c *checker) checkContents(at string, v jsonv.Value) {
	if v.Kind() != jsonv.KindObject {
		c.addViolation("%s is %s, not an object", at, v.Kind().WithArticle())
		return
	}
	c.checkMeta(at, v)
	c.checkRequired(at, v, "uri", jsonv.KindString)
	c.checkOptional(at, v, "mimeType", jsonv.KindString)
	if _, ok := v.Get("blob"); ok {
		c.checkBase64(at, v, "blob")
		return
	}
	c.checkRequired(at, v, "text", jsonv.KindString)
}

func (c *checker) checkBase64(at string, v jsonv.Value, key string) {
	c.checkRequired(at, v, key, jsonv.KindString)
	if _, err := base64.StdEncoding.DecodeString(v.Lookup(key).Text()); err != nil {
		c.addViolation("%s.%s is not base64", at, key)
	}
}
