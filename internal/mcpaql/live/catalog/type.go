package catalog

import (
	"cmp"
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lists"
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
		return typeExpr{union: lists.Map(parts, ParseType)}
	}
	if strings.HasPrefix(s, "(") && strings.HasSuffix(s, ")") {
		return ParseType(s[1 : len(s)-1])
	}
	low := strings.ToLower(s)
	for _, form := range [][2]string{
		{"", "[]"},
		{"array<", ">"},
		{"list<", ">"},
		{"array of ", ""},
		{"list of ", ""},
	} {
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

// FindJSONKind returns the single JSON type of a parameter's values, "" if there are
// several or it is unknown.
func (cat *Catalog) FindJSONKind(p Parameter) string {
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
	n := cat.Types[t.name]
	switch {
	case n == nil:
	case n.Kind == "enum" && readEnumValue(n.Detail.Lookup("values").At(0)).Kind() == jsonv.KindString:
		return "string"
	case n.Kind == "object":
		return "object"
	}
	return ""
}

// isFreeObject reports whether an object's members are not prescribed.
func (cat *Catalog) isFreeObject(p Parameter) bool {
	return basicKinds[ParseType(p.Type).name] == "object" && p.Schema.Lookup("properties").IsAbsent()
}

// TakesObject reports whether an operation creates something from a nested object.
func (cat *Catalog) TakesObject(op *Operation) bool {
	return op.Category == "CREATE" && slices.ContainsFunc(op.Params, cat.isFreeObject)
}

// readEnumValue returns an entry of an enum: the value, or the one inside an object.
func readEnumValue(v jsonv.Value) jsonv.Value { return cmp.Or(v.Lookup("value"), v.Lookup("name"), v) }

// findEnum lists the values that a parameter accepts: its own enum, that of its type,
// or that of the type to which its name refers.
func (cat *Catalog) findEnum(p Parameter) []jsonv.Value {
	list := cat.findDocumentedEnum(p)
	if list.Len() == 0 && p.linked != nil {
		list = p.linked.Detail.Lookup("values")
	}
	return lists.Map(list.List(), readEnumValue)
}

// findDocumentedEnum returns the list of values that a parameter or its type documents.
func (cat *Catalog) findDocumentedEnum(p Parameter) jsonv.Value {
	list := p.Schema.Lookup("enum")
	n := cat.Types[ParseType(p.Type).name]
	if list.Len() == 0 && n != nil && n.Kind == "enum" {
		list = n.Detail.Lookup("values")
	}
	return list
}

// LinkEnums finds the values of parameters that are documented as plain texts and
// named like an enum: element_type accepts those of the type ElementType.
func (cat *Catalog) LinkEnums() {
	for _, op := range cat.Operations {
		for i, p := range op.Params {
			if basicKinds[ParseType(p.Type).name] != "string" || len(cat.findEnum(p)) > 0 {
				continue
			}
			for _, name := range []string{p.Name, op.Resource + "_" + p.Name} {
				for _, key := range []string{name, strings.ReplaceAll(name, "_", "")} {
					if n := cat.Types[key]; n != nil && n.Kind == "enum" {
						op.Params[i].linked = n
					}
				}
			}
		}
	}
}
