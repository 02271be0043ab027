package live

import (
	"slices"
	"strings"

	"mcptest/internal/jsonv"
)

// everyPage reads a resource's list, of every kind and page by page, up to a
// number of pages. It returns true when that was all of it.
func (l *lister) everyPage(create, remove *liveOp, limit int, visit func(kind jsonv.Value, r reply)) (whole bool) {
	list := l.run.catalog.partner("list", "READ", create.resource)
	if list == nil || l.run.gate.barred(list) != "" {
		return false
	}
	params, why := l.run.builder.params(list)
	if why != "" {
		return false
	}
	whole = true
	for _, kind := range l.run.maker.kinds(create, remove) {
		thing := createdThing{with: kind}
		n := 0
		all := l.pages(list, thing.naming(list, params), func(r reply) bool {
			visit(kind, r)
			n++
			return n < limit
		})
		whole = whole && all
		if thing.with.Len() == 0 || list.param(l.run.catalog.discriminators(create, remove)[0]) == nil {
			break
		}
	}
	return whole
}

// refusedDelete notes that what the run creates of a resource stays: a delete
// of something of its own was refused for no fault of the call. Nothing more
// of the kind is created.
func (cr *cleaner) refusedDelete(op *liveOp, r reply) {
	if r.heard() && !r.ok() && !slices.ContainsFunc([]string{"NOT_FOUND", "VALIDATION_", "CONFLICT_", "RATE_LIMIT", "CONFIRMATION_", "TOKEN_"}, func(family string) bool {
		return strings.HasPrefix(r.code(), family)
	}) && cr.stays[op.resource] == "" {
		cr.stays[op.resource] = op.name + " was refused, so what is created would remain: " + r.brief()
	}
}

// denied says that a call was refused because of who made it.
func (r reply) denied() bool {
	return slices.ContainsFunc([]string{"PERMISSION", "FORBIDDEN", "DENIED", "UNAUTHORIZED"}, func(word string) bool {
		return strings.Contains(strings.ToUpper(r.code()), word)
	})
}

// staying says why nothing more of a resource may be created, or "".
func (cr *cleaner) staying(create *liveOp) string {
	for resource, why := range cr.stays {
		if sameResource(resource, create.resource) {
			return why
		}
	}
	return ""
}
