package model

import (
	"mcptest/internal/base/jsonv"
)

// openAIRequest returns a chat completion request.
func openAIRequest(model, system string, turns []Message, tools []Tool) object {
	var messages []any
	if system != "" {
		messages = append(messages, object{"role": "system", "content": system})
	}
	for _, t := range turns {
		m := object{"role": t.Role, "content": t.Text}
		if t.Role == "tool" {
			m["tool_call_id"] = t.ID
			if t.IsError { // the form has no flag
				m["content"] = failure + t.Text
			}
		}
		var calls []any
		for _, c := range t.Calls {
			function := object{"name": c.Name, "arguments": argumentText(c.Arguments)}
			calls = append(calls, object{"id": c.ID, "type": "function", "function": function})
		}
		if len(calls) > 0 {
			m["tool_calls"] = calls
		}
		messages = append(messages, m)
	}
	req := object{"model": model, "messages": messages, "stream": false}
	var list []any
	for _, t := range tools {
		function := object{"name": t.Name, "description": t.Description, "parameters": schemaOf(t)}
		list = append(list, object{"type": "function", "function": function})
	}
	if len(list) > 0 {
		req["tools"] = list
	}
	return req
}

func openAIAnswer(v jsonv.Value) (Message, error) {
	choice := v.Lookup("choices").At(0)
	m := choice.Lookup("message")
	if m.Kind() != jsonv.KindObject {
		return Message{}, without("choices", v)
	}
	out := Message{Role: "assistant", Text: m.Lookup("content").Text()}
	for _, part := range m.Lookup("content").Elems() {
		out.Text += part.Lookup("text").Text()
	}
	if refusal := m.Lookup("refusal").Text(); refusal != "" {
		return Message{}, newRefusedError(refusal)
	}
	for _, c := range m.Lookup("tool_calls").Elems() {
		call := callWith(c.Lookup("function", "arguments"))
		call.ID, call.Name = c.Lookup("id").Text(), c.Lookup("function", "name").Text()
		out.Calls = append(out.Calls, call)
	}
	switch choice.Lookup("finish_reason").Text() {
	case "content_filter":
		return Message{}, newRefusedError("a filter blocked the answer")
	case "length":
		return out, cutOff(out)
	}
	return out, nil
}
