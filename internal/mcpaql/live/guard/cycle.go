package guard

import (
	"cmp"
	"slices"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/live/catalog"
)

// Cycle holds one item and the operations that it passes through.
type Cycle struct {
	Create, Get, Update, Remove *catalog.Operation // get is nil where only a list shows it
	List                        *catalog.Operation
	Params                      jsonv.Value
	Thing                       CreatedThing
	Read                        Reply
}

// Place returns where an answer holds a resource.
func (y *Cycle) Place(r Reply) (prefix string, thing jsonv.Value) {
	data, at := unwrapData(r.Envelope)
	if y.Get == nil {
		return locate(data, at, 2*catalog.ListDepth, func(v jsonv.Value) bool {
			keys := []string{"id", y.Create.Resource + "_id", "name", "key", "slug"}
			return slices.ContainsFunc(keys, func(key string) bool {
				id, ok := v.Get(key)
				return ok && jsonv.Equal(id, y.Thing.ID)
			})
		})
	}
	for _, key := range []string{y.Create.Resource, "item", "resource", "result"} {
		if v := data.Lookup(key); v.Kind() == jsonv.KindObject {
			return at + "." + key, v
		}
	}
	return at, data
}

// NameReader returns the name of the operation that reads the item.
func (y *Cycle) NameReader() string {
	return cmp.Or(y.Get, y.List).Name
}

// locate finds the object in an answer that match accepts, and its dot path
// below a given one.
func locate(v jsonv.Value, path string, depth int, match func(jsonv.Value) bool) (at string, found jsonv.Value) {
	if depth == 0 {
		return "", jsonv.Value{}
	}
	if v.Kind() == jsonv.KindObject && match(v) {
		return path, v
	}
	for k, e := range v.Children() {
		if at, found = locate(e, path+"."+k, depth-1, match); at != "" {
			return at, found
		}
	}
	return "", jsonv.Value{}
}
