package live

import (
	"slices"
	"strings"

	"mcptest/internal/aql/evidence"
	"mcptest/internal/jsonv"
)

// nothingUpdated is why no field was tried that may only be added to.
const nothingUpdated = "nothing could be created and updated"

// roundTrips creates, reads, updates and deletes one thing of each kind.
func (pr cycleProbe) roundTrips() {
	for _, id := range []string{"merge", "input", "deleted"} {
		pr.run.rows.tests[id].lacking = "nothing could be created, read and updated"
	}
	pr.run.rows.tests["append-only"].lacking = nothingUpdated
	n := 0
	for _, op := range pr.run.catalog.ops {
		if op.category != "CREATE" || op.verb != "create" || pr.run.skipped[op.name] != "" {
			continue
		}
		for _, kind := range pr.run.maker.kinds(op, pr.run.gate.remover(op)) {
			pr.roundTrip(op, kind)
		}
		n++
	}
	if n == 0 {
		pr.run.rows.tests["merge"].lacking += " in mode " + pr.run.o.Mode
	}
}

// cutRoundTrips excuses the rows of round trips when the run ended before
// they were done.
func (pr cycleProbe) cutRoundTrips() {
	if pr.run.caller.ending() != "" {
		pr.run.caller.cutsShort("create-read", "update", "merge", "input", "deleted")
	}
}

func (pr cycleProbe) roundTrip(create *liveOp, kind jsonv.Value) {
	y := pr.run.gate.cycleOf(create)
	if y == nil {
		pr.run.rows.leaves("create-read", create.name, "", "there is no operation that reads what it creates")
		return
	}
	y.params = jsonv.Object()
	for _, p := range create.params {
		v, err := pr.run.maker.filled(create, p)
		switch {
		case err == nil:
			y.params = y.params.With(p.name, v)
		case p.required:
			pr.run.rows.leaves("create-read", create.name, p.name, err.Error())
			return
		}
	}
	for name, v := range kind.Members() {
		y.params = y.params.With(name, v)
	}
	made := pr.run.keeper.attempt(create, y.params)
	if strings.HasPrefix(made.code(), "CONFLICT") && pr.clear(create, y.remove) {
		made = pr.run.keeper.attempt(create, y.params)
	}
	things := pr.run.keeper.ledger.things[create.resource]
	if !made.ok() || len(things) == 0 {
		switch {
		case made.ok() && y.get != nil:
			pr.compareClaimed(y, made)
		case made.sent():
			pr.run.rows.leaves("create-read", create.name, "", "it did not succeed with every documented parameter: "+made.brief())
		case made.cause != nil:
			pr.run.rows.leaves("create-read", create.name, "", made.cause.Error())
		}
		return
	}
	y.thing = things[len(things)-1]
	if y.read = pr.readBack(y); !y.read.sent() {
		return
	}
	pr.compareCreated(y)
	if y.update != nil && pr.run.skipped[y.update.name] == "" && y.read.ok() {
		pr.updates(y)
	}
	if y.remove != nil && pr.run.skipped[y.remove.name] == "" {
		pr.removes(y)
	}
}

// clear removes what the run made of a resource before, where there can be
// only one of it; false when there is nothing to remove.
func (pr cycleProbe) clear(create, remove *liveOp) bool {
	things := slices.Clone(pr.run.keeper.ledger.things[create.resource])
	if remove == nil {
		return false
	}
	for _, t := range things {
		pr.run.keeper.attempt(remove, t.naming(remove, pr.run.builder.fresh(remove)))
	}
	return len(things) > 0
}

// readBack reads the thing: by its own operation, or the page of the list
// that it stands on.
func (pr cycleProbe) readBack(y *cycle) reply {
	if y.get != nil {
		return pr.run.caller.call(y.get, y.thing.naming(y.get, pr.run.builder.fresh(y.get)))
	}
	var last reply
	pr.run.lister.pages(y.list, y.thing.naming(y.list, pr.run.builder.fresh(y.list)), func(r reply) bool {
		last = r
		_, thing := y.place(r.env)
		return thing.IsAbsent()
	})
	return last
}

// compareClaimed reads what the answer to a create names when that is not
// the run's own, and does nothing else to it.
func (pr cycleProbe) compareClaimed(y *cycle, made reply) {
	ids := pr.run.keeper.namedIDs(y.create, y.params, made)
	if len(ids) == 0 {
		pr.run.rows.leaves("create-read", y.create.name, "", "the answer does not say what was created")
		return
	}
	y.thing = createdThing{id: ids[0], with: pr.run.catalog.with(y.create, y.remove, y.params)}
	if y.read = pr.readBack(y); y.read.heard() {
		pr.compareCreated(y)
	}
}

func (pr cycleProbe) compareCreated(y *cycle) {
	prefix, _ := y.place(y.read.env)
	if prefix == "" {
		prefix = "data" // where nothing is, so that the row says so
	}
	f := evidence.FieldsCase{Name: y.create.name + " then " + y.reader(), ReadResponse: pr.run.caller.noted(y.read), Call: y.read.n}
	for name, v := range y.params.Members() {
		if p := y.create.param(name); p.sensitive || evidence.SecretKey(name) || strings.Contains(name, ".") {
			continue
		}
		f.Fields = append(f.Fields, evidence.Field{Path: prefix + "." + name, Value: v})
	}
	pr.run.e.RoundTrips = append(pr.run.e.RoundTrips, f)
}

// removes deletes the thing and reads it again.
func (pr cycleProbe) removes(y *cycle) {
	params := y.thing.naming(y.remove, pr.run.builder.fresh(y.remove))
	r := pr.run.keeper.attempt(y.remove, params)
	if !r.ok() {
		pr.run.cleaner.refusedDelete(y.remove, r)
		return
	}
	pr.run.rows.sees("deleted")
	back := pr.readBack(y)
	if _, still := y.place(back.env); back.ok() && still.Kind() == jsonv.KindObject {
		pr.run.rows.breaks("deleted.gone", back, "%s still answers what %s removed", y.reader(), y.remove.name)
	}
}

// cycleProbe creates, reads, updates and deletes one resource of each kind.
type cycleProbe struct {
	run *collector
}
