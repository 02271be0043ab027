package live

import (
	"slices"
	"strings"

	"mcptest/internal/jsonv"
)

// gate decides which requests leave. Every request of a run passes it,
// whatever it is meant to show: an adapter with the very defect that a probe
// looks for would otherwise change or remove what others own. It lets pass
// what only reads, creates that are marked or can be found again, and what
// names something of the run's ledger; everything else is not sent.
type gate struct{ run *collector }

// Why the gate refuses a request.
const (
	whyForeign   = "it would touch what this run did not create"
	whyUnnamed   = "without an identifier it may touch what this run did not create"
	whyNotBegun  = "it would touch what this run did not start"
	whyUnlisted  = "introspection lists no such operation"
	whyUnmarked  = "it would create something without the run's mark, which no list would show"
	whyTaken     = "something may have this key already, which it would write over"
	whyAlike     = "its identifier is part of one that others own, or the same but for case, so the adapter may take one for the other"
	whyUndefined = "it names nothing of this run, and a call against its documentation may do anything"
)

// refuses says why arguments of a tool may not be sent, or "".
func (g *gate) refuses(args jsonv.Value) string {
	batch := args.Lookup("operations")
	for _, one := range batch.Elems() {
		if why := g.refuses(one); why != "" {
			return why
		}
	}
	name := args.Lookup("operation")
	op := g.run.catalog.op(name.Text())
	params := args.Lookup("params")
	switch {
	case name.Kind() != jsonv.KindString:
		if params.Len() > 0 {
			return whyUnlisted
		}
		return ""
	case name.Text() == "introspect", name.Text() == noOperation, op == nil && name.Text() == "batch" && batch.Len() > 0:
		return ""
	case op == nil:
		return whyUnlisted
	}
	if why := g.run.gate.barred(op); why != "" {
		return why
	}
	switch {
	case op.risk == riskRead:
		return ""
	case op.changes():
		return g.change(op, params)
	case op.creates():
		return g.create(op, params)
	}
	return g.execute(op, params)
}

// change lets an update or a delete pass that names a thing of the ledger.
func (g *gate) change(op *liveOp, params jsonv.Value) string {
	id := op.idParam()
	if id == nil {
		if g.run.catalog.atMostOne(op) && len(g.run.keeper.ledger.things[op.resource]) > 0 {
			return "" // the run saw that there was none before
		}
		return whyUnnamed
	}
	for _, p := range op.params {
		if !op.isIdentifier(p) {
			continue
		}
		v, given := params.Get(p.name)
		switch {
		case !given:
			return whyUnnamed
		case g.userNamed(op, p.name, v) && (p.name != id.name || g.run.o.Mode == ModeFull):
		case p.name == id.name && !g.owns(op, v, params), p.name != id.name && len(g.run.keeper.ledger.named(stem(p.name), v)) == 0:
			return whyForeign
		case g.run.watcher.census.resembles(op.resource, v, g.run.catalog.itemKeys):
			return whyAlike
		}
	}
	return ""
}

// owns says that parameters name a thing of the run, of its own kind.
func (g *gate) owns(op *liveOp, id, params jsonv.Value) bool {
	return slices.ContainsFunc(g.run.keeper.ledger.named(op.resource, id), func(t createdThing) bool {
		for name, v := range t.with.Members() {
			if op.param(name) != nil && !jsonv.Equal(params.Lookup(name), v) {
				return false
			}
		}
		return true
	})
}

// create lets a create pass whose parameters carry the run's mark. A probe
// that leaves the mark out is sent where a list shows what it made. A key that
// may be taken could write over what has it, and a number that names another
// thing would make the new one a part of it.
func (g *gate) create(op *liveOp, params jsonv.Value) string {
	listed := g.run.watcher.census.reads(op.resource)
	plain := op.verb == "create"
	if !matchesAny(op.name, g.run.o.Allow) && !carries(params, g.run.maker.mine()) && !(listed && plain) {
		return whyUnmarked
	}
	for _, p := range op.params {
		if named := p.name == "id" || stem(p.name) != ""; plain || !named || !p.required {
			continue
		}
		if v := params.Lookup(p.name); !g.names(op, p.name, v) && !g.userNamed(op, p.name, v) {
			return whyForeign // an action of another name on something that is there
		}
	}
	keys := g.run.catalog.itemKeys(op)
	for name, v := range params.Members() {
		if g.userNamed(op, name, v) || carries(v, g.run.maker.mine()) {
			continue
		}
		switch {
		case !slices.Contains(keys, name):
			if v.Kind() == jsonv.KindNumber && stem(name) != "" && len(g.run.keeper.ledger.named(stem(name), v)) == 0 {
				return whyForeign
			}
		case !listed || g.run.watcher.census.knows(op.resource, v):
			return whyTaken
		}
	}
	return ""
}

// execute lets pass what acts on an execution or a thing of the run, and what
// begins something of its own, as it is documented.
func (g *gate) execute(op *liveOp, params jsonv.Value) string {
	if x := op.executionParam(); x != nil {
		if v := params.Lookup(x.name); g.run.keeper.ledger.execution(v) == nil && !g.userNamed(op, x.name, v) {
			return whyNotBegun
		}
		return ""
	}
	for _, p := range op.params {
		if !op.isIdentifier(p) || op.category == "READ" {
			continue
		}
		if v := params.Lookup(p.name); !g.names(op, p.name, v) && !g.userNamed(op, p.name, v) {
			return whyForeign
		}
	}
	for _, p := range op.params {
		v, given := params.Get(p.name)
		if !given && p.required || given && g.run.catalog.fits(p, v) != "" && !g.userNamed(op, p.name, v) {
			return whyUndefined
		}
	}
	return ""
}

// names says that a parameter's value is a thing of the run: of the
// operation's resource, or of the one that the parameter speaks of.
func (g *gate) names(op *liveOp, param string, v jsonv.Value) bool {
	return len(g.run.keeper.ledger.named(op.resource, v))+len(g.run.keeper.ledger.named(stem(param), v)) > 0
}

// userNamed says that a value is the user's own word.
func (g *gate) userNamed(op *liveOp, param string, v jsonv.Value) bool {
	for _, at := range []string{op.name, "*"} {
		if own, ok := g.run.o.Values.Lookup(at).Get(param); ok && jsonv.Equal(own, v) {
			return true
		}
	}
	return false
}

// forbidden says why arguments may not be sent, or "".
func (g *gate) forbidden(args jsonv.Value) string {
	if reason := g.run.caller.poison[args.Lookup("operation").Text()]; reason != "" {
		return reason
	}
	return g.run.gate.refuses(args)
}

// barred says why an operation may not be called at all, or "".
func (g *gate) barred(op *liveOp) string {
	named := matchesAny(op.name, g.run.o.Allow)
	if matchesAny(op.name, g.run.o.Deny) {
		return "denied by --deny-op"
	}
	why := strings.Join(op.why, ", ")
	switch {
	case op.risk == riskRead:
		return ""
	case g.run.o.Mode == ModeSafe || g.run.o.Mode == ModePlan:
		return "mode " + g.run.o.Mode + " does not call it: " + why
	case op.risk == riskExtreme && !slices.Contains(g.run.o.Allow, op.name):
		return "only called when --allow-op names it: " + why
	case op.risk >= riskDanger && !named:
		return "only called when --allow-op matches it: " + why
	case op.category == "READ" && !named:
		return "mode " + g.run.o.Mode + " does not call it without --allow-op: " + why
	case op.name == stepOperation && g.run.o.Mode == ModeFull:
	case op.category == "CREATE" && g.remover(op) == nil && !named:
		_, why := g.removal(op)
		return why + ", so what it creates would remain; --allow-op calls it anyway"
	case op.category == "CREATE" && !named && g.run.cleaner.staying(op) != "":
		return g.run.cleaner.staying(op)
	case op.creates() && !named && !g.run.maker.canMark(op):
		return "what it creates cannot carry the run's mark; --allow-op calls it anyway"
	case op.category == "CREATE" && !named && op.verb == "create" && g.cycleOf(op) == nil:
		return "no operation reads what it creates, so that the run could not tell what is its own; --allow-op calls it anyway"
	case op.category == "DELETE" && g.run.catalog.creator(op) == nil, op.category == "UPDATE" && g.run.catalog.creator(op) == nil:
		if id := op.idParam(); g.run.o.Mode == ModeFull && id != nil && !g.run.o.Values.Lookup(op.name, id.name).IsAbsent() {
			return ""
		}
		return "no operation creates something that it could be called with"
	case op.category == "EXECUTE" && g.run.o.Mode != ModeFull:
		return "mode write does not call it: " + why
	case op.actsUnnamed() && !named:
		return "it cannot be called with something of this run, and it is not documented as starting an execution; --allow-op calls it as documented"
	}
	return ""
}

// remover is the operation that removes what a create makes, nil when there
// is none that may be called.
func (g *gate) remover(op *liveOp) *liveOp {
	remove, _ := g.removal(op)
	return remove
}

// removal is remover, with the reason where there is none.
func (g *gate) removal(op *liveOp) (remove *liveOp, why string) {
	d := g.run.catalog.partner("delete", "DELETE", op.resource)
	one := g.run.catalog.atMostOne(op)
	if one {
		d = g.run.catalog.exact("delete", "DELETE", op.resource)
	}
	switch {
	case d == nil:
		return nil, "no DELETE operation of its resource was found"
	case !one && d.idParam() == nil:
		return nil, d.name + " requires no identifier"
	case matchesAny(d.name, g.run.o.Deny):
		return nil, d.name + " is denied by --deny-op"
	case d.risk > riskDelete && !matchesAny(d.name, g.run.o.Allow):
		return nil, d.name + " is only called when --allow-op names it"
	}
	return d, ""
}

// noOperation is the name of an operation that no adapter has.
const noOperation = "zz_no_such_operation"
