package model

import (
	"encoding/json"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lists"
)

// anthropicRequest returns a messages request. The format has no seed.
func anthropicRequest(model, system string, turns []Message, tools []Tool) object {
	var messages []any
	for _, t := range turns {
		role := t.Role
		var content []any
		if t.Role == "tool" {
			role = "user"
			res := object{"type": "tool_result", "tool_use_id": t.ID, "content": t.Text}
			if t.IsError {
				res["is_error"] = true
			}
			content = append(content, res)
		} else if t.Text != "" || len(t.Calls) == 0 {
			content = append(content, object{"type": "text", "text": t.Text})
		}
		for _, c := range t.Calls {
			input := json.RawMessage(argumentText(c.Arguments))
			content = append(content, object{"type": "tool_use", "id": c.ID, "name": c.Name, "input": input})
		}
		// Results of several calls of one turn are one message of the user.
		last := len(messages) - 1
		if t.Role == "tool" && last >= 0 && messages[last].(object)["role"] == "user" {
			m := messages[last].(object)
			m["content"] = append(m["content"].([]any), content...)
			continue
		}
		messages = append(messages, object{"role": role, "content": content})
	}
	req := object{"model": model, "messages": messages}
	if system != "" {
		req["system"] = system
	}
	list := lists.Map(tools, func(t Tool) any {
		return object{"name": t.Name, "description": t.Description, "input_schema": schemaOf(t)}
	})
	if len(list) > 0 {
		req["tools"] = list
	}
	return req
}

func anthropicAnswer(v jsonv.Value) (Message, error) {
	content := v.Lookup("content")
	if content.Kind() != jsonv.KindArray {
		return Message{}, without("content", v)
	}
	out := Message{Role: "assistant"}
	var texts []string
	for _, c := range content.Elems() {
		switch c.Lookup("type").Text() {
		case "text":
			texts = append(texts, c.Lookup("text").Text())
		case "tool_use":
			call := callWith(c.Lookup("input"))
			call.ID, call.Name = c.Lookup("id").Text(), c.Lookup("name").Text()
			out.Calls = append(out.Calls, call)
		}
	}
	out.Text = strings.Join(texts, "\n")
	switch v.Lookup("stop_reason").Text() {
	case "refusal":
		return Message{}, newRefusedError(out.Text)
	case "max_tokens":
		return out, cutOff(out)
	}
	return out, nil
}
