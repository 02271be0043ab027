package live

import (
	"mcptest/internal/jsonv"
)

// cycle is one thing on its way through the operations.
type cycle struct {
	create, get, update, remove *liveOp // get is nil where only a list tells
	list                        *liveOp
	params                      jsonv.Value
	thing                       createdThing
	read                        reply
}

// cycleOf finds the operations of a resource; nil when nothing reads it.
func (g *gate) cycleOf(create *liveOp) *cycle {
	callable := func(op *liveOp) bool { return op != nil && g.run.skipped[op.name] == "" }
	y := &cycle{create: create, get: g.run.catalog.partner("get", "READ", create.resource), update: g.run.catalog.partner("update", "UPDATE", create.resource), remove: g.remover(create)}
	if g.run.catalog.atMostOne(create) {
		y.get = g.run.catalog.exact("get", "READ", create.resource)
	} else if y.get != nil && y.get.idParam() == nil {
		y.get = nil
	}
	if !callable(y.get) {
		y.get, y.list = nil, g.run.catalog.partner("list", "READ", create.resource)
	}
	if y.get == nil && !callable(y.list) {
		return nil
	}
	return y
}

// place finds where an answer holds a resource.
func (y *cycle) place(env jsonv.Value) (prefix string, thing jsonv.Value) {
	data := env.Lookup("data")
	if y.get == nil {
		return locate(data, "data", 2*listDepth, func(v jsonv.Value) bool {
			for _, key := range []string{"id", y.create.resource + "_id", "name", "key", "slug"} {
				if id, ok := v.Get(key); ok && jsonv.Equal(id, y.thing.id) {
					return true
				}
			}
			return false
		})
	}
	for _, at := range []string{y.create.resource, "item", "resource", "result"} {
		if v := data.Lookup(at); v.Kind() == jsonv.KindObject {
			return "data." + at, v
		}
	}
	return "data", data
}

// reader names the operation that the thing is read with.
func (y *cycle) reader() string {
	if y.get != nil {
		return y.get.name
	}
	return y.list.name
}
