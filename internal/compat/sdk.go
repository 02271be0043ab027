package compat

import (
	"errors"
	"slices"
	"strings"

	"mcptest/internal/jsonschema"
	"mcptest/internal/jsonv"
)

// uncompilableOutputs finds outputSchemas that Ajv refuses to compile although they
// are valid JSON Schema, or valid in other engines. Definitions without references
// are never compiled.
func uncompilableOutputs(l List) []place {
	all := l.subschemas("outputSchema")
	return faulty(all, func(p place) string {
		fault := ajvFault(p.value)
		if fault == "" || !referenced(all, p) {
			return ""
		}
		return fault
	})
}

func ajvFault(s jsonv.Value) string {
	if pattern := s.Lookup("pattern"); pattern.Kind() == jsonv.KindString {
		if fault := notUnicodePattern(pattern.Text()); fault != "" {
			return "pattern " + pattern.Text() + ": " + fault
		}
	}
	for pattern, v := range s.Lookup("patternProperties").Members() {
		if v.Kind() != jsonv.KindObject || v.Len() == 0 {
			continue // Ajv has nothing to check here
		}
		if fault := notUnicodePattern(pattern); fault != "" {
			return "patternProperties " + pattern + ": " + fault
		}
	}
	if enum := s.Lookup("enum"); enum.Kind() == jsonv.KindArray && enum.Len() == 0 {
		return "enum is empty"
	}
	if !s.Lookup("id").IsAbsent() {
		return "the keyword id, which is $id since draft 06"
	}
	if s.Lookup("nullable").Bool() && s.Lookup("type").IsAbsent() {
		return "nullable without type"
	}
	return ""
}

// referenced reports whether a schema is part of the tool's main schema, or of a
// definition that the same tool references.
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

// notDraft2020 finds input schemas that are invalid in draft 2020-12, including those
// that declare another draft.
func notDraft2020(l List) []place {
	return faulty(l.schema("inputSchema"), func(p place) string {
		schema := p.value
		if schema.Kind() != jsonv.KindObject {
			return ""
		}
		if !schema.Lookup("$schema").IsAbsent() {
			schema = schema.With("$schema", jsonv.String("https://json-schema.org/draft/2020-12/schema"))
		}
		return invalid(schema, func(*jsonschema.Error) bool { return false })
	})
}

func invalidInputs(l List) []place {
	return faulty(l.schema("inputSchema"), func(p place) string {
		return invalid(p.value, func(fault *jsonschema.Error) bool {
			// Draft 07 only recommends that an enum is not empty.
			return strings.HasSuffix(fault.Pointer, "/enum") && len(fault.Rest) == 0
		})
	})
}

// invalidOutputs finds outputSchemas that Ajv refuses. The SDK does not validate the
// schema against its metaschema, and takes one that declares no dialect for draft 07.
func invalidOutputs(l List) []place {
	return faulty(l.schema("outputSchema"), func(p place) string {
		schema := p.value
		if schema.Kind() == jsonv.KindObject && schema.Lookup("$schema").IsAbsent() {
			schema = schema.With("$schema", jsonv.String("http://json-schema.org/draft-07/schema#"))
		}
		return invalid(schema, ajvAccepts)
	})
}

func ajvAccepts(fault *jsonschema.Error) bool {
	for _, f := range append([]*jsonschema.Error{fault}, fault.Rest...) {
		switch {
		case f.Pointer == "/$schema", strings.HasSuffix(f.Pointer, "/$dynamicRef"):
		case strings.HasSuffix(f.Msg, "are equal"): // names in required, types
		case strings.HasPrefix(f.Msg, "expected at least 0, got"), strings.HasPrefix(f.Msg, "expected more than 0, got"):
		case strings.HasPrefix(f.Msg, "expected type integer, got number"):
		case (strings.HasSuffix(f.Pointer, "/type") || strings.HasSuffix(f.Pointer, "/items")) && f.Msg == "expected at least 1 item, got 0":
		default:
			return false
		}
	}
	return true
}

// invalid returns why a schema does not compile, "" for one that does or whose fault
// is accepted. A schema beyond the limits of package jsonschema may be valid.
func invalid(schema jsonv.Value, accepted func(*jsonschema.Error) bool) string {
	_, err := jsonschema.Compile(schema, jsonschema.Options{})
	if fault, ok := errors.AsType[*jsonschema.Error](err); ok && !fault.Limit && !accepted(fault) {
		return fault.Error()
	}
	return ""
}
