package compat

import (
	"errors"
	"slices"
	"strings"

	"mcptest/internal/jsonschema"
	"mcptest/internal/jsonv"
)

// uncompilableOutputs finds what Ajv refuses to compile in an outputSchema
// although it is valid JSON Schema, or is valid in other engines. Definitions
// that no reference names are never compiled.
func uncompilableOutputs(l List) []place {
	var out []place
	all := l.subschemas("outputSchema")
	for _, p := range all {
		if fault := ajvFault(p.value); fault != "" && referenced(all, p) {
			p.value = jsonv.String(fault)
			out = append(out, p)
		}
	}
	return out
}

func ajvFault(s jsonv.Value) string {
	if pattern := s.Lookup("pattern"); pattern.Kind() == jsonv.KindString {
		if fault := notUnicodePattern(pattern.Text()); fault != "" {
			return "pattern " + pattern.Text() + ": " + fault
		}
	}
	for pattern, v := range s.Lookup("patternProperties").Members() {
		if v.Kind() != jsonv.KindObject || v.Len() == 0 {
			continue // Ajv has nothing to check there
		}
		if fault := notUnicodePattern(pattern); fault != "" {
			return "patternProperties " + pattern + ": " + fault
		}
	}
	if enum := s.Lookup("enum"); enum.Kind() == jsonv.KindArray && enum.Len() == 0 {
		return "enum is empty"
	}
	if s.Lookup("nullable").Bool() && s.Lookup("type").IsAbsent() {
		return "nullable without type"
	}
	return ""
}

// referenced reports whether a schema is part of the tool's main schema, or of
// a definition that a reference of the same tool names.
func referenced(all []place, p place) bool {
	for _, home := range []string{"/$defs/", "/definitions/"} {
		if _, rest, ok := strings.Cut(p.pointer, home); ok {
			name, _, _ := strings.Cut(rest, "/")
			return slices.ContainsFunc(all, func(q place) bool {
				return q.tool == p.tool && strings.HasSuffix(q.value.Lookup("$ref").Text(), home+name)
			})
		}
	}
	return true
}

// notDraft2020 finds input schemas that are invalid in draft 2020-12, also those
// that declare another draft.
func notDraft2020(l List) []place {
	var out []place
	for _, p := range l.schema("inputSchema") {
		if p.value.Kind() != jsonv.KindObject {
			continue
		}
		schema := p.value
		if !schema.Lookup("$schema").IsAbsent() {
			schema = schema.With("$schema", jsonv.String("https://json-schema.org/draft/2020-12/schema"))
		}
		if fault := invalid(schema); fault != nil {
			p.value = jsonv.String(fault.Error())
			out = append(out, p)
		}
	}
	return out
}

func invalidInputs(l List) []place {
	var out []place
	for _, p := range l.schema("inputSchema") {
		// Draft 07 says no more than that an enum should not be empty.
		if fault := invalid(p.value); fault != nil && (!strings.HasSuffix(fault.Pointer, "/enum") || len(fault.Rest) > 0) {
			p.value = jsonv.String(fault.Error())
			out = append(out, p)
		}
	}
	return out
}

// invalidOutputs finds what Ajv refuses in an outputSchema. The SDK does not
// compare the schema with its metaschema.
func invalidOutputs(l List) []place {
	var out []place
	for _, p := range l.schema("outputSchema") {
		if fault := invalid(p.value); fault != nil && !ajvAccepts(fault) {
			p.value = jsonv.String(fault.Error())
			out = append(out, p)
		}
	}
	return out
}

func ajvAccepts(fault *jsonschema.Error) bool {
	for _, f := range append([]*jsonschema.Error{fault}, fault.Rest...) {
		switch {
		case f.Pointer == "/$schema", strings.HasSuffix(f.Pointer, "/$dynamicRef"):
		case strings.HasSuffix(f.Pointer, "/required") && strings.HasSuffix(f.Msg, "are equal"):
		case strings.HasPrefix(f.Msg, "expected at least 0, got"):
		default:
			return false
		}
	}
	return true
}

// invalid returns why a schema does not compile. One that is too large for us
// may be valid.
func invalid(schema jsonv.Value) *jsonschema.Error {
	_, err := jsonschema.Compile(schema, jsonschema.Options{})
	var fault *jsonschema.Error
	if errors.As(err, &fault) && !fault.Limit {
		return fault
	}
	return nil
}
