package catalog

import (
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/evidence"
)

// Types are free text in introspection. This file parses the forms that adapters use.

// typeExpr is a parsed type text.
type typeExpr struct {
	name  string    // lower case, of a simple type
	elem  *typeExpr // of a list; nil if not documented
	list  bool
	union []typeExpr
}

// ParseType reads the free text that adapters write for types: "string",
// "Genre", "string[]", "array<Tag>", "list of text", "string | null".
func ParseType(s string) typeExpr {
	s = strings.TrimSpace(s)
	if parts := splitTop(s, '|'); len(parts) > 1 {
		return typeExpr{union: evidence.Each(parts, ParseType)}
	}
	if strings.HasPrefix(s, "(") && strings.HasSuffix(s, ")") {
		return ParseType(s[1 : len(s)-1])
	}
	low := strings.ToLower(s)
	for _, form := range [][2]string{{"", "[]"}, {"array<", ">"}, {"list<", ">"}, {"array of ", ""}, {"list of ", ""}} {
		if strings.HasPrefix(low, form[0]) && strings.HasSuffix(low, form[1]) {
			e := ParseType(s[len(form[0]) : len(s)-len(form[1])])
			return typeExpr{list: true, elem: &e}
		}
	}
	if low == "array" || low == "list" {
		return typeExpr{list: true}
	}
	return typeExpr{name: low}
}

// splitTop splits a text at a separator outside brackets.
func splitTop(s string, sep byte) []string {
	var out []string
	depth, from := 0, 0
	for i := range len(s) {
		switch s[i] {
		case '<', '(', '{', '[':
			depth++
		case '>', ')', '}', ']':
			depth--
		case sep:
			if depth == 0 {
				out = append(out, s[from:i])
				from = i + 1
			}
		}
	}
	return append(out, s[from:])
}

// basicKinds holds the names that adapters use for the JSON types, in lower case.
var basicKinds = map[string]string{
	"string": "string", "text": "string", "str": "string", "date": "string", "datetime": "string", "date-time": "string", "uuid": "string",
	"uri": "string", "url": "string", "email": "string", "id": "string", "identifier": "string", "integer": "integer", "int": "integer", "long": "integer",
	"number": "number", "float": "number", "double": "number", "decimal": "number", "boolean": "boolean", "bool": "boolean",
	"object": "object", "map": "object", "json": "object", "record": "object", "dict": "object", "any": "any", "unknown": "any", "null": "any", "": "any",
}

// JSONKind returns the single JSON type of a parameter's values, "" if there are
// several or it is unknown.
func (cat *Catalog) JSONKind(p Parameter) string {
	t := ParseType(p.Type)
	switch {
	case len(t.union) > 0:
		return ""
	case t.list:
		return "array"
	}
	if k := basicKinds[t.name]; k != "" {
		return k
	}
	if n := cat.Types[t.name]; n != nil {
		switch n.Kind {
		case "enum":
			if v := enumValue(n.Detail.Lookup("values").At(0)); v.Kind() == jsonv.KindString {
				return "string"
			}
		case "object":
			return "object"
		}
	}
	return ""
}

// freeObject reports whether an object's members are not prescribed.
func (cat *Catalog) freeObject(p Parameter) bool {
	return basicKinds[ParseType(p.Type).name] == "object" && p.Schema.Lookup("properties").IsAbsent()
}

// TakesObject reports whether an operation creates something from a nested object.
func (cat *Catalog) TakesObject(op *Operation) bool {
	return op.Category == "CREATE" && slices.ContainsFunc(op.Params, cat.freeObject)
}

// enumValue returns an entry of an enum: the value, or the one inside an object.
func enumValue(v jsonv.Value) jsonv.Value {
	if v.Kind() == jsonv.KindObject {
		for _, key := range []string{"value", "name"} {
			if e, ok := v.Get(key); ok {
				return e
			}
		}
	}
	return v
}
