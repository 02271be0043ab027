package live

import (
	"slices"
	"strings"

	"mcptest/internal/jsonv"
)

// Some resources are of several kinds, told apart by a parameter that each of
// their operations requires (element_type), and some exist at most once and
// have no identifier.

// maxKinds bounds the kinds of one resource that are created.
const maxKinds = 8

// discriminators are the parameters, beside the identifier, that name a
// resource: an enum that create and delete both require.
func (c *collector) discriminators(create, remove *liveOp) (names []string) {
	if remove == nil {
		return nil
	}
	for _, p := range create.params {
		q := remove.param(p.name)
		if p.required && q != nil && q.required && !remove.isIdentifier(*q) && len(c.enumOf(p)) > 0 {
			names = append(names, p.name)
		}
	}
	return names
}

// enumOf lists what a parameter takes: its own enum, that of its type, or
// that of the type which its name speaks of.
func (c *collector) enumOf(p liveParam) (values []jsonv.Value) {
	list := p.v.Lookup("enum")
	if n := c.types[parseType(p.typ).name]; list.Len() == 0 && n != nil && n.kind == "enum" {
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
func (c *collector) linkEnums() {
	for _, op := range c.ops {
		for i, p := range op.params {
			if basicKind(parseType(p.typ).name) != "string" || len(c.enumOf(p)) > 0 {
				continue
			}
			for _, name := range []string{p.name, op.resource + "_" + p.name} {
				for _, key := range []string{name, strings.ReplaceAll(name, "_", "")} {
					if n := c.types[key]; n != nil && n.kind == "enum" {
						op.params[i].linked = n
					}
				}
			}
		}
	}
}

// kinds are the values of the discriminators that are worth a try, each an
// object; one empty object for a resource that has none.
func (c *collector) kinds(create, remove *liveOp) []jsonv.Value {
	names := c.discriminators(create, remove)
	if len(names) == 0 {
		return []jsonv.Value{jsonv.Object()}
	}
	rest := jsonv.Object()
	for _, name := range names[1:] {
		if v, err := c.value(create, *create.param(name), name); err == nil {
			rest = rest.With(name, v)
		}
	}
	var out []jsonv.Value
	for _, v := range c.enumOf(*create.param(names[0])) {
		if len(out) < maxKinds {
			out = append(out, rest.With(names[0], v))
		}
	}
	return out
}

// with is what names a thing beside its identifier, taken from the parameters
// it was created with.
func (c *collector) with(create, remove *liveOp, params jsonv.Value) jsonv.Value {
	out := jsonv.Object()
	for _, name := range c.discriminators(create, remove) {
		if v, ok := params.Get(name); ok {
			out = out.With(name, v)
		}
	}
	return out
}

// common says that a thing is named as requests are by themselves: it is of
// the kind that values are made for.
func (c *collector) common(op *liveOp, t createdThing) bool {
	for name, v := range t.with.Members() {
		p := op.param(name)
		if p == nil {
			continue
		}
		if own, err := c.value(op, *p, name); err != nil || !jsonv.Equal(own, v) {
			return false
		}
	}
	return true
}

// bare says that an operation needs nothing to be told.
func (o *liveOp) bare() bool {
	return !slices.ContainsFunc(o.params, func(p liveParam) bool { return p.required })
}

// exact finds the operation of a verb and a category for exactly this
// resource name: create_book and delete_books are not taken for a pair.
func (c *collector) exact(verb, category, resource string) *liveOp {
	for _, op := range c.ops {
		if op.verb == verb && op.category == category && op.resource == resource {
			return op
		}
	}
	return nil
}

// atMostOne says that there is at most one of an operation's resource: it is
// read and deleted without being named, and not listed.
func (c *collector) atMostOne(op *liveOp) bool {
	get, remove := c.exact("get", "READ", op.resource), c.exact("delete", "DELETE", op.resource)
	return get != nil && remove != nil && get.bare() && remove.bare() && c.partner("list", "READ", op.resource) == nil &&
		c.exact("create", "CREATE", op.resource) != nil
}

// occupied says why the one resource cannot be created by this run, or "":
// what is there is left alone.
func (c *collector) occupied(op *liveOp) string {
	if !c.atMostOne(op) || len(c.ledger.things[op.resource]) > 0 {
		return ""
	}
	get := c.exact("get", "READ", op.resource)
	r := c.call(get, jsonv.Object())
	none := r.data().Kind() == jsonv.KindNull
	if v, ok := r.data().Get(op.resource); ok && v.Kind() == jsonv.KindNull {
		none = true
	}
	switch {
	case r.ok() && none, r.refused() && strings.HasPrefix(r.code(), "NOT_FOUND"):
		return ""
	case r.ok():
		return "there is a " + op.resource + " already, which is left alone"
	}
	return "it could not be seen whether there is a " + op.resource + " already: " + r.brief()
}
