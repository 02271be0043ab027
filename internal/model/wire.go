package model

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lists"
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
			calls = append(calls, object{"id": c.ID, "type": "function", "function": object{"name": c.Name, "arguments": argumentText(c.Arguments)}})
		}
		if len(calls) > 0 {
			m["tool_calls"] = calls
		}
		messages = append(messages, m)
	}
	req := object{"model": model, "messages": messages, "stream": false}
	var list []any
	for _, t := range tools {
		list = append(list, object{"type": "function", "function": object{"name": t.Name, "description": t.Description, "parameters": schemaOf(t)}})
	}
	if len(list) > 0 {
		req["tools"] = list
	}
	return req
}

// argumentText returns a call's arguments for the conversation: endpoints reject
// arguments that are not an object.
func argumentText(v jsonv.Value) string {
	if v.Kind() != jsonv.KindObject {
		return "{}"
	}
	return v.String()
}

func schemaOf(t Tool) json.RawMessage {
	if t.Schema.Kind() != jsonv.KindObject {
		return json.RawMessage(`{"type":"object"}`)
	}
	return t.Schema.Append(nil)
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

// callWith reads the arguments of a call, which may be JSON in a text. Many models write
// nothing, or null, for no arguments: clients take that for {}.
func callWith(written jsonv.Value) Call {
	text, args := written.Text(), written
	if written.Kind() == jsonv.KindString {
		args, _ = jsonv.Parse([]byte(text))
	} else if !written.IsAbsent() {
		text = written.String()
	}
	if nothing := strings.TrimSpace(text); nothing == "" || nothing == "null" {
		return Call{Arguments: jsonv.Object(), Raw: text, Filled: true}
	}
	return Call{Arguments: args, Raw: text}
}

// without returns the error for a response without the expected key, with an excerpt.
func without(key string, v jsonv.Value) error {
	if why := errorIn(v); why != "" {
		return fmt.Errorf("%w: it is an error: %s", ErrUnusable, clip(why))
	}
	return fmt.Errorf("%w: it has no %s", ErrUnusable, key)
}

// errorIn returns the message of an error response, "" if it is none.
func errorIn(v jsonv.Value) string {
	return cmp.Or(v.Lookup("error", "message").Text(), v.Lookup("error").Text())
}

func newRefusedError(why string) error { return fmt.Errorf("%w: %s", ErrRefused, clip(why)) }

// cutOff returns the error of an answer that reached its length limit without
// content.
func cutOff(m Message) error {
	if strings.TrimSpace(m.Text) == "" && len(m.Calls) == 0 {
		return fmt.Errorf("%w: it was cut off at %d tokens before any text", ErrUnusable, answerTokens)
	}
	return nil
}

// clip returns the beginning of a foreign text in one line.
func clip(s string) string { return display.Truncate(display.OneLine(s), shownColumns) }

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
			content = append(content, object{"type": "tool_use", "id": c.ID, "name": c.Name, "input": json.RawMessage(argumentText(c.Arguments))})
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
