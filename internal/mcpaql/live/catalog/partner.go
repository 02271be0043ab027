package catalog

import (
	"slices"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lists"
)

// FindPartner returns the operation of a verb and a category for a resource.
func (cat *Catalog) FindPartner(verb, category, resource string) *Operation {
	return cat.FindFirst(func(op *Operation) bool {
		return op.Verb == verb && op.Category == category && IsSameResource(op.Resource, resource)
	})
}

// FindCreator returns the CREATE operation of an operation's resource; nil when there is none.
func (cat *Catalog) FindCreator(op *Operation) *Operation {
	return cat.FindPartner("create", "CREATE", op.Resource)
}

// FindExact returns the operation of a verb and a category for exactly this resource
// name: create_book and delete_books are not a pair.
func (cat *Catalog) FindExact(verb, category, resource string) *Operation {
	return cat.FindFirst(func(op *Operation) bool {
		return op.Verb == verb && op.Category == category && op.Resource == resource
	})
}

// HasAtMostOne reports whether an operation's resource has at most one item: it is read
// and deleted without an identifier, and not listed.
func (cat *Catalog) HasAtMostOne(op *Operation) bool {
	get := cat.FindExact("get", "READ", op.Resource)
	remove := cat.FindExact("delete", "DELETE", op.Resource)
	if get == nil || remove == nil || !get.RequiresNothing() || !remove.RequiresNothing() {
		return false
	}
	isListed := cat.FindPartner("list", "READ", op.Resource) != nil
	return !isListed && cat.FindExact("create", "CREATE", op.Resource) != nil
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

// FindDiscriminators returns the parameters, in addition to the identifier, that name a
// resource: an enum that create and delete both require.
func (cat *Catalog) FindDiscriminators(create, remove *Operation) []string {
	if remove == nil {
		return nil
	}
	var names []string
	for _, p := range create.Params {
		q := remove.FindParam(p.Name)
		bothRequire := p.Required && q != nil && q.Required
		if bothRequire && !remove.IsIdentifier(*q) && len(cat.findEnum(p)) > 0 {
			names = append(names, p.Name)
		}
	}
	return names
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
