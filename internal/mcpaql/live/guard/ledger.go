package guard

import (
	"cmp"
	"slices"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lists"
	"mcptest/internal/mcpaql/live/catalog"
)

// ledger holds what a run created and verified as its own: items by resource, and
// executions. Nothing else is ever changed, removed or ended. It also holds what the run
// created and could not verify or remove.
type ledger struct {
	things     []CreatedThing // in the order of creation
	ever       []CreatedThing // including removed ones, and those that the run cannot prove to own
	executions []*execution
	deleting   map[string]bool      // identifiers for which a delete was sent
	stays      map[string]string    // resource → why none of its items can be removed
	lost       []*catalog.Operation // creates whose answer never came
	doubtful   []func()             // decide about creates whose item could not be read immediately
	Leftovers  []jsonv.Value
}

// ListThings returns the items of a resource with exactly this name.
func (l *ledger) ListThings(resource string) []CreatedThing {
	var things []CreatedThing
	for _, t := range l.things {
		if t.resource == resource {
			things = append(things, t)
		}
	}
	return things
}

// Add adds an item; it returns false if the item is already present.
func (l *ledger) Add(resource string, t CreatedThing) bool {
	if slices.ContainsFunc(l.ListThings(resource), t.Equal) {
		return false
	}
	t.resource = resource
	l.things, l.ever = append(l.things, t), append(l.ever, t)
	return true
}

// is reports whether an item has an identifier, in a resource with this name in
// singular or plural.
func (t CreatedThing) is(resource string, id jsonv.Value) bool {
	return catalog.IsSameResource(t.resource, resource) && jsonv.Equal(t.ID, id)
}

// hasMade reports whether the run created an item with this identifier, even if it has
// been removed since.
func (l *ledger) hasMade(resource string, id jsonv.Value) bool {
	return !id.IsAbsent() && slices.ContainsFunc(l.ever, func(t CreatedThing) bool { return t.is(resource, id) })
}

// findThings lists the items of a resource that have an identifier.
func (l *ledger) findThings(resource string, id jsonv.Value) []CreatedThing {
	var named []CreatedThing
	for _, t := range l.things {
		if !id.IsAbsent() && t.is(resource, id) {
			named = append(named, t)
		}
	}
	return named
}

// remove drops an item that a delete removed.
func (l *ledger) remove(resource string, id jsonv.Value) {
	l.things = slices.DeleteFunc(l.things, func(t CreatedThing) bool { return t.is(resource, id) })
}

// holds reports whether something else of the run belongs to an item.
func (l *ledger) holds(t CreatedThing) bool {
	for _, o := range l.things {
		for name, v := range o.With.Members() {
			if catalog.ParseStem(name) != "" && jsonv.Equal(v, t.ID) {
				return true
			}
		}
	}
	return false
}

// findExecution returns an execution by its identifier, or nil if the run did not start
// it.
func (l *ledger) findExecution(id jsonv.Value) *execution {
	return lists.First(l.executions, func(x *execution) bool { return jsonv.Equal(x.id, id) })
}

// CreatedThing is an item that the run created: its identifier, absent where there is
// at most one item, and the other parameters that name it.
type CreatedThing struct {
	ID, With jsonv.Value
	resource string
}

// Equal reports whether two items have the same identifier and kind.
func (t CreatedThing) Equal(o CreatedThing) bool {
	if !jsonv.Equal(t.ID, o.ID) || t.With.Len() != o.With.Len() {
		return false
	}
	return t.With.Len() == 0 || jsonv.Equal(t.With, o.With)
}

// AddNaming adds the parameters that name an item.
func (t CreatedThing) AddNaming(op *catalog.Operation, params jsonv.Value) jsonv.Value {
	if id := op.FindIDParam(); id != nil && !t.ID.IsAbsent() {
		params = params.With(id.Name, t.ID)
	}
	for name, v := range t.With.Members() {
		if op.FindParam(name) != nil {
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

// leave records something that the run leaves behind: an id, or the call that may
// have created it.
func (l *ledger) leave(op *catalog.Operation, key string, v any, reason string) {
	l.Leftovers = append(l.Leftovers, jsonv.ObjectOf("operation", op.Name, key, v, "reason", reason))
}

// NoteRefusedDelete records that the items of a resource stay, because a valid delete of
// one of the run's own items was refused. No more items of that kind are created.
func (l *ledger) NoteRefusedDelete(op *catalog.Operation, r Reply) {
	blamed := r.isOneOf("NOT_FOUND", "VALIDATION_", "CONFLICT_", "RATE_LIMIT", "CONFIRMATION_", "TOKEN_")
	if r.WasHeard() && !r.IsOK() && !blamed && l.stays[op.Resource] == "" {
		l.stays[op.Resource] = op.Name + " was refused, so new items could not be removed: " + r.FormatBrief()
	}
}

// explainStay returns why no more items of a resource may be created, or "".
func (l *ledger) explainStay(create *catalog.Operation) string {
	for resource, why := range l.stays {
		if catalog.IsSameResource(resource, create.Resource) {
			return why
		}
	}
	return ""
}

// track records the data about an execution of this run in an answer.
func (l *ledger) track(op *catalog.Operation, r Reply) {
	if op == nil || !r.IsOK() {
		return
	}
	state := r.Data()
	id, status := state.Lookup(catalog.ExecutionKey), state.Lookup("status").Text()
	if id.IsAbsent() && op.FindExecutionParam() != nil {
		id = r.Args.Lookup("params", op.FindExecutionParam().Name)
	}
	x := l.findExecution(id)
	if x == nil && op.Starts() && id.Kind() == jsonv.KindString {
		x = &execution{id: id, starts: op}
		l.executions = append(l.executions, x)
	}
	if x == nil {
		return
	}
	x.Status = cmp.Or(status, x.Status)
	// An operation that aborts something may answer without a state.
	wasAborted := status == "" && op.Category == "EXECUTE" && op.ControlsExecution()
	if slices.Contains(TerminalStates, status) || wasAborted {
		x.Over = true
	}
}

// The states that the specification defines, and those of them that are final.
var (
	CoreStates     = []string{"pending", "running", "completed", "failed", "cancelled"}
	TerminalStates = []string{"completed", "failed", "cancelled"}
)
