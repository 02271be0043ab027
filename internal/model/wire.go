package model

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
)

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
