package live

import (
	"slices"

	"mcptest/internal/jsonv"
)

// ledger is what a run made and verified to be its own: things by resource,
// and executions. Nothing else is ever changed, removed or ended.
type ledger struct {
	things     map[string][]createdThing
	ever       map[string][]jsonv.Value // identifiers, of what is gone again, too
	executions []*execution
}

func newLedger() *ledger {
	return &ledger{things: map[string][]createdThing{}, ever: map[string][]jsonv.Value{}}
}

// add enters a thing; false when it is there already.
func (l *ledger) add(resource string, t createdThing) bool {
	if slices.ContainsFunc(l.things[resource], t.equal) {
		return false
	}
	l.things[resource] = append(l.things[resource], t)
	l.ever[resource] = append(l.ever[resource], t.id)
	return true
}

// made says that the run created something of this identifier, whether it is
// there still or not.
func (l *ledger) made(resource string, id jsonv.Value) bool {
	for res, ids := range l.ever {
		if sameResource(res, resource) && !id.IsAbsent() && slices.ContainsFunc(ids, func(o jsonv.Value) bool { return jsonv.Equal(o, id) }) {
			return true
		}
	}
	return false
}

// named lists the things of a resource that have an identifier.
func (l *ledger) named(resource string, id jsonv.Value) (out []createdThing) {
	for res, things := range l.things {
		for _, t := range things {
			if sameResource(res, resource) && !t.id.IsAbsent() && jsonv.Equal(t.id, id) {
				out = append(out, t)
			}
		}
	}
	return out
}

// remove takes out what a delete removed.
func (l *ledger) remove(resource string, id jsonv.Value) {
	for res, things := range l.things {
		if sameResource(res, resource) {
			l.things[res] = slices.DeleteFunc(things, func(t createdThing) bool { return jsonv.Equal(t.id, id) })
		}
	}
}

// execution finds one by its identifier; nil when the run did not start it.
func (l *ledger) execution(id jsonv.Value) *execution {
	for _, x := range l.executions {
		if jsonv.Equal(x.id, id) {
			return x
		}
	}
	return nil
}

// createdThing is something that the run created: its identifier, absent
// where there is at most one, and what else names it.
type createdThing struct{ id, with jsonv.Value }

func (t createdThing) equal(o createdThing) bool {
	return jsonv.Equal(t.id, o.id) && t.with.Len() == o.with.Len() && (t.with.Len() == 0 || jsonv.Equal(t.with, o.with))
}

// naming adds what names a thing to parameters of an operation.
func (t createdThing) naming(op *liveOp, params jsonv.Value) jsonv.Value {
	for name, v := range t.with.Members() {
		if op.param(name) != nil {
			params = params.With(name, v)
		}
	}
	if id := op.idParam(); id != nil && !t.id.IsAbsent() {
		params = params.With(id.name, t.id)
	}
	return params
}
