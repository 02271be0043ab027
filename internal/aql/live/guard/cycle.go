package guard

import (
	"mcptest/internal/aql/live/catalog"
	"mcptest/internal/jsonv"
)

// Cycle holds one item and the operations that it passes through.
type Cycle struct {
	Create, Get, Update, Remove *catalog.Operation // get is nil where only a list shows it
	List                        *catalog.Operation
	Params                      jsonv.Value
	Thing                       CreatedThing
	Read                        Reply
}

// CycleOf finds the operations of a resource; nil when nothing reads it.
func (g *gate) CycleOf(create *catalog.Operation) *Cycle {
	callable := func(op *catalog.Operation) bool { return op != nil && g.run.Skipped[op.Name] == "" }
	y := &Cycle{Create: create, Get: g.run.Catalog.Partner("get", "READ", create.Resource), Update: g.run.Catalog.Partner("update", "UPDATE", create.Resource), Remove: g.Remover(create)}
	if g.run.Catalog.AtMostOne(create) {
		y.Get = g.run.Catalog.Exact("get", "READ", create.Resource)
	} else if y.Get != nil && y.Get.IdParam() == nil {
		y.Get = nil
	}
	if !callable(y.Get) {
		y.Get, y.List = nil, g.run.Catalog.Partner("list", "READ", create.Resource)
	}
	if y.Get == nil && !callable(y.List) {
		return nil
	}
	return y
}

// Place returns where an answer holds a resource.
func (y *Cycle) Place(env jsonv.Value) (prefix string, thing jsonv.Value) {
	data := env.Lookup("data")
	if y.Get == nil {
		return locate(data, "data", 2*catalog.ListDepth, func(v jsonv.Value) bool {
			for _, key := range []string{"id", y.Create.Resource + "_id", "name", "key", "slug"} {
				if id, ok := v.Get(key); ok && jsonv.Equal(id, y.Thing.Id) {
					return true
				}
			}
			return false
		})
	}
	for _, at := range []string{y.Create.Resource, "item", "resource", "result"} {
		if v := data.Lookup(at); v.Kind() == jsonv.KindObject {
			return "data." + at, v
		}
	}
	return "data", data
}

// Reader returns the name of the operation that reads the item.
func (y *Cycle) Reader() string {
	if y.Get != nil {
		return y.Get.Name
	}
	return y.List.Name
}
