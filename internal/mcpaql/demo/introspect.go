package demo

import (
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
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
		return jsonv.Object(member("type", a.typeDetail(name.Text()))), nil
	case name.IsAbsent():
		return a.operationList(), nil
	}
	op := a.find(name.Text())
	if op == nil || a.is("detail-missing") && op.Name == "get_shelf" {
		if a.is("unknown-name-fails") && op == nil {
			return jsonv.Value{}, refuse("NOT_FOUND_OPERATION", "There is no operation '%s'.", name.Text())
		}
		return jsonv.Object(member("operation", jsonv.Null())), nil
	}
	return jsonv.Object(member("operation", a.detail(op))), nil
}

func (a *Adapter) operationList() jsonv.Value {
	a.lists++
	key := "name"
	if a.is("list-other-name-key") {
		key = "element_name"
	}
	var list []jsonv.Value
	for i, op := range a.operations {
		category := op.Category
		doc := op.Doc
		if a.is("list-bad-category") && op.Name == "search_books" {
			category = "QUERY"
		}
		if a.is("delete-lists-read") && op.Name == "delete_shelf" {
			category = "READ"
		}
		if a.is("launch-differs") && op.Name == "search_books" {
			doc += " (" + a.o.Launch + ")"
		}
		v := jsonv.Object(str(key, op.Name), str("semantic_category", category), str("endpoint", op.Category), str("description", doc))
		if a.is("list-extra-member") {
			v = v.With("position", jsonv.Int(int64(i)))
		}
		if a.is("list-no-description") && op.Name == "search_books" {
			v = v.Without("description")
		}
		list = append(list, v)
		if a.is("list-duplicate") && op.Name == "search_books" {
			list = append(list, v)
		}
	}
	if a.is("list-shuffles") && a.lists%2 == 0 {
		slices.Reverse(list)
	}
	mode := a.o.Mode
	switch {
	case a.is("protocol-mode"):
		mode = "everything"
	case mode == ModeCrude:
		mode = "semantic"
	}
	data := jsonv.Object(member("operations", jsonv.Array(list...)))
	if !a.is("no-protocol") {
		flags := jsonv.Object(member("batch", jsonv.Bool(!a.is("no-batch"))), member("field_selection", jsonv.Bool(!a.is("no-field-selection"))))
		if a.has("executions") {
			flags = flags.With("execution_safety_loop", jsonv.Bool(true))
		}
		data = data.With("_protocol", jsonv.Object(str("version", protocolVersion), str("conformance", "level-2"), str("mode", mode), member("capabilities", flags),
			member("limits", jsonv.Object(member("max_string_length", jsonv.Int(maxString)), member("max_array_elements", jsonv.Int(maxElements)), member("max_nesting_depth", jsonv.Int(maxDepth))))))
	}
	return data
}

func (a *Adapter) detail(op *operation) jsonv.Value {
	var params []jsonv.Value
	for _, p := range op.Params {
		params = append(params, describe(p))
	}
	endpoint, tool := op.Category, toolOf(op.Category)
	if a.o.Mode == ModeSingle {
		tool = singleTool
	}
	if a.is("category-differs") && op.Name == "search_books" {
		endpoint = "UPDATE"
	}
	if a.is("tool-unlisted") && op.Name == "search_books" {
		tool = "mcp_aql_search"
	}
	v := jsonv.Object(str("name", op.Name), str("semantic_category", op.Category), str("endpoint", endpoint), str("mcpTool", tool), str("description", op.Doc),
		member("permissions", jsonv.Object(member("readOnly", jsonv.Bool(op.Category == "READ")), member("destructive", jsonv.Bool(op.Category == "UPDATE" || op.Category == "DELETE")))),
		member("parameters", jsonv.Array(params...)),
		member("returns", jsonv.Object(str("name", op.Returns), str("kind", "object"))))
	if a.has("executions") && op.Verb == "execute" {
		v = v.With("lifecycle", jsonv.Object(member("states", jsonv.From([]string{pending, running, completed, "failed", cancelled})), member("supports_cancel", jsonv.Bool(true)), member("supports_retry", jsonv.Bool(false))))
	}
	if !op.example.IsAbsent() {
		v = v.With("examples", jsonv.Array(op.example))
	}
	switch {
	case a.is("detail-no-returns") && op.Name == "search_books":
		v = v.Without("returns")
	case a.is("detail-danger"):
		v = v.With("danger", jsonv.Object(member("level", jsonv.Int(0))))
	case a.is("detail-text-example") && op.Name == "search_books":
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

func (a *Adapter) typeList() jsonv.Value {
	var list []jsonv.Value
	for _, t := range a.types() {
		v := jsonv.Object(str("name", t.Name), str("kind", t.Kind), str("description", t.Doc))
		if a.is("types-inline") && t.Kind == "enum" {
			v = v.With("values", jsonv.From(t.Values))
		}
		list = append(list, v)
	}
	return jsonv.Object(member("types", jsonv.Array(list...)))
}

func (a *Adapter) typeDetail(name string) jsonv.Value {
	for _, t := range a.types() {
		if t.Name != name {
			continue
		}
		v := jsonv.Object(str("name", t.Name), str("kind", t.Kind), str("description", t.Doc))
		switch {
		case t.Kind == "enum" && !a.is("type-detail-bare"):
			return v.With("values", jsonv.From(t.Values))
		case t.Kind == "object":
			var fields []jsonv.Value
			for _, f := range t.Fields {
				doc := f.Doc
				if a.is("read-only-undisclosed") {
					doc = strings.ReplaceAll(doc, "read-only", "kept")
				}
				fields = append(fields, jsonv.Object(str("name", f.Name), str("type", f.Type), member("required", jsonv.Bool(f.Required)), str("description", doc)))
			}
			return v.With("fields", jsonv.Array(fields...))
		}
		return v
	}
	return jsonv.Null()
}
