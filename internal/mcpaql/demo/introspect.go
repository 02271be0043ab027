package demo

import (
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lists"
)

// protocolVersion is the version of the specification.
const protocolVersion = "1.0.0-draft"

func (a *Adapter) introspect(params jsonv.Value) (jsonv.Value, *failure) {
	query, name := params.Lookup("query").Text(), params.Lookup("name")
	switch {
	case a.is("no-types") && query == "types" && name.IsAbsent():
		return jsonv.Value{}, refuse("VALIDATION_INVALID_VALUE", "The parameter 'query' wants one of operations.").with("param_name", jsonv.String("query"))
	case query == "types" && name.IsAbsent():
		return a.typeList(), nil
	case query == "types":
		return jsonv.ObjectOf("type", a.typeDetail(name.Text())), nil
	case name.IsAbsent():
		return a.operationList(), nil
	}
	op := a.find(name.Text())
	if op == nil || a.is("detail-missing") && op.Name == "get_shelf" {
		if a.is("unknown-name-fails") && op == nil {
			return jsonv.Value{}, refuse("NOT_FOUND_OPERATION", "There is no operation '%s'.", name.Text())
		}
		return jsonv.ObjectOf("operation", nil), nil
	}
	return jsonv.ObjectOf("operation", a.detail(op)), nil
}

func (a *Adapter) operationList() jsonv.Value {
	a.lists++
	key := pick(a.is("list-other-name-key"), "element_name", "name")
	var list []jsonv.Value
	for i, op := range a.operations {
		search := op.Name == "search_books"
		category := pick(a.is("list-bad-category") && search, "QUERY", op.Category)
		category = pick(a.is("delete-lists-read") && op.Name == "delete_shelf", "READ", category)
		doc := pick(a.is("launch-differs") && search, op.Doc+" ("+a.o.Launch+")", op.Doc)
		v := jsonv.ObjectOf(key, op.Name, "semantic_category", category, "endpoint", op.Category, "description", doc)
		v = pick(a.is("list-extra-member"), v.With("position", jsonv.Int(int64(i))), v)
		v = pick(a.is("list-no-description") && search, v.Without("description"), v)
		list = append(list, v)
		if a.is("list-duplicate") && search {
			list = append(list, v)
		}
	}
	if a.is("list-shuffles") && a.lists%2 == 0 {
		slices.Reverse(list)
	}
	mode := pick(a.o.Mode == ModeCrude, "semantic", a.o.Mode)
	mode = pick(a.is("protocol-mode"), "everything", mode)
	data := jsonv.ObjectOf("operations", jsonv.Array(list...))
	if !a.is("no-protocol") {
		flags := jsonv.ObjectOf("batch", !a.is("no-batch"), "field_selection", !a.is("no-field-selection"))
		flags = pick(a.has("executions"), flags.With("execution_safety_loop", jsonv.Bool(true)), flags)
		data = data.With("_protocol", jsonv.ObjectOf("version", protocolVersion, "conformance", "level-2", "mode", mode, "capabilities", flags,
			"limits", jsonv.ObjectOf("max_string_length", maxString, "max_array_elements", maxElements, "max_nesting_depth", maxDepth)))
	}
	return data
}

func (a *Adapter) detail(op *operation) jsonv.Value {
	search := op.Name == "search_books"
	endpoint := pick(a.is("category-differs") && search, "UPDATE", op.Category)
	tool := pick(a.o.Mode == ModeSingle, singleTool, toolOf(op.Category))
	tool = pick(a.is("tool-unlisted") && search, "mcp_aql_search", tool)
	cycle := jsonv.ObjectOf("states", jsonv.From([]string{pending, running, completed, "failed", cancelled}), "supports_cancel", true, "supports_retry", false)
	v := jsonv.ObjectOf("name", op.Name, "semantic_category", op.Category, "endpoint", endpoint, "mcpTool", tool, "description", op.Doc,
		"permissions", jsonv.ObjectOf("readOnly", op.Category == "READ", "destructive", op.Category == "UPDATE" || op.Category == "DELETE"),
		"parameters", jsonv.List(op.Params, describe),
		"returns", jsonv.ObjectOf("name", op.Returns, "kind", "object"),
		"lifecycle", cycle.If(a.has("executions") && op.Verb == "execute"),
		"examples", jsonv.Array(op.example).If(!op.example.IsAbsent()),
	)
	switch {
	case a.is("detail-no-returns") && search:
		v = v.Without("returns")
	case a.is("detail-danger"):
		v = v.With("danger", jsonv.ObjectOf("level", 0))
	case a.is("detail-text-example") && search:
		v = v.With("examples", jsonv.Array(jsonv.String("search_books { text: rain }")))
	}
	return v
}

// describe returns a parameter in the form of a detail.
func describe(p param) jsonv.Value {
	if p.Type == "Genre" || p.Listed != "" {
		p.Enum = nil
	}
	p.Listed, p.AppendOnly = "", false
	return jsonv.From(p)
}

func (a *Adapter) types() []typeInfo {
	out := slices.Clone(a.library.Types[:1])
	for _, r := range a.resources {
		out = append(out, lists.Kept(r.Fields, func(f param) (typeInfo, bool) {
			return typeInfo{Name: f.Listed, Kind: "enum", Doc: f.Doc, Values: f.Enum}, f.Listed != ""
		})...)
		out = append(out,
			typeInfo{Name: r.typeName(), Kind: "object", Doc: "One " + r.Name + ".", Fields: r.Fields},
			typeInfo{Name: r.typeName() + "List", Kind: "object", Doc: "A page of " + r.Plural + ".", Fields: []param{
				{Name: "items", Type: r.typeName() + "[]", Required: true, Doc: "The " + r.Plural + "."},
				{Name: "total", Type: "integer", Required: true, Doc: "How many there are in all."},
				{Name: "applied", Type: "object", Doc: "The limit and the offset that were applied."},
			}})
	}
	return append(out, a.library.Types[1:]...)
}

func (a *Adapter) typeList() jsonv.Value {
	return jsonv.ObjectOf("types", jsonv.List(a.types(), func(t typeInfo) jsonv.Value {
		v := jsonv.ObjectOf("name", t.Name, "kind", t.Kind, "description", t.Doc)
		return pick(a.is("types-inline") && t.Kind == "enum", v.With("values", jsonv.From(t.Values)), v)
	}))
}

func (a *Adapter) typeDetail(name string) jsonv.Value {
	t := lists.First(a.types(), func(t typeInfo) bool { return t.Name == name })
	v := jsonv.ObjectOf("name", t.Name, "kind", t.Kind, "description", t.Doc)
	switch {
	case t.Name == "":
		return jsonv.Null()
	case t.Kind == "enum" && !a.is("type-detail-bare"):
		return v.With("values", jsonv.From(t.Values))
	case t.Kind == "object":
		return v.With("fields", jsonv.List(t.Fields, func(f param) jsonv.Value {
			doc := pick(a.is("read-only-undisclosed"), strings.ReplaceAll(f.Doc, "read-only", "kept"), f.Doc)
			return jsonv.ObjectOf("name", f.Name, "type", f.Type, "required", f.Required, "description", doc)
		}))
	}
	return v
}
