package mock

import "mcptest/internal/base/jsonv"

// A resultOf builds the result of a response without error or raw bytes.
type resultOf func(Values, *response) jsonv.Value

// answer returns the contents for a text of a response, or those of the reading
// itself.
func (r reading) answer(values Values, res *response) jsonv.Value {
	key, data := "text", res.text
	if r.blob != nil {
		key, data = "blob", r.blob
	}
	if data == nil {
		return jsonv.ObjectOf("contents", jsonv.Array())
	}
	return jsonv.ObjectOf("contents", jsonv.Array(jsonv.ObjectOf("uri", values("uri"), "mimeType", r.mime, key, data.text(values))))
}

// answer returns the result of prompts/get.
func (p *prompt) answer(values Values, r *response) jsonv.Value {
	messages := r.messages.eval(values)
	if r.text != nil {
		messages = jsonv.Array(userMessage(textBlock(r.text)).eval(values))
	}
	if messages.IsAbsent() {
		messages = jsonv.Array()
	}
	return jsonv.ObjectOf("description", p.description, "messages", messages, "_meta", r.meta.eval(values))
}

// resultOfTool returns the result of tools/call. A structured result without any
// content gets its JSON as a text block, as MCP recommends for old clients.
func resultOfTool(values Values, r *response) jsonv.Value {
	structured := r.structured.eval(values)
	content := r.content.eval(values)
	switch {
	case r.text != nil:
		content = jsonv.Array(textBlock(r.text).eval(values))
	case !content.IsAbsent():
	case !structured.IsAbsent():
		content = jsonv.Array(textBlock(literal(structured)).eval(values))
	default:
		content = jsonv.Array()
	}
	isError := r.isError.eval(values)
	if isError.Kind() == jsonv.KindString {
		isError = jsonv.Bool(isError.Text() == "true")
	}
	return jsonv.ObjectOf("content", content, "structuredContent", structured, "isError", isError, "_meta", r.meta.eval(values))
}

// resultOfMethod returns the result of a method that the manifest defines itself: its
// structured part as the whole result, or the result that a tool would return.
func resultOfMethod(values Values, r *response) jsonv.Value {
	if r.text == nil && r.content == nil && r.structured == nil {
		return jsonv.Object()
	}
	return resultOfTool(values, r)
}
