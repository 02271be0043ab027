package catalog

import (
	"cmp"
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lists"
	"mcptest/internal/mcpaql/evidence"
)

// Catalog is the adapter's description: its tools, operations and types.
type Catalog struct {
	Tools      []Tool
	Families   map[string]string // category → tool
	Single     string
	Reader     string // the tool for introspection
	Operations []*Operation
	Types      map[string]*NamedType
}

// Partner returns the operation of a verb and a category for a resource.
func (cat *Catalog) Partner(verb, category, resource string) *Operation {
	return cat.First(func(op *Operation) bool {
		return op.Verb == verb && op.Category == category && SameResource(op.Resource, resource)
	})
}

// First returns the first operation that match accepts; nil if there is none.
func (cat *Catalog) First(match func(*Operation) bool) *Operation {
	return lists.First(cat.Operations, match)
}

// Creator returns the CREATE operation of an operation's resource; nil when there is none.
func (cat *Catalog) Creator(op *Operation) *Operation {
	return cat.Partner("create", "CREATE", op.Resource)
}

// Discriminators returns the parameters, in addition to the identifier, that name a
// resource: an enum that create and delete both require.
func (cat *Catalog) Discriminators(create, remove *Operation) []string {
	if remove == nil {
		return nil
	}
	var names []string
	for _, p := range create.Params {
		q := remove.Param(p.Name)
		if p.Required && q != nil && q.Required && !remove.IsIdentifier(*q) && len(cat.enumOf(p)) > 0 {
			names = append(names, p.Name)
		}
	}
	return names
}

// enumOf lists the values that a parameter accepts: its own enum, that of its type,
// or that of the type to which its name refers.
func (cat *Catalog) enumOf(p Parameter) []jsonv.Value {
	list := cat.documentedEnum(p)
	if list.Len() == 0 && p.linked != nil {
		list = p.linked.Detail.Lookup("values")
	}
	return lists.Map(list.List(), enumValue)
}

// documentedEnum returns the list of values that a parameter or its type documents.
func (cat *Catalog) documentedEnum(p Parameter) jsonv.Value {
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
			if basicKinds[ParseType(p.Type).name] != "string" || len(cat.enumOf(p)) > 0 {
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

// With returns the values that name an item in addition to its identifier, from the
// parameters it was created with: its kind, and what it belongs to.
func (cat *Catalog) With(create, remove *Operation, params jsonv.Value) jsonv.Value {
	out, kinds := jsonv.Object(), cat.Discriminators(create, remove)
	for _, p := range create.Params {
		v, ok := params.Get(p.Name)
		if ok && (slices.Contains(kinds, p.Name) || p.Required && create.NamesOther(p)) {
			out = out.With(p.Name, v)
		}
	}
	return out
}

// Exact returns the operation of a verb and a category for exactly this resource
// name: create_book and delete_books are not a pair.
func (cat *Catalog) Exact(verb, category, resource string) *Operation {
	return cat.First(func(op *Operation) bool { return op.Verb == verb && op.Category == category && op.Resource == resource })
}

// AtMostOne reports whether an operation's resource has at most one item: it is read
// and deleted without an identifier, and not listed.
func (cat *Catalog) AtMostOne(op *Operation) bool {
	get, remove := cat.Exact("get", "READ", op.Resource), cat.Exact("delete", "DELETE", op.Resource)
	return get != nil && remove != nil && get.Bare() && remove.Bare() && cat.Partner("list", "READ", op.Resource) == nil &&
		cat.Exact("create", "CREATE", op.Resource) != nil
}

// Getter returns the operation that reads one item of an operation's resource; nil if
// there is none.
func (cat *Catalog) Getter(op *Operation) *Operation {
	if cat.AtMostOne(op) {
		return cat.Exact("get", "READ", op.Resource)
	}
	return cat.First(func(get *Operation) bool {
		id := get.IDParam()
		if get.Verb != "get" || get.Category != "READ" || !SameResource(get.Resource, op.Resource) || id == nil {
			return false
		}
		needsOther := get.NamesOther(*id) && op.Param(id.Name) != nil
		return !needsOther
	})
}

// ToolNamed returns a tool by its name, without one if it is not listed.
func (cat *Catalog) ToolNamed(name string) Tool {
	return lists.First(cat.Tools, func(t Tool) bool { return t.Name == name })
}

// Route chooses the tool that an operation is called with.
func (cat *Catalog) Route(op *Operation) {
	named := cat.ToolNamed(op.Detail.Lookup("mcpTool").Text()).Name
	op.Tool = cmp.Or(cat.Families[op.Category], named, cat.Families[op.Endpoint], cat.Single, cat.Reader)
}

// Op returns an operation by its name; nil if it is not listed.
func (cat *Catalog) Op(name string) *Operation {
	return cat.First(func(op *Operation) bool { return op.Name == name })
}

// IDKey returns the parameter by which the resource of an operation is deleted.
func (cat *Catalog) IDKey(op *Operation) string {
	if d := cat.Partner("delete", "DELETE", op.Resource); d != nil && d.IDParam() != nil {
		return d.IDParam().Name
	}
	return "id"
}

// IDKeys returns the members that may hold a resource's identifier.
func (cat *Catalog) IDKeys(op *Operation) []string {
	return []string{cat.IDKey(op), "id", op.Resource + "_id"}
}

// ItemKeys returns the members that may name an item of a list, the likeliest
// first.
func (cat *Catalog) ItemKeys(op *Operation) []string {
	if create := cat.Creator(op); create != nil {
		op = create
	}
	keys := append(cat.IDKeys(op), lists.Map(singulars(op.Resource)[1:], func(one string) string {
		return one + "_id"
	})...)
	return append(keys, "name", "key", "slug", "uuid")
}

// ToolName matches the names of MCP-AQL tools, and the spelling mcpaql of some
// adapters: prefix and endpoint are its groups.
var ToolName = evidence.Pattern(`^([a-z0-9_]+_)?mcp_?aql(?:_([a-z0-9]+))?$`)

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
	n := cat.Types[t.name]
	switch {
	case n == nil:
	case n.Kind == "enum" && enumValue(n.Detail.Lookup("values").At(0)).Kind() == jsonv.KindString:
		return "string"
	case n.Kind == "object":
		return "object"
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
func enumValue(v jsonv.Value) jsonv.Value { return cmp.Or(v.Lookup("value"), v.Lookup("name"), v) }
