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

// FindPartner returns the operation of a verb and a category for a resource.
func (cat *Catalog) FindPartner(verb, category, resource string) *Operation {
	return cat.FindFirst(func(op *Operation) bool {
		return op.Verb == verb && op.Category == category && IsSameResource(op.Resource, resource)
	})
}

// FindFirst returns the first operation that match accepts; nil if there is none.
func (cat *Catalog) FindFirst(match func(*Operation) bool) *Operation {
	return lists.First(cat.Operations, match)
}

// FindCreator returns the CREATE operation of an operation's resource; nil when there is none.
func (cat *Catalog) FindCreator(op *Operation) *Operation {
	return cat.FindPartner("create", "CREATE", op.Resource)
}

// FindDiscriminators returns the parameters, in addition to the identifier, that name a
// resource: an enum that create and delete both require.
func (cat *Catalog) FindDiscriminators(create, remove *Operation) []string {
	if remove == nil {
		return nil
	}
	var names []string
	for _, p := range create.Params {
		q := remove.FindParam(p.Name)
		if p.Required && q != nil && q.Required && !remove.IsIdentifier(*q) && len(cat.findEnum(p)) > 0 {
			names = append(names, p.Name)
		}
	}
	return names
}

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

// SelectNaming returns the values that name an item in addition to its identifier, from the
// parameters it was created with: its kind, and what it belongs to.
func (cat *Catalog) SelectNaming(create, remove *Operation, params jsonv.Value) jsonv.Value {
	out, kinds := jsonv.Object(), cat.FindDiscriminators(create, remove)
	for _, p := range create.Params {
		v, ok := params.Get(p.Name)
		if ok && (slices.Contains(kinds, p.Name) || p.Required && create.NamesOther(p)) {
			out = out.With(p.Name, v)
		}
	}
	return out
}

// FindExact returns the operation of a verb and a category for exactly this resource
// name: create_book and delete_books are not a pair.
func (cat *Catalog) FindExact(verb, category, resource string) *Operation {
	return cat.FindFirst(func(op *Operation) bool { return op.Verb == verb && op.Category == category && op.Resource == resource })
}

// HasAtMostOne reports whether an operation's resource has at most one item: it is read
// and deleted without an identifier, and not listed.
func (cat *Catalog) HasAtMostOne(op *Operation) bool {
	get, remove := cat.FindExact("get", "READ", op.Resource), cat.FindExact("delete", "DELETE", op.Resource)
	return get != nil && remove != nil && get.RequiresNothing() && remove.RequiresNothing() && cat.FindPartner("list", "READ", op.Resource) == nil &&
		cat.FindExact("create", "CREATE", op.Resource) != nil
}

// FindGetter returns the operation that reads one item of an operation's resource; nil if
// there is none.
func (cat *Catalog) FindGetter(op *Operation) *Operation {
	if cat.HasAtMostOne(op) {
		return cat.FindExact("get", "READ", op.Resource)
	}
	return cat.FindFirst(func(get *Operation) bool {
		id := get.FindIDParam()
		if get.Verb != "get" || get.Category != "READ" || !IsSameResource(get.Resource, op.Resource) || id == nil {
			return false
		}
		needsOther := get.NamesOther(*id) && op.FindParam(id.Name) != nil
		return !needsOther
	})
}

// FindTool returns a tool by its name, without one if it is not listed.
func (cat *Catalog) FindTool(name string) Tool {
	return lists.First(cat.Tools, func(t Tool) bool { return t.Name == name })
}

// Route chooses the tool that an operation is called with.
func (cat *Catalog) Route(op *Operation) {
	named := cat.FindTool(op.Detail.Lookup("mcpTool").Text()).Name
	op.Tool = cmp.Or(cat.Families[op.Category], named, cat.Families[op.Endpoint], cat.Single, cat.Reader)
}

// FindOperation returns an operation by its name; nil if it is not listed.
func (cat *Catalog) FindOperation(name string) *Operation {
	return cat.FindFirst(func(op *Operation) bool { return op.Name == name })
}

// FindIDKey returns the parameter by which the resource of an operation is deleted.
func (cat *Catalog) FindIDKey(op *Operation) string {
	if d := cat.FindPartner("delete", "DELETE", op.Resource); d != nil && d.FindIDParam() != nil {
		return d.FindIDParam().Name
	}
	return "id"
}

// ListIDKeys returns the members that may hold a resource's identifier.
func (cat *Catalog) ListIDKeys(op *Operation) []string {
	return []string{cat.FindIDKey(op), "id", op.Resource + "_id"}
}

// ListItemKeys returns the members that may name an item of a list, the likeliest
// first.
func (cat *Catalog) ListItemKeys(op *Operation) []string {
	if create := cat.FindCreator(op); create != nil {
		op = create
	}
	keys := append(cat.ListIDKeys(op), lists.Map(listSingulars(op.Resource)[1:], func(one string) string {
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
