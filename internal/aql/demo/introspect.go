package demo

import (
	"slices"
	"strings"

	"mcptest/internal/jsonv"
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
	if op == nil || a.is("detail-missing") && op.name == "get_shelf" {
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
		category := op.category
		doc := op.doc
		if a.is("list-bad-category") && op.name == "search_books" {
			category = "QUERY"
		}
		if a.is("delete-lists-read") && op.name == "delete_shelf" {
			category = "READ"
		}
		if a.is("launch-differs") && op.name == "search_books" {
			doc += " (" + a.o.Launch + ")"
		}
		v := jsonv.Object(str(key, op.name), str("semantic_category", category), str("endpoint", op.category), str("description", doc))
		if a.is("list-extra-member") {
			v = v.With("position", jsonv.Int(int64(i)))
		}
		if a.is("list-no-description") && op.name == "search_books" {
			v = v.Without("description")
		}
		list = append(list, v)
		if a.is("list-duplicate") && op.name == "search_books" {
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
	for _, p := range op.params {
		params = append(params, a.describe(p))
	}
	endpoint, tool := op.category, toolOf(op.category)
	if a.o.Mode == ModeSingle {
		tool = singleTool
	}
	if a.is("category-differs") && op.name == "search_books" {
		endpoint = "UPDATE"
	}
	if a.is("tool-unlisted") && op.name == "search_books" {
		tool = "mcp_aql_search"
	}
	v := jsonv.Object(str("name", op.name), str("semantic_category", op.category), str("endpoint", endpoint), str("mcpTool", tool), str("description", op.doc),
		member("permissions", jsonv.Object(member("readOnly", jsonv.Bool(op.category == "READ")), member("destructive", jsonv.Bool(op.category == "UPDATE" || op.category == "DELETE")))),
		member("parameters", jsonv.Array(params...)),
		member("returns", jsonv.Object(str("name", op.returns[0]), str("kind", op.returns[1]))))
	if a.has("executions") && op.verb == "execute" {
		v = v.With("lifecycle", jsonv.Object(member("states", jsonv.From([]string{pending, running, completed, "failed", cancelled})), member("supports_cancel", jsonv.Bool(true)), member("supports_retry", jsonv.Bool(false))))
	}
	if !op.example.IsAbsent() {
		v = v.With("examples", jsonv.Array(op.example))
	}
	switch {
	case a.is("detail-no-returns") && op.name == "search_books":
		v = v.Without("returns")
	case a.is("detail-danger"):
		v = v.With("danger", jsonv.Object(member("level", jsonv.Int(0))))
	case a.is("detail-text-example") && op.name == "search_books":
		v = v.With("examples", jsonv.Array(jsonv.String("search_books { text: rain }")))
	}
	return v
}

func (a *Adapter) describe(p param) jsonv.Value {
	v := jsonv.Object(str("name", p.name), str("type", p.typ), member("required", jsonv.Bool(p.required)), str("description", p.doc))
	if len(p.enum) > 0 && p.typ != "Genre" && p.listed == "" {
		v = v.With("enum", jsonv.From(p.enum))
	}
	if p.max > p.min {
		v = v.With("minimum", jsonv.Int(int64(p.min))).With("maximum", jsonv.Int(int64(p.max)))
	}
	if p.maxLen > 0 {
		v = v.With("minLength", jsonv.Int(int64(p.minLen))).With("maxLength", jsonv.Int(int64(p.maxLen)))
	}
	if p.pattern != "" {
		v = v.With("pattern", jsonv.String(p.pattern))
	}
	if p.format != "" {
		v = v.With("format", jsonv.String(p.format))
	}
	if !p.def.IsAbsent() {
		v = v.With("default", p.def)
	}
	if p.items != "" {
		v = v.With("items", jsonv.Object(str("type", p.items)))
	}
	return v
}

// typeInfo is one named type.
type typeInfo struct {
	name, kind, doc string
	values          []string
	fields          []param
}

func (a *Adapter) types() []typeInfo {
	out := []typeInfo{{name: "Genre", kind: "enum", doc: "The section of the catalog that lists a book.", values: genres}}
	for _, r := range a.resources {
		for _, f := range r.fields {
			if f.listed != "" {
				out = append(out, typeInfo{name: f.listed, kind: "enum", doc: f.doc, values: f.enum})
			}
		}
		out = append(out,
			typeInfo{name: r.typeName(), kind: "object", doc: "One " + r.name + ".", fields: r.fields},
			typeInfo{name: r.typeName() + "List", kind: "object", doc: "A page of " + r.plural + ".", fields: []param{
				{name: "items", typ: r.typeName() + "[]", required: true, doc: "The " + r.plural + "."},
				{name: "total", typ: "integer", required: true, doc: "How many there are in all."},
				{name: "applied", typ: "object", doc: "The limit and the offset that were applied."},
			}})
	}
	return append(out,
		typeInfo{name: "Count", kind: "object", doc: "A number of things.", fields: []param{{name: "count", typ: "integer", required: true, doc: "How many."}}},
		typeInfo{name: "Removal", kind: "object", doc: "What was removed.", fields: []param{{name: "id", typ: "string", required: true, doc: "Its identifier."}, {name: "deleted", typ: "boolean", required: true, doc: "True."}}},
		typeInfo{name: "Execution", kind: "object", doc: "A piece of work.", fields: []param{{name: "execution_id", typ: "string", required: true, doc: "Its identifier."}, {name: "status", typ: "string", required: true, doc: "How far it is."}}},
		typeInfo{name: "Directive", kind: "object", doc: "Whether to go on.", fields: []param{{name: "continue", typ: "boolean", required: true, doc: "True to go on."}, {name: "factors", typ: "string[]", required: true, doc: "What was considered."}}},
		typeInfo{name: "Introspection", kind: "object", doc: "What introspect answers."},
	)
}

func (a *Adapter) typeList() jsonv.Value {
	var list []jsonv.Value
	for _, t := range a.types() {
		v := jsonv.Object(str("name", t.name), str("kind", t.kind), str("description", t.doc))
		if a.is("types-inline") && t.kind == "enum" {
			v = v.With("values", jsonv.From(t.values))
		}
		list = append(list, v)
	}
	return jsonv.Object(member("types", jsonv.Array(list...)))
}

func (a *Adapter) typeDetail(name string) jsonv.Value {
	for _, t := range a.types() {
		if t.name != name {
			continue
		}
		v := jsonv.Object(str("name", t.name), str("kind", t.kind), str("description", t.doc))
		switch {
		case t.kind == "enum" && !a.is("type-detail-bare"):
			return v.With("values", jsonv.From(t.values))
		case t.kind == "object":
			var fields []jsonv.Value
			for _, f := range t.fields {
				doc := f.doc
				if a.is("read-only-undisclosed") {
					doc = strings.ReplaceAll(doc, "read-only", "kept")
				}
				fields = append(fields, jsonv.Object(str("name", f.name), str("type", f.typ), member("required", jsonv.Bool(f.required)), str("description", doc)))
			}
			return v.With("fields", jsonv.Array(fields...))
		}
		return v
	}
	return jsonv.Null()
}
