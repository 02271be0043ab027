package manifest

import "mcptest/internal/base/jsonv"

// A ResultOf builds the result of a response without error or raw bytes.
type ResultOf func(Values, *Response) jsonv.Value

// Answer returns the contents for a text of a response, or those of the reading
// itself.
func (r Reading) Answer(values Values, res *Response) jsonv.Value {
	key, data := "text", res.text
	if r.blob != nil {
		key, data = "blob", r.blob
	}
	if data == nil {
		return jsonv.ObjectOf("contents", jsonv.Array())
	}
	return jsonv.ObjectOf("contents", jsonv.Array(jsonv.ObjectOf("uri", values("uri"), "mimeType", r.mime, key, data.Text(values))))
}

// Answer returns the result of prompts/get.
func (p *Prompt) Answer(values Values, r *Response) jsonv.Value {
	messages := r.messages.Eval(values)
	if r.text != nil {
		messages = jsonv.Array(newUserMessage(newTextBlock(r.text)).Eval(values))
	}
	if messages.IsAbsent() {
		messages = jsonv.Array()
	}
	return jsonv.ObjectOf("description", p.description, "messages", messages, "_meta", r.meta.Eval(values))
}

// ResultOfTool returns the result of tools/call. A structured result without any
// content gets its JSON as a text block, as MCP recommends for old clients.
func ResultOfTool(values Values, r *Response) jsonv.Value {
	structured := r.structured.Eval(values)
	content := r.content.Eval(values)
	switch {
	case r.text != nil:
		content = jsonv.Array(newTextBlock(r.text).Eval(values))
	case !content.IsAbsent():
	case !structured.IsAbsent():
		content = jsonv.Array(newTextBlock(newLiteral(structured)).Eval(values))
	default:
		content = jsonv.Array()
	}
	isError := r.isError.Eval(values)
	if isError.Kind() == jsonv.KindString {
		isError = jsonv.Bool(isError.Text() == "true")
	}
	return jsonv.ObjectOf("content", content, "structuredContent", structured, "isError", isError, "_meta", r.meta.Eval(values))
}

// ResultOfMethod returns the result of a method that the manifest defines itself: its
// structured part as the whole result, or the result that a tool would return.
func ResultOfMethod(values Values, r *Response) jsonv.Value {
	if r.text == nil && r.content == nil && r.structured == nil {
		return jsonv.Object()
	}
	return ResultOfTool(values, r)
}
