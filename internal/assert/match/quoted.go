package match

import (
	"strings"

	"mcptest/internal/assert/jsonpath"
	"mcptest/internal/assert/target"
	"mcptest/internal/base/jsonv"
)

// isBooleanText reports whether a value is the text true or false.
func isBooleanText(v jsonv.Value) bool {
	return v.Kind() == jsonv.KindString && (v.Text() == "true" || v.Text() == "false")
}

// quotesBoolean reports whether the text true or false is compared with a boolean that is
// declared as one. Its negation would pass for every value.
func quotesBoolean(want jsonv.Value, s target.Subject, env *Env) bool {
	if !isBooleanText(want) || s.Value.Kind() != jsonv.KindBool || env == nil || env.Output == nil {
		return false
	}
	return declaresBoolean(env.Output(), s.Target)
}

// declaresBoolean reports whether a tool's outputSchema allows nothing but a boolean, or
// null, for a target.
func declaresBoolean(schema jsonv.Value, written string) bool {
	path, ok := strings.CutPrefix(written, "structured")
	if !ok {
		path, _ = strings.CutPrefix(written, "result")
		path = strings.TrimPrefix(path, ".structuredContent")
	}
	steps, _, err := jsonpath.Parse("$" + path)
	if err != nil || len(steps) == 0 {
		return false
	}
	at := schema
	for _, step := range steps {
		at = resolveRef(schema, at)
		switch step.Kind {
		case jsonpath.Name:
			at = at.Lookup("properties", step.Name)
		case jsonpath.Index, jsonpath.All:
			if items := at.Lookup("items"); !items.IsAbsent() { // each counts elements of a target with [*]
				at = items
			}
		default:
			return false
		}
	}
	return onlyBoolean(resolveRef(schema, at).Lookup("type"))
}

// resolveRef follows the reference of a schema to its definitions.
func resolveRef(root, schema jsonv.Value) jsonv.Value {
	const longest = 8
	for range longest {
		ref := schema.Lookup("$ref").Text()
		name, ok := strings.CutPrefix(ref, "#/")
		if !ok {
			return schema
		}
		schema = root.Lookup(strings.Split(name, "/")...)
	}
	return jsonv.Value{}
}

// onlyBoolean reports whether a type is boolean, or boolean and null.
func onlyBoolean(kind jsonv.Value) bool {
	if kind.Kind() != jsonv.KindArray {
		return kind.Text() == "boolean"
	}
	found := false
	for _, one := range kind.List() {
		if one.Text() != "boolean" && one.Text() != "null" {
			return false
		}
		found = found || one.Text() == "boolean"
	}
	return found
}
