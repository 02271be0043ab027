package live

import (
	"context"
	"slices"
	"strings"
	"time"

	"mcptest/internal/aql/evidence"
	"mcptest/internal/jsonv"
)

// What a run created is known by identifier, and is gone when the run ends.

// cleanUpTime is how long the clean-up of a run that was ended may take.
const cleanUpTime = 30 * time.Second

// cleanUp removes what the run created, latest first. It works after the
// run's own context ended. The last one sees that nothing else has changed.
func (cr *cleaner) cleanUp(last bool) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(cr.run.caller.ctx), cleanUpTime)
	defer cancel()
	ctx = cr.run.caller.tape.Context(ctx)
	own, before := cr.run.caller.ctx, cr.cleaning
	cr.run.caller.ctx, cr.cleaning = ctx, true
	defer func() { cr.run.caller.ctx, cr.cleaning = own, before }()
	cr.run.executor.endExecutions()
	cr.findDoubtful()
	cr.findLost()
	for i := len(cr.run.catalog.ops) - 1; i >= 0; i-- {
		op := cr.run.catalog.ops[i]
		things := cr.run.keeper.ledger.things[op.resource]
		if op.category != "CREATE" || len(things) == 0 {
			continue
		}
		remove := cr.run.gate.remover(op)
		for k := len(things) - 1; k >= 0; k-- {
			cr.removeOne(ctx, op, remove, things[k])
		}
		delete(cr.run.keeper.ledger.things, op.resource)
	}
	if last {
		cr.run.watcher.checkOthers()
	}
}

// findLost looks for what creates made whose answers never came: it has the
// run's marker. An adapter may still be at work on it, so it is looked for
// more than once.
func (cr *cleaner) findLost() {
	lost := map[*liveOp]int{}
	for _, op := range cr.lost {
		lost[op]++
	}
	cr.lost = nil
	for _, op := range cr.run.catalog.ops {
		if lost[op] == 0 || cr.run.gate.remover(op) == nil {
			continue
		}
		found := 0
		for _, d := range []time.Duration{0, 200 * time.Millisecond, time.Second, 3 * time.Second} {
			if found >= lost[op] || cr.run.caller.dead != "" || !cr.run.caller.tape.Pause(cr.run.caller.ctx, d) {
				break
			}
			found += cr.run.watcher.addMarked(op)
		}
	}
}

func (cr *cleaner) removeOne(ctx context.Context, op, remove *liveOp, t createdThing) {
	note := evidence.Object{evidence.TextMember("operation", op.name)}
	note.Set("id", t.id)
	if remove == nil {
		_, why := cr.run.gate.removal(op)
		note.Set("reason", jsonv.String(why))
		cr.leftovers = append(cr.leftovers, note.Value())
		return
	}
	params := jsonv.Object()
	for _, p := range remove.params {
		if p.required && !remove.isIdentifier(p) {
			if v, err := cr.run.maker.value(remove, p, p.name); err == nil {
				params = params.With(p.name, v)
			}
		}
	}
	params = t.naming(remove, params)
	var r reply
	for try := range 3 {
		r = cr.run.caller.exchange(ctx, reply{tool: remove.tool, args: jsonv.Object(evidence.TextMember("operation", remove.name), jsonv.Member{Key: "params", Value: params})})
		if r.ok() || strings.HasPrefix(r.code(), "NOT_FOUND") || r.budget || try == 2 {
			break
		}
	}
	gone := r.ok() || strings.HasPrefix(r.code(), "NOT_FOUND")
	if !gone && r.heard() { // an adapter has its own words for what is gone
		_, gone = cr.run.lister.fate(op, t, cr.run.maker.mine())
	}
	if gone {
		cr.cleaned = append(cr.cleaned, note.Value())
		if cr.run.o.Journal != nil {
			_ = cr.run.o.Journal.Deleted(cr.run.catalog.idKey(remove), t.id)
		}
		return
	}
	cr.refusedDelete(remove, r)
	note.Set("reason", jsonv.String(r.brief()))
	cr.leftovers = append(cr.leftovers, note.Value())
}

// cleaner removes what the run created.
type cleaner struct {
	run       *collector
	stays     map[string]string // resource → why nothing of it can be removed
	lost      []*liveOp         // creates whose answer never came
	doubtful  []doubtfulThing   // creates whose thing could not be read
	cleaning  bool
	cleaned   []jsonv.Value
	leftovers []jsonv.Value
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

// staying says why nothing more of a resource may be created, or "".
func (cr *cleaner) staying(create *liveOp) string {
	for resource, why := range cr.stays {
		if sameResource(resource, create.resource) {
			return why
		}
	}
	return ""
}
