package live

import (
	"strings"

	"mcptest/internal/aql/evidence"
	"mcptest/internal/jsonv"
)

// catalog is what the adapter describes: its tools, operations and types.
type catalog struct {
	tools    []toolInfo
	families map[string]string // category → tool
	single   string
	reader   string // the tool for introspection
	ops      []*liveOp
	types    map[string]*namedType
}

// partner finds the operation of a verb and a category for a resource.
func (cat *catalog) partner(verb, category, resource string) *liveOp {
	for _, op := range cat.ops {
		if op.verb == verb && op.category == category && sameResource(op.resource, resource) {
			return op
		}
	}
	return nil
}

func (cat *catalog) creator(op *liveOp) *liveOp { return cat.partner("create", "CREATE", op.resource) }

// discriminators are the parameters, beside the identifier, that name a
// resource: an enum that create and delete both require.
func (cat *catalog) discriminators(create, remove *liveOp) (names []string) {
	if remove == nil {
		return nil
	}
	for _, p := range create.params {
		q := remove.param(p.name)
		if p.required && q != nil && q.required && !remove.isIdentifier(*q) && len(cat.enumOf(p)) > 0 {
			names = append(names, p.name)
		}
	}
	return names
}

// enumOf lists what a parameter takes: its own enum, that of its type, or
// that of the type which its name speaks of.
func (cat *catalog) enumOf(p liveParam) (values []jsonv.Value) {
	list := p.v.Lookup("enum")
	if n := cat.types[parseType(p.typ).name]; list.Len() == 0 && n != nil && n.kind == "enum" {
		list = n.detail.Lookup("values")
	}
	if list.Len() == 0 && p.linked != nil {
		list = p.linked.detail.Lookup("values")
	}
	for _, v := range list.Elems() {
		values = append(values, enumValue(v))
	}
	return values
}

// linkEnums finds the values of parameters that are documented as plain texts
// and named like an enum: element_type takes those of the type ElementType.
func (cat *catalog) linkEnums() {
	for _, op := range cat.ops {
		for i, p := range op.params {
			if basicKind(parseType(p.typ).name) != "string" || len(cat.enumOf(p)) > 0 {
				continue
			}
			for _, name := range []string{p.name, op.resource + "_" + p.name} {
				for _, key := range []string{name, strings.ReplaceAll(name, "_", "")} {
					if n := cat.types[key]; n != nil && n.kind == "enum" {
						op.params[i].linked = n
					}
				}
			}
		}
	}
}

// with is what names a thing beside its identifier, taken from the parameters
// it was created with.
func (cat *catalog) with(create, remove *liveOp, params jsonv.Value) jsonv.Value {
	out := jsonv.Object()
	for _, name := range cat.discriminators(create, remove) {
		if v, ok := params.Get(name); ok {
			out = out.With(name, v)
		}
	}
	return out
}

// exact finds the operation of a verb and a category for exactly this
// resource name: create_book and delete_books are not taken for a pair.
func (cat *catalog) exact(verb, category, resource string) *liveOp {
	for _, op := range cat.ops {
		if op.verb == verb && op.category == category && op.resource == resource {
			return op
		}
	}
	return nil
}

// atMostOne says that there is at most one of an operation's resource: it is
// read and deleted without being named, and not listed.
func (cat *catalog) atMostOne(op *liveOp) bool {
	get, remove := cat.exact("get", "READ", op.resource), cat.exact("delete", "DELETE", op.resource)
	return get != nil && remove != nil && get.bare() && remove.bare() && cat.partner("list", "READ", op.resource) == nil &&
		cat.exact("create", "CREATE", op.resource) != nil
}

func (cat *catalog) toolNamed(name string) *toolInfo {
	for i := range cat.tools {
		if cat.tools[i].name == name {
			return &cat.tools[i]
		}
	}
	return nil
}

// route chooses the tool that an operation is called with.
func (cat *catalog) route(op *liveOp) {
	switch tool := op.detail.Lookup("mcpTool").Text(); {
	case cat.families[op.category] != "":
		op.tool = cat.families[op.category]
	case cat.toolNamed(tool) != nil:
		op.tool = tool
	case cat.families[op.endpoint] != "":
		op.tool = cat.families[op.endpoint]
	case cat.single != "":
		op.tool = cat.single
	default:
		op.tool = cat.reader
	}
}

// op finds an operation by its name; nil when it is not listed.
func (cat *catalog) op(name string) *liveOp {
	for _, op := range cat.ops {
		if op.name == name {
			return op
		}
	}
	return nil
}

// idKey is the parameter by which the resource of an operation is deleted.
func (cat *catalog) idKey(op *liveOp) string {
	if d := cat.partner("delete", "DELETE", op.resource); d != nil && d.idParam() != nil {
		return d.idParam().name
	}
	return "id"
}

// idKeys are the members that may hold a resource's identifier.
func (cat *catalog) idKeys(op *liveOp) []string {
	return []string{cat.idKey(op), "id", op.resource + "_id"}
}

// itemKeys are the members that may name an item of a list, the likeliest
// first.
func (cat *catalog) itemKeys(op *liveOp) []string {
	if create := cat.creator(op); create != nil {
		op = create
	}
	return append(cat.idKeys(op), "name", "key", "slug", "uuid")
}

var toolName = evidence.Pattern(`^([a-z0-9_]+_)?mcp_aql(?:_([a-z0-9]+))?$`)
