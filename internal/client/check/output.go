package check

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"mcptest/internal/base/jsonschema"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/protocol"
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
	// formats is the schema with formats as assertions; nil if they are annotations in
	// its draft.
	formats *jsonschema.Schema
}

// NewOutputSchema returns the schema that a tool declares, or nil for a tool without
// one. A doc that is not an object is a violation of [Entry], and counts as no schema.
func NewOutputSchema(doc jsonv.Value) *OutputSchema {
	if doc.Kind() != jsonv.KindObject {
		return nil
	}
	return &OutputSchema{doc: doc}
}

// Doc returns the schema as the server sent it; absent if there is none.
func (o *OutputSchema) Doc() jsonv.Value {
	if o == nil {
		return jsonv.Value{}
	}
	return o.doc
}

func (o *OutputSchema) compile() {
	o.s, o.err = jsonschema.Compile(o.doc, jsonschema.Options{DefaultDraft: "2020-12", IgnoreFormat: true})
	if o.err == nil && strings.Contains(o.doc.Lookup("$schema").Text(), "json-schema.org/draft-0") {
		o.formats, o.err = jsonschema.Compile(o.doc, jsonschema.Options{})
	}
}

// Check validates the structuredContent of a tool's result. It is optional in a
// result with isError, in a result that is not the tool's, and in an error response.
func (o *OutputSchema) Check(ctx context.Context, tool string, res jsonv.Value) Report {
	isToolResult := !res.IsAbsent() && !isOtherResult(res) && !isTask(res)
	if o == nil || !isToolResult || res.Lookup("isError").Bool() {
		return Report{}
	}
	o.once.Do(o.compile)
	if o.err != nil {
		return Report{Warnings: []string{fmt.Sprintf("the outputSchema of %s is not a valid schema: %v", tool, o.err)}}
	}
	broken := func(excerpt, format string, args ...any) Report {
		return Report{Violations: []protocol.Violation{{Kind: "output-schema", Msg: fmt.Sprintf(format, args...), Excerpt: excerpt}}}
	}
	got, ok := res.Get("structuredContent")
	if !ok {
		return broken("", "tool %s declares an outputSchema, but the result has no structuredContent", tool)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), schemaTime)
	defer cancel()
	wrong, fault, err := o.validate(ctx, got)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return broken("", "the check against the outputSchema took more than 1s")
	case err != nil:
		return Report{Warnings: []string{fmt.Sprintf("structuredContent was not compared with the outputSchema of %s: %v", tool, err)}}
	case fault == "":
		return Report{}
	case !wrong:
		return Report{Warnings: []string{fmt.Sprintf("structuredContent may not match the outputSchema of %s: %s; in its draft a client may check format or ignore it", tool, fault)}}
	}
	return broken(got.Short(200), "structuredContent does not match the outputSchema of %s: %s", tool, fault)
}

// validate returns the first fault of a value, and whether it is one without regard to
// format as well, and with it.
func (o *OutputSchema) validate(ctx context.Context, v jsonv.Value) (wrong bool, fault string, err error) {
	list, err := o.s.Validate(ctx, v)
	if err != nil || o.formats == nil {
		return len(list) > 0, joinFaults(list), err
	}
	strict, err := o.formats.Validate(ctx, v)
	wrong = len(strict) > 0 && slices.ContainsFunc(list, func(v jsonschema.Violation) bool { return v.Keyword != "format" })
	if len(list) > 0 {
		return wrong, joinFaults(list), err
	}
	return wrong, joinFaults(strict), err
}

// joinFaults describes the first violation and counts the others.
func joinFaults(list []jsonschema.Violation) string {
	if len(list) == 0 {
		return ""
	}
	msg := "structuredContent"
	if list[0].InstancePath != "" {
		msg += "." + list[0].InstancePath
	}
	msg += ": " + list[0].Msg
	if len(list) > 1 {
		msg += fmt.Sprintf(" (and %d more)", len(list)-1)
	}
	return msg
}

// findContradiction returns the place where the text of a result contradicts its
// structuredContent, or "". A server that returns both should return the same data
// (MCP 2025-06-18, structured content); text that omits members or is one of the
// members does not contradict.
func findContradiction(res jsonv.Value) string {
	structured, ok := res.Get("structuredContent")
	content := res.Lookup("content")
	if !ok || structured.Kind() != jsonv.KindObject {
		return ""
	}
	if content.Len() != 1 || content.At(0).Lookup("type").Text() != "text" {
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
		got, _ := v.Get(key)
		if ok && !jsonv.Equal(got, want) {
			return jsonv.JoinKey("structuredContent", key)
		}
	}
	return ""
}
