package aql

import (
	"slices"
	"strings"

	"mcptest/internal/jsonv"
)

// What was there before a run is known from the adapter's lists.

// maxSurveyPages bounds how many pages of a list are read before the first
// create.
const maxSurveyPages = 50

// everyPage reads a resource's list, of every kind and page by page, up to a
// number of pages.
func (c *collector) everyPage(create, remove *liveOp, limit int, visit func(kind jsonv.Value, r reply)) {
	list := c.partner("list", "READ", create.resource)
	if list == nil || c.barred(list) != "" {
		return
	}
	params, why := c.params(list)
	if why != "" {
		return
	}
	for _, kind := range c.kinds(create, remove) {
		thing := createdThing{with: kind}
		n := 0
		c.pages(list, thing.naming(list, params), func(r reply) bool {
			visit(kind, r)
			n++
			return n < limit
		})
		if thing.with.Len() == 0 || list.param(c.discriminators(create, remove)[0]) == nil {
			break
		}
	}
}

// survey notes what there is of a resource before the run creates the first
// of it. The first pages of lists were read at the beginning, see
// harvestLists; here come all of them.
func (c *collector) survey(create *liveOp) {
	remove := c.remover(create)
	if _, done := c.older[create.resource]; done || remove == nil || c.atMostOne(create) {
		return
	}
	ids := map[string]bool{}
	c.older[create.resource] = ids
	c.everyPage(create, remove, maxSurveyPages, func(_ jsonv.Value, r reply) {
		for _, item := range items(r.data(), listDepth) {
			for _, key := range c.idKeys(create) {
				if v := item.Lookup(key); !v.IsAbsent() {
					ids[v.String()] = true
				}
			}
		}
	})
}

// refusedDelete notes that what the run creates of a resource stays: a delete
// of something of its own was refused for no fault of the call. Nothing more
// of the kind is created.
func (c *collector) refusedDelete(op *liveOp, r reply) {
	if r.heard() && !r.ok() && !slices.ContainsFunc([]string{"NOT_FOUND", "VALIDATION_", "CONFLICT_", "RATE_LIMIT", "CONFIRMATION_", "TOKEN_"}, func(family string) bool {
		return strings.HasPrefix(r.code(), family)
	}) && c.stays[op.resource] == "" {
		c.stays[op.resource] = op.name + " was refused, so what is created would be left: " + r.brief()
	}
}

// denied says that a call was refused because of who made it.
func (r reply) denied() bool {
	return slices.ContainsFunc([]string{"PERMISSION", "FORBIDDEN", "DENIED", "UNAUTHORIZED"}, func(word string) bool {
		return strings.Contains(strings.ToUpper(r.code()), word)
	})
}

// staying says why nothing more of a resource may be created, or "".
func (c *collector) staying(create *liveOp) string {
	for resource, why := range c.stays {
		if sameResource(resource, create.resource) {
			return why
		}
	}
	return ""
}
