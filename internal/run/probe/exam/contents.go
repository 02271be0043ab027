package exam

import (
	"context"
	"encoding/base64"
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/check"
	"mcptest/internal/client/mcp"
)

// mostCompletions is how many values a completion may have.
const mostCompletions = 100

// examineContents examines what the result of a method contains.
func (v *Visit) examineContents(x *mcp.Exchange, res jsonv.Value) {
	if Another(x) {
		return
	}
	request := parseValue(x.Request)
	params := request.Lookup("params")
	switch request.Lookup("method").Text() {
	case "tools/call":
		v.examineCall(x, res, params.Lookup("name").Text())
	case "prompts/get":
		v.examinePrompt(x, res, "prompt "+params.Lookup("name").Text())
	case "resources/read":
		v.examineResource(x, res, "resource "+params.Lookup("uri").Text())
	case "completion/complete":
		values := res.Lookup("completion", "values")
		if values.Kind() != jsonv.KindArray {
			v.enterAbout("completion-limit", "", Broken(x, "the result has no completion.values"))
		} else {
			v.enterAbout("completion-limit", "", BrokenIf(values.Len() > mostCompletions, x,
				"completion.values has %d entries, at most %d are allowed", values.Len(), mostCompletions))
		}
	}
}

// examineCall examines the result of a tool. An error of the tool has no structured
// content, and its blocks are examined like any other.
func (v *Visit) examineCall(x *mcp.Exchange, res jsonv.Value, name string) {
	subject, failed := "tool "+name, res.Lookup("isError").Bool()
	blocks := res.Lookup("content").List()
	content := Held()
	for _, block := range blocks {
		if why := check.Block(block); why != "" {
			content = Broken(x, "%s", why)
			break
		}
	}
	if !failed || content.Verdict != Held().Verdict {
		v.enterAbout("tool-content", subject, content)
	}
	for _, block := range blocks {
		if kind := block.Lookup("type").Text(); kind == "image" || kind == "audio" {
			why := check.Media(block)
			v.enterAbout("tool-content-mime", subject, BrokenIf(why != "", x, "%s", why))
		}
	}
	if failed {
		return
	}
	if !res.Lookup("structuredContent").IsAbsent() {
		hasText := slices.ContainsFunc(blocks, func(b jsonv.Value) bool { return b.Lookup("type").Text() == "text" })
		v.enterAbout("tool-structured-text", subject, BrokenIf(!hasText, x, "the result has structuredContent, but no text block"))
	}
	if schema := v.findOutputSchema(name); schema != nil {
		v.enterAbout("tool-output-schema", subject, checkConforms(schema, name, x, res))
	}
}

// findOutputSchema returns the compiled outputSchema of a tool, nil without one.
func (v *Visit) findOutputSchema(name string) *check.OutputSchema {
	if schema, known := v.schemas[name]; known {
		return schema
	}
	doc := v.findListedTool(name).Lookup("outputSchema")
	if doc.IsAbsent() {
		return nil
	}
	v.schemas[name] = check.NewOutputSchema(doc)
	return v.schemas[name]
}

// checkConforms holds a result against an outputSchema. A limit of mcptest accuses no server.
func checkConforms(schema *check.OutputSchema, tool string, x *mcp.Exchange, res jsonv.Value) Outcome {
	rep := schema.Check(context.Background(), tool, res)
	switch {
	case len(rep.Violations) > 0 && strings.Contains(rep.Violations[0].Msg, "took more than"):
		return Unverified("%s", rep.Violations[0].Msg)
	case len(rep.Violations) > 0:
		return Broken(x, "%s", rep.Violations[0].Msg)
	case len(rep.Warnings) > 0:
		return Unverified("%s", rep.Warnings[0])
	}
	return Held()
}

// examinePrompt examines the messages of a prompt.
func (v *Visit) examinePrompt(x *mcp.Exchange, res jsonv.Value, subject string) {
	message, content := Held(), Held()
	for _, m := range res.Lookup("messages").List() {
		if why := describeWrongMessage(m); why != "" {
			message = Broken(x, "%s", why)
		}
		if why := describeWrongMedia(m.Lookup("content")); why != "" {
			content = Broken(x, "%s", why)
		}
	}
	v.enterAbout("prompt-message", subject, message)
	v.enterAbout("prompt-content", subject, content)
}

// describeWrongMessage says what is wrong with a message of a prompt, "" if nothing is.
func describeWrongMessage(m jsonv.Value) string {
	if role := m.Lookup("role"); role.Text() != "user" && role.Text() != "assistant" {
		return "a message has the role " + role.OrNull().Short(40)
	}
	if m.Lookup("content").Kind() != jsonv.KindObject {
		return "the content of a message is not a block"
	}
	return check.Block(m.Lookup("content"))
}

// describeWrongMedia says what is wrong with the data or the MIME type of a block.
func describeWrongMedia(block jsonv.Value) string {
	if _, err := base64.StdEncoding.DecodeString(block.Lookup("data").Text()); err != nil {
		return "data is not base64: " + err.Error()
	}
	return check.Media(block)
}

// examineResource examines the contents of a resource.
func (v *Visit) examineResource(x *mcp.Exchange, res jsonv.Value, subject string) {
	for _, rule := range []string{"resource-uri", "resource-body", "resource-base64"} {
		o := Held()
		for _, content := range res.Lookup("contents").List() {
			if why := describeWrongContent(rule, content); why != "" {
				o = Broken(x, "%s", why)
			}
		}
		v.enterAbout(rule, subject, o)
	}
}

// describeWrongContent says how a content of a resource breaks a rule, "" if it does not.
func describeWrongContent(rule string, c jsonv.Value) string {
	switch rule {
	case "resource-uri":
		if c.Lookup("uri").Kind() != jsonv.KindString {
			return "a content has no uri"
		}
	case "resource-body":
		if c.Lookup("text").IsAbsent() && c.Lookup("blob").IsAbsent() {
			return "a content has neither text nor blob"
		}
	case "resource-base64":
		if _, err := base64.StdEncoding.DecodeString(c.Lookup("blob").Text()); err != nil {
			return "the blob is not base64: " + err.Error()
		}
	}
	return ""
}
