package compat

import (
	"errors"
	"slices"
	"strings"

	"mcptest/internal/base/jsonschema"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lazy"
	"mcptest/internal/client/handshake"
)

// findNotDraft2020 finds input schemas that are invalid in draft 2020-12, including those
// that declare another draft.
func findNotDraft2020(l List) []place {
	return keepFaulty(l.selectSchemas("inputSchema"), func(p place) string {
		schema := p.value
		if schema.Kind() != jsonv.KindObject {
			return ""
		}
		if !schema.Lookup("$schema").IsAbsent() {
			schema = schema.With("$schema", jsonv.String("https://json-schema.org/draft/2020-12/schema"))
		}
		return explainInvalid(schema, func(*jsonschema.Error) bool { return false })
	})
}

func findInvalidInputs(l List) []place {
	return keepFaulty(l.selectSchemas("inputSchema"), func(p place) string {
		return explainInvalid(p.value, func(fault *jsonschema.Error) bool {
			// Draft 07 only recommends that an enum is not empty.
			return strings.HasSuffix(fault.Pointer, "/enum") && len(fault.Rest) == 0
		})
	})
}

// findInvalidOutputs finds outputSchemas that version 1 of the SDK cannot compile. It takes
// every schema for draft 07, and one instance of Ajv compiles those of all tools.
func findInvalidOutputs(l List) []place {
	compiler := newAjv(7)
	return keepFaulty(l.selectSchemas("outputSchema"), func(p place) string {
		if p.value.Kind() != jsonv.KindObject {
			return ""
		}
		return compiler.compile(p.value)
	})
}

// findUncallableOutputs finds outputSchemas that version 2 of the SDK cannot compile, which
// it does before the first call of the tool.
func findUncallableOutputs(l List) []place {
	compilers := map[int]*ajv{}
	return keepFaulty(l.selectSchemas("outputSchema"), func(p place) string {
		if p.value.Kind() != jsonv.KindObject {
			return ""
		}
		dialect, declared := 2020, p.value.Lookup("$schema")
		if declared.Kind() == jsonv.KindString {
			if dialect = ajvDialects[strings.TrimSuffix(uriScheme().ReplaceAllString(declared.Text(), ""), "#")]; dialect == 0 {
				return "the dialect " + declared.Short(80) + " is not supported"
			}
		}
		if compilers[dialect] == nil {
			compilers[dialect] = newAjv(dialect)
		}
		return compilers[dialect].compile(p.value)
	})
}

var uriScheme = lazy.Regexp(`^https?://json-schema\.org/`)

// ajvDialects are the values of $schema that version 2 of the SDK accepts, without the
// address of json-schema.org.
var ajvDialects = map[string]int{"draft/2020-12/schema": 2020, "draft/2019-09/schema": 2019, "draft-07/schema": 7, "draft-06/schema": 7}

// explainInvalid returns why a schema does not compile, "" for one that does or whose fault
// is accepted. A schema beyond the limits of package jsonschema may be valid.
func explainInvalid(schema jsonv.Value, accepted func(*jsonschema.Error) bool) string {
	_, err := jsonschema.Compile(schema, jsonschema.Options{})
	if fault, ok := errors.AsType[*jsonschema.Error](err); ok && !fault.Limit && !accepted(fault) {
		return fault.Error()
	}
	return ""
}

// findHeaderFaults finds tools whose x-mcp-header names no HTTP header, and those that are
// null. A property of a list of types is beyond the check of the Go SDK, which then
// examines none of the tool.
func findHeaderFaults(l List) []place {
	return keepFaulty(l.selectEach("/inputSchema", func(t jsonv.Value) jsonv.Value { return t }), func(p place) string {
		if p.value.Kind() == jsonv.KindNull {
			return "the tool is null"
		}
		fault := ""
		if !checkHeaders(p.value.Lookup("inputSchema"), "", map[string]bool{}, &fault) {
			return ""
		}
		return fault
	})
}

var headerForm = lazy.Regexp("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")

// checkHeaders checks the headers of a schema's properties, and reports whether all of them
// could be read.
func checkHeaders(schema jsonv.Value, path string, seen map[string]bool, fault *string) bool {
	props := schema.Lookup("properties")
	for _, v := range []struct {
		jsonv.Value
		kind jsonv.Kind
	}{{schema, jsonv.KindObject}, {schema.Lookup("type"), jsonv.KindString}, {props, jsonv.KindObject}} {
		if !v.IsAbsent() && v.Kind() != jsonv.KindNull && v.Kind() != v.kind {
			return false
		}
	}
	for name, prop := range props.Effective {
		header := prop.Lookup("x-mcp-header")
		lower := strings.ToLower(header.Text())
		at := path + name
		switch {
		case header.IsAbsent():
		case !slices.Contains([]string{"string", "integer", "boolean"}, prop.Lookup("type").Text()):
			*fault = at + " has x-mcp-header, and its type is not string, integer or boolean"
		case !headerForm().MatchString(lower):
			*fault = "x-mcp-header of " + at + " is " + header.Short(60)
		case seen[lower]:
			*fault = "x-mcp-header " + header.Short(60) + " occurs twice"
		}
		seen[lower] = true
		if !checkHeaders(prop, path+name+".", seen, fault) {
			return false
		}
	}
	return true
}

// detectHandshake finds the members of the handshake that keep one of the clients from
// connecting.
func detectHandshake(clients ...handshake.Reader) func(List) []place {
	return func(l List) (out []place) {
		for _, fault := range handshake.Faults(l.Handshake, !l.Handshake.Lookup("supportedVersions").IsAbsent()) {
			stops := func(r handshake.Reader) bool { return slices.Contains(clients, r) }
			if i := slices.IndexFunc(fault.Refused, stops); i >= 0 {
				var stopped []handshake.Reader
				for _, r := range fault.Refused {
					if stops(r) {
						stopped = append(stopped, r)
					}
				}
				fault.Refused = stopped
				out = append(out, place{subject: "handshake", value: jsonv.String(fault.String())})
			}
		}
		return out
	}
}
