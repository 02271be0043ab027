package live

import (
	"context"
	"strings"

	"mcptest/internal/aql/evidence"
	"mcptest/internal/aql/rule"
	"mcptest/internal/jsonv"
)

const (
	noType = "ZzNoSuchType"
)

// probeRequests sends requests that are wrong as a whole, all of them to the
// tool that takes introspection: there is nothing they could change.
func (p requestProbe) probeRequests() {
	query := func(v jsonv.Value) jsonv.Value {
		return jsonv.Object(evidence.TextMember("operation", "introspect"), jsonv.Member{Key: "params", Value: jsonv.Object(jsonv.Member{Key: "query", Value: v})})
	}
	if !p.run.bare {
		p.run.failed("introspect with a query that does not exist", p.run.caller.send(p.run.catalog.reader, query(jsonv.String("zz_bad_query"))), "query")
		p.run.failed("introspect with a number as query", p.run.caller.send(p.run.catalog.reader, query(jsonv.Int(42))), "query")
	}
	p.run.failed("an unknown operation", p.run.caller.send(p.run.catalog.reader, jsonv.Object(evidence.TextMember("operation", noOperation), jsonv.Member{Key: "params", Value: jsonv.Object()})), noOperation)
	p.run.failed("a request without operation", p.run.caller.send(p.run.catalog.reader, jsonv.Object(jsonv.Member{Key: "params", Value: jsonv.Object()})), "operation")
	p.run.failed("a number as operation", p.run.caller.send(p.run.catalog.reader, jsonv.Object(jsonv.Member{Key: "operation", Value: jsonv.Int(42)})), "operation")
	p.run.failed("a call without arguments", p.run.caller.send(p.run.catalog.reader, jsonv.Value{}), "operation")
	p.run.rows.sees("request")
	good := query(jsonv.String("operations"))
	for _, key := range []string{"_meta", "_request_id"} {
		v := jsonv.String("zz_conf")
		if key == "_meta" {
			v = jsonv.Object()
		}
		refused := func() (reply, bool) {
			r := p.run.caller.send(p.run.catalog.reader, good.With(key, v))
			return r, r.heard() && !r.ok()
		}
		// The refusal is the member's when the same request without it is taken.
		if _, first := refused(); !first || !p.run.caller.send(p.run.catalog.reader, good).ok() {
			continue
		}
		if r, again := refused(); again {
			p.run.rows.breaks("request.meta", r, "%s next to params is rejected: %s", key, r.brief())
		}
	}
	if r := p.run.caller.send(p.run.catalog.reader, good.With("query", jsonv.String("types"))); r.ok() && r.data().Lookup("operations").IsAbsent() && !r.data().Lookup("types").IsAbsent() {
		p.run.rows.breaks("request.params-win", r, "a parameter next to params overrides the one inside")
	}
}

// probeRouting sends operations to the endpoints of other categories.
func (p requestProbe) probeRouting() {
	t := p.run.rows.tests["routing"]
	if len(p.run.catalog.families) < 2 {
		t.moot = "there is only one endpoint"
		return
	}
	t.lacking = "no operation could be sent to another endpoint"
	var reads *liveOp
	for _, op := range p.run.catalog.ops {
		// Where no operation can be called, one that only reads is sent without
		// parameters: an endpoint refuses it before it looks at those.
		if op.category == "READ" && op.name != "introspect" && (p.run.skipped[op.name] == "" || reads == nil && p.run.gate.barred(op) == "") {
			if reads = op; p.run.skipped[op.name] == "" {
				break
			}
		}
	}
	if reads != nil {
		for _, category := range rule.SemanticCategories {
			if tool := p.run.catalog.families[category]; tool != "" && tool != reads.tool {
				p.misroute(reads, tool, p.run.builder.fresh(reads))
			}
		}
	}
	done := map[string]bool{}
	for _, op := range p.run.catalog.ops {
		if op.category == "READ" || done[op.category] || p.run.skipped[op.name] != "" || op.tool == p.run.catalog.reader || op.bare() {
			continue
		}
		// The call is complete, so that it touches what it names and nothing
		// else where it is taken.
		if params, why := p.run.builder.params(op); why == "" {
			done[op.category] = true
			p.misroute(op, p.run.catalog.reader, params)
		}
	}
}

func (p requestProbe) misroute(op *liveOp, tool string, params jsonv.Value) {
	r := p.run.keeper.attemptOn(tool, op, jsonv.Object(evidence.TextMember("operation", op.name), jsonv.Member{Key: "params", Value: params}))
	if !r.heard() {
		return
	}
	p.run.rows.sees("routing")
	switch code := r.code(); {
	case r.ok(), op.category != "READ" && code == "VALIDATION_MISSING_PARAM":
		p.run.rows.breaks("routing.refused", r, "%s accepts %s, which belongs to %s", tool, op.name, op.tool)
	case r.refused() && (code == "VALIDATION_ENDPOINT_MISMATCH" || code == "VALIDATION_WRONG_ENDPOINT" || evidence.Names(r.message(), op.tool)):
		p.run.failed(op.name+" on "+tool, r, op.tool)
	default:
		p.run.rows.breaks("routing.named", r, "%s on %s is rejected without naming %s: %s", op.name, tool, op.tool, r.brief())
		p.run.failed(op.name+" on "+tool, r, op.tool)
	}
}

// probeLevel2 looks at field selection and batches.
func (pr featureProbe) probeLevel2() {
	for _, op := range pr.run.catalog.ops {
		p := op.param("fields")
		base := pr.run.base[op.name]
		if op.category != "READ" || p == nil || !base.ok() {
			continue
		}
		one := sample(base.data())
		keys := scalarKeys(one)
		if len(keys) < 3 || one.Len() < 3 {
			continue
		}
		want := keys[len(keys)-2:]
		r := pr.run.caller.call(op, pr.run.builder.fresh(op).With("fields", evidence.TextList(want)))
		if !r.sent() {
			pr.run.caller.cutsShort("fields")
		}
		if !r.ok() {
			continue
		}
		if pr.run.e.FieldSelection = onlyFields(sample(r.data()), want); pr.run.e.FieldSelection {
			break
		}
	}
	if pr.run.caller.ending() != "" {
		pr.run.caller.cutsShort("fields")
	}
	pr.probeBatch()
}

// probeBatch sends a batch of introspection queries, and compares both features
// with the capabilities that the adapter declares.
func (pr featureProbe) probeBatch() {
	part := func(op, query string) jsonv.Value {
		o := jsonv.Object(evidence.TextMember("operation", op))
		if query != "" {
			o = o.With("params", jsonv.Object(evidence.TextMember("query", query)))
		}
		return o
	}
	list := jsonv.Array(part("introspect", "operations"), part(noOperation, ""), part("introspect", "types"))
	r := pr.run.caller.send(pr.run.catalog.reader, jsonv.Object(jsonv.Member{Key: "operations", Value: list}))
	if !r.sent() {
		pr.run.caller.cutsShort("batch")
	}
	if !r.ok() && evidence.Names(r.message(), "operation") {
		if again := pr.run.caller.send(pr.run.catalog.reader, jsonv.Object(evidence.TextMember("operation", "batch"), jsonv.Member{Key: "operations", Value: list})); again.ok() {
			pr.run.speaks("a batch needs operation: batch")
			r = again
		}
	}
	if r.ok() && r.env.Lookup("results").Kind() == jsonv.KindArray {
		pr.run.e.BatchOperations = true
		pr.run.e.BatchExample = pr.run.caller.noted(r)
		pr.run.batchSent = list.Len()
	}
	proto := pr.run.e.OperationsList.Lookup("data", "_protocol", "capabilities")
	for name, seen := range map[string]bool{"batch": pr.run.e.BatchOperations, "field_selection": pr.run.e.FieldSelection} {
		if pr.run.caller.short["batch"] != "" || name == "field_selection" && pr.run.caller.short["fields"] != "" {
			continue
		}
		if flag := proto.Lookup(name); flag.Kind() == jsonv.KindBool && flag.Bool() != seen && pr.run.o.Mode != ModePlan {
			pr.run.rows.tests["tools"].cases++
			pr.run.rows.breaks("tools.capability", r, "_protocol.capabilities.%s is %v, and it was seen to be %v", name, flag.Bool(), seen)
		}
	}
}

// onlyFields says that an object holds what was asked for and nothing but
// identifiers beside it.
func onlyFields(v jsonv.Value, want []string) bool {
	if v.Kind() != jsonv.KindObject {
		return false
	}
	for _, w := range want {
		if _, ok := v.Get(w); !ok {
			return false
		}
	}
	for k := range v.Members() {
		asked := k == "id" || strings.HasSuffix(k, "_id")
		for _, w := range want {
			asked = asked || k == w
		}
		if !asked {
			return false
		}
	}
	return true
}

// probeConsistency asks again what was asked at the beginning.
func (p requestProbe) probeConsistency() {
	if p.run.bare {
		return
	}
	for range 2 { // a list may have two orders and take turns
		r := p.run.caller.introspect(evidence.TextMember("query", "operations"))
		if !r.sent() {
			break
		}
		p.run.rows.sees("consistency")
		if first := p.run.e.OperationsList; r.ok() && !jsonv.Equal(withoutVolatile(first), withoutVolatile(r.env)) {
			p.run.rows.breaks("consistency.repeat", r, "the operation list changed during the session")
			break
		}
	}
	p.effects()
	for _, q := range [][3]string{{"operations", noOperation, "operation"}, {"types", noType, "type"}} {
		r := p.run.caller.introspect(evidence.TextMember("query", q[0]), evidence.TextMember("name", q[1]))
		if !r.sent() {
			continue
		}
		p.run.rows.sees("consistency")
		if v, there := r.data().Get(q[2]); !r.ok() || !there || v.Kind() != jsonv.KindNull {
			p.run.rows.breaks("consistency.null", r, "asked for an unknown %s: expected success with %s: null, got %s", q[2], q[2], r.brief())
		}
	}
}

// effects asks again what was asked before the run. What differs from one
// moment to the next (a clock, a log of calls) says nothing.
func (p requestProbe) effects() {
	changed := map[*liveOp]reply{}
	for _, op := range p.run.catalog.ops {
		before, known := p.run.builder.first[op.name]
		if l := p.run.watcher.census.of(op); !known || l != nil && l.moving || len(p.run.cleaner.leftovers) > 0 || keepsRecord().MatchString(op.name) {
			continue
		}
		if r := p.run.caller.send(op.tool, before.args); r.ok() && !(mask{}).alike(before, r) {
			changed[op] = r
		}
	}
	if len(changed) == 0 || !p.run.caller.tape.Pause(p.run.caller.ctx, p.run.o.Spread) {
		return
	}
	for _, op := range p.run.catalog.ops {
		r, suspect := changed[op]
		if !suspect {
			continue
		}
		own := mask{}
		for range 2 * controls {
			if later := p.run.caller.send(op.tool, r.args); later.ok() {
				own.learn(r.env, later.env)
			}
		}
		if path, differs := own.difference(p.run.builder.first[op.name], r); differs {
			p.run.rows.breaks("consistency.effects", r, "%s answers differently at the end of the run, although everything that the run created was removed: %s differs", op.name, path)
		}
	}
}

// probeSession opens a second session and asks for the operations there.
func (p requestProbe) probeSession() {
	confirmationProbe{p.run}.confirmationRow()
	p.run.rows.tests["session"].lacking = "no second session could be opened"
	if p.run.caller.dead != "" || p.run.caller.ctx.Err() != nil {
		return
	}
	unused := confirmationProbe{p.run}.pendingConfirmation()
	s, err := p.run.caller.tape.Dial(p.run.caller.ctx, "")
	if err != nil || s == nil {
		return
	}
	old := p.run.caller.s
	p.run.caller.s = s
	r := p.run.caller.introspect(evidence.TextMember("query", "operations"))
	if unused != nil && p.run.caller.s == s {
		if again := p.run.keeper.attemptArgs(unused.op, unused.args); again.ok() {
			p.run.rows.breaks("session.token", again, "%s accepts a token of the previous session", unused.op.name)
		}
	}
	if p.run.caller.s == s { // else it died and was replaced
		p.run.caller.s = old
		s.Close(context.WithoutCancel(p.run.caller.ctx))
	}
	if !r.sent() {
		return
	}
	p.run.rows.sees("session")
	if !jsonv.Equal(sortedOperations(p.run.e.OperationsList), sortedOperations(r.response())) {
		p.run.rows.breaks("session.same", r, "the operation list of a new session is different")
	}
}

// sortedOperations is the list without regard to its order, which
// consistency looks at.
func sortedOperations(answer jsonv.Value) jsonv.Value {
	var o evidence.Object
	seen := map[string]bool{}
	for _, v := range answer.Lookup("data", "operations").Elems() {
		if k := v.String(); !seen[k] {
			seen[k] = true
			o = append(o, jsonv.Member{Key: k, Value: jsonv.Null()})
		}
	}
	return o.Value()
}

// requestProbe tests requests as a whole: malformed ones, the wrong endpoint, sizes,
// repetition, and a second session.
type requestProbe struct {
	run *collector
}
