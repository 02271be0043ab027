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
		no := refuse("VALIDATION_INVALID_VALUE", "The parameter 'query' wants one of operations.")
		return jsonv.Value{}, no.addParam("query")
	case query == "types" && name.IsAbsent():
		return a.listTypes(), nil
	case query == "types":
		return jsonv.ObjectOf("type", a.describeType(name.Text())), nil
	case name.IsAbsent():
		return a.listOperations(), nil
	}
	op := a.find(name.Text())
	if op == nil || a.is("detail-missing") && op.Name == "get_shelf" {
		if a.is("unknown-name-fails") && op == nil {
			return jsonv.Value{}, refuse("NOT_FOUND_OPERATION", "There is no operation '%s'.", name.Text())
		}
		return jsonv.ObjectOf("operation", nil), nil
	}
	return jsonv.ObjectOf("operation", a.describeOperation(op)), nil
}

// showMode returns the mode that the adapter says it has.
func (a *Adapter) showMode() string {
	switch {
	case a.is("protocol-mode"):
		return "everything"
	case a.o.Mode == ModeCrude:
		return "semantic"
	}
	return a.o.Mode
}

func (a *Adapter) listOperations() jsonv.Value {
	a.lists++
	key := "name"
	if a.is("list-other-name-key") {
		key = "element_name"
	}
	var list []jsonv.Value
	for i, op := range a.operations {
		search := op.Name == "search_books"
		category := op.Category
		if a.is("list-bad-category") && search {
			category = "QUERY"
		}
		if a.is("delete-lists-read") && op.Name == "delete_shelf" {
			category = "READ"
		}
		doc := op.Doc
		if a.is("launch-differs") && search {
			doc = op.Doc + " (" + a.o.Launch + ")"
		}
		v := jsonv.ObjectOf(key, op.Name, "semantic_category", category, "endpoint", op.Category, "description", doc)
		if a.is("list-extra-member") {
			v = v.With("position", jsonv.Int(int64(i)))
		}
		if a.is("list-no-description") && search {
			v = v.Without("description")
		}
		list = append(list, v)
		if a.is("list-duplicate") && search {
			list = append(list, v)
		}
	}
	if a.is("list-shuffles") && a.lists%2 == 0 {
		slices.Reverse(list)
	}
	mode := a.showMode()
	data := jsonv.ObjectOf("operations", jsonv.Array(list...))
	if !a.is("no-protocol") {
		flags := jsonv.ObjectOf("batch", !a.is("no-batch"), "field_selection", !a.is("no-field-selection"))
		if a.has("executions") {
			flags = flags.With("execution_safety_loop", jsonv.Bool(true))
		}
		limits := jsonv.ObjectOf(
			"max_string_length", maxString,
			"max_array_elements", maxElements,
			"max_nesting_depth", maxDepth,
		)
		data = data.With("_protocol", jsonv.ObjectOf(
			"version", protocolVersion,
			"conformance", "level-2",
			"mode", mode,
			"capabilities", flags,
			"limits", limits,
		))
	}
	return data
}

func (a *Adapter) describeOperation(op *operation) jsonv.Value {
	search := op.Name == "search_books"
	endpoint := op.Category
	if a.is("category-differs") && search {
		endpoint = "UPDATE"
	}
	tool := nameTool(op.Category)
	if a.o.Mode == ModeSingle {
		tool = singleTool
	}
	if a.is("tool-unlisted") && search {
		tool = "mcp_aql_search"
	}
	destructive := op.Category == "UPDATE" || op.Category == "DELETE"
	v := jsonv.ObjectOf(
		"name", op.Name,
		"semantic_category", op.Category,
		"endpoint", endpoint,
		"mcpTool", tool,
		"description", op.Doc,
		"permissions", jsonv.ObjectOf("readOnly", op.Category == "READ", "destructive", destructive),
		"parameters", jsonv.List(op.Params, describe),
		"returns", jsonv.ObjectOf("name", op.Returns, "kind", "object"),
	)
	if a.has("executions") && op.Verb == "execute" {
		states := []string{pending, running, completed, "failed", cancelled}
		cycle := jsonv.ObjectOf("states", jsonv.From(states), "supports_cancel", true, "supports_retry", false)
		v = v.With("lifecycle", cycle)
	}
	if !op.example.IsAbsent() {
		v = v.With("examples", jsonv.Array(op.example))
	}
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

func (a *Adapter) newTypes() []typeInfo {
	out := slices.Clone(a.library.Types[:1])
	for _, r := range a.resources {
		for _, f := range r.Fields {
			if f.Listed != "" {
				out = append(out, typeInfo{Name: f.Listed, Kind: "enum", Doc: f.Doc, Values: f.Enum})
			}
		}
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

func (a *Adapter) listTypes() jsonv.Value {
	return jsonv.ObjectOf("types", jsonv.List(a.newTypes(), func(t typeInfo) jsonv.Value {
		v := jsonv.ObjectOf("name", t.Name, "kind", t.Kind, "description", t.Doc)
		if a.is("types-inline") && t.Kind == "enum" {
			return v.With("values", jsonv.From(t.Values))
		}
		return v
	}))
}

func (a *Adapter) describeType(name string) jsonv.Value {
	t := lists.First(a.newTypes(), func(t typeInfo) bool { return t.Name == name })
	v := jsonv.ObjectOf("name", t.Name, "kind", t.Kind, "description", t.Doc)
	switch {
	case t.Name == "":
		return jsonv.Null()
	case t.Kind == "enum" && !a.is("type-detail-bare"):
		return v.With("values", jsonv.From(t.Values))
	case t.Kind == "object":
		return v.With("fields", jsonv.List(t.Fields, func(f param) jsonv.Value {
			doc := f.Doc
			if a.is("read-only-undisclosed") {
				doc = strings.ReplaceAll(f.Doc, "read-only", "kept")
			}
			return jsonv.ObjectOf("name", f.Name, "type", f.Type, "required", f.Required, "description", doc)
		}))
	}
	return v
}
