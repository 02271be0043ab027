package check

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"mcptest/internal/jsonschema"
	"mcptest/internal/jsonv"
	"mcptest/internal/mcp/protocol"
)

// schemaTime limits one validation against an outputSchema.
const schemaTime = time.Second

// OutputSchema is a tool's schema of its structuredContent. It is compiled on first
// use.
type OutputSchema struct {
	doc  jsonv.Value
	once sync.Once
	s    *jsonschema.Schema
	err  error
}

// NewOutputSchema returns the schema that a tool declares, or nil for a tool without
// one. A doc that is not an object is a violation of [Entry], and counts as no schema.
func NewOutputSchema(doc jsonv.Value) *OutputSchema {
	if doc.Kind() != jsonv.KindObject {
		return nil
	}
	return &OutputSchema{doc: doc}
}

// Check validates the structuredContent of a tool's result. It is optional in a
// result with isError and in an error response.
func (o *OutputSchema) Check(ctx context.Context, tool string, res jsonv.Value) Report {
	if o == nil || res.IsAbsent() || res.Lookup("isError").Bool() {
		return Report{}
	}
	broken := func(excerpt, format string, args ...any) Report {
		return Report{Violations: []protocol.Violation{{Kind: "output-schema", Msg: fmt.Sprintf(format, args...), Excerpt: excerpt}}}
	}
	o.once.Do(func() { o.s, o.err = jsonschema.Compile(o.doc, jsonschema.Options{DefaultDraft: "2020-12"}) })
	if o.err != nil {
		return Report{Warnings: []string{fmt.Sprintf("the outputSchema of %s is not a valid schema: %v", tool, o.err)}}
	}
	got, ok := res.Get("structuredContent")
	if !ok {
		return broken("", "tool %s declares an outputSchema, but the result has no structuredContent", tool)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), schemaTime)
	defer cancel()
	wrong, err := o.s.Validate(ctx, got)
	if err != nil {
		return broken("", "the check against the outputSchema took more than 1s")
	}
	if len(wrong) == 0 {
		return Report{}
	}
	at := "structuredContent"
	if wrong[0].InstancePath != "" {
		at += "." + wrong[0].InstancePath
	}
	msg := fmt.Sprintf("structuredContent does not match the outputSchema of %s: %s: %s", tool, at, wrong[0].Msg)
	if len(wrong) > 1 {
		msg += fmt.Sprintf(" (and %d more)", len(wrong)-1)
	}
	return broken(got.Short(200), "%s", msg)
}

// contradiction returns the place where the text of a result contradicts its
// structuredContent, or "". A server that returns both should return the same data
// (MCP 2025-06-18, structured content); text that omits members or is one of the
// members does not contradict.
func contradiction(res jsonv.Value) string {
	structured, ok := res.Get("structuredContent")
	content := res.Lookup("content")
	if !ok || structured.Kind() != jsonv.KindObject || content.Len() != 1 || content.At(0).Lookup("type").Text() != "text" {
		return ""
	}
	text := []byte(strings.TrimSpace(content.At(0).Lookup("text").Text()))
	if !bytes.HasPrefix(text, []byte("{")) {
		return ""
	}
	v, err := jsonv.Parse(text)
	if err != nil {
		return ""
	}
	for _, key := range v.Keys() {
		want, ok := structured.Get(key)
		if got, _ := v.Get(key); ok && !jsonv.Equal(got, want) {
			return jsonv.JoinKey("structuredContent", key)
		}
	}
	return ""
}
