package guard

import (
	"slices"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/live/catalog"
)

// ledger holds what a run created and verified as its own: items by resource, and
// executions. Nothing else is ever changed, removed or ended.
type ledger struct {
	Things     map[string][]CreatedThing
	added      int
	ever       map[string][]jsonv.Value // identifiers, including those of removed items
	executions []*execution
}

// Add adds an item; it returns false if the item is already present.
func (l *ledger) Add(resource string, t CreatedThing) bool {
	if slices.ContainsFunc(l.Things[resource], t.Equal) {
		return false
	}
	l.added++
	t.order = l.added
	l.Things[resource] = append(l.Things[resource], t)
	l.ever[resource] = append(l.ever[resource], t.Id)
	return true
}

// made reports whether the run created an item with this identifier, even if it has
// been removed since.
func (l *ledger) made(resource string, id jsonv.Value) bool {
	for res, ids := range l.ever {
		if catalog.SameResource(res, resource) && !id.IsAbsent() && slices.ContainsFunc(ids, func(o jsonv.Value) bool { return jsonv.Equal(o, id) }) {
			return true
		}
	}
	return false
}

// named lists the items of a resource that have an identifier.
func (l *ledger) named(resource string, id jsonv.Value) (out []CreatedThing) {
	for res, things := range l.Things {
		for _, t := range things {
			if catalog.SameResource(res, resource) && !t.Id.IsAbsent() && jsonv.Equal(t.Id, id) {
				out = append(out, t)
			}
		}
	}
	return out
}

// remove drops an item that a delete removed.
func (l *ledger) remove(resource string, id jsonv.Value) {
	for res, things := range l.Things {
		if catalog.SameResource(res, resource) {
			l.Things[res] = slices.DeleteFunc(things, func(t CreatedThing) bool { return jsonv.Equal(t.Id, id) })
		}
	}
}

// holds reports whether something else of the run belongs to an item.
func (l *ledger) holds(t CreatedThing) bool {
	for _, things := range l.Things {
		for _, o := range things {
			for name, v := range o.With.Members() {
				if catalog.Stem(name) != "" && jsonv.Equal(v, t.Id) {
					return true
				}
			}
		}
	}
	return false
}

// execution returns an execution by its identifier, or nil if the run did not start
// it.
func (l *ledger) execution(id jsonv.Value) *execution {
	for _, x := range l.executions {
		if jsonv.Equal(x.id, id) {
			return x
		}
	}
	return nil
}

// CreatedThing is an item that the run created: its identifier, absent where there is
// at most one item, and the other parameters that name it.
type CreatedThing struct {
	Id, With jsonv.Value
	order    int // of creation
}

// Equal reports whether two items have the same identifier and kind.
func (t CreatedThing) Equal(o CreatedThing) bool {
	return jsonv.Equal(t.Id, o.Id) && t.With.Len() == o.With.Len() && (t.With.Len() == 0 || jsonv.Equal(t.With, o.With))
}

// Naming adds the parameters that name an item.
func (t CreatedThing) Naming(op *catalog.Operation, params jsonv.Value) jsonv.Value {
	if id := op.IDParam(); id != nil && !t.Id.IsAbsent() {
		params = params.With(id.Name, t.Id)
	}
	for name, v := range t.With.Members() {
		if op.Param(name) != nil {
			params = params.With(name, v)
		}
	}
	return params
}

// execution is one that this run started.
type execution struct {
	id     jsonv.Value
	starts *catalog.Operation
	Status string // as last seen
	Over   bool   // it ended, or an answer reported its end
}
