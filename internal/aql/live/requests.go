package live

import (
	"context"
	"strings"

	"mcptest/internal/aql/evidence"
	"mcptest/internal/aql/rule"
	"mcptest/internal/jsonv"
)

const (
	noOperation = "zz_no_such_operation"
	noType      = "ZzNoSuchType"
)

// probeRequests sends requests that are wrong as a whole, all of them to the
// tool that takes introspection: there is nothing they could change.
func (c *collector) probeRequests() {
	query := func(v jsonv.Value) jsonv.Value {
		return jsonv.Object(evidence.TextMember("operation", "introspect"), jsonv.Member{Key: "params", Value: jsonv.Object(jsonv.Member{Key: "query", Value: v})})
	}
	if !c.bare {
		c.failed("introspect with a query that does not exist", c.send(c.reader, query(jsonv.String("zz_bad_query"))), "query")
		c.failed("introspect with a number as query", c.send(c.reader, query(jsonv.Int(42))), "query")
	}
	c.failed("an unknown operation", c.send(c.reader, jsonv.Object(evidence.TextMember("operation", noOperation), jsonv.Member{Key: "params", Value: jsonv.Object()})), noOperation)
	c.failed("a request without operation", c.send(c.reader, jsonv.Object(jsonv.Member{Key: "params", Value: jsonv.Object()})), "operation")
	c.failed("a number as operation", c.send(c.reader, jsonv.Object(jsonv.Member{Key: "operation", Value: jsonv.Int(42)})), "operation")
	c.failed("a call without arguments", c.send(c.reader, jsonv.Value{}), "operation")
	c.sees("request")
	good := query(jsonv.String("operations"))
	for _, key := range []string{"_meta", "_request_id"} {
		v := jsonv.String("zz_conf")
		if key == "_meta" {
			v = jsonv.Object()
		}
		refused := func() (reply, bool) {
			r := c.send(c.reader, good.With(key, v))
			return r, r.heard() && !r.ok()
		}
		// The refusal is the member's when the same request without it is taken.
		if _, first := refused(); !first || !c.send(c.reader, good).ok() {
			continue
		}
		if r, again := refused(); again {
			c.breaks("request.meta", r, "%s next to params is rejected: %s", key, r.brief())
		}
	}
	if r := c.send(c.reader, good.With("query", jsonv.String("types"))); r.ok() && r.data().Lookup("operations").IsAbsent() && !r.data().Lookup("types").IsAbsent() {
		c.breaks("request.params-win", r, "a parameter next to params overrides the one inside")
	}
}

// probeRouting sends operations to the endpoints of other categories.
func (c *collector) probeRouting() {
	t := c.tests["routing"]
	if len(c.families) < 2 {
		t.moot = "there is only one endpoint"
		return
	}
	t.lacking = "no operation could be sent to another endpoint"
	var reads *liveOp
	for _, op := range c.ops {
		// Where no operation can be called, one that only reads is sent without
		// parameters: an endpoint refuses it before it looks at those.
		if op.category == "READ" && op.name != "introspect" && (c.skipped[op.name] == "" || reads == nil && c.barred(op) == "") {
			if reads = op; c.skipped[op.name] == "" {
				break
			}
		}
	}
	if reads != nil {
		for _, category := range rule.SemanticCategories {
			if tool := c.families[category]; tool != "" && tool != reads.tool {
				c.misroute(reads, tool, c.fresh(reads))
			}
		}
	}
	done := map[string]bool{}
	for _, op := range c.ops {
		if op.category == "READ" || done[op.category] || c.skipped[op.name] != "" || op.tool == c.reader || op.bare() {
			continue
		}
		// The call is complete, so that it touches what it names and nothing
		// else where it is taken.
		if params, why := c.params(op); why == "" {
			done[op.category] = true
			c.misroute(op, c.reader, params)
		}
	}
}

func (c *collector) misroute(op *liveOp, tool string, params jsonv.Value) {
	r := c.attemptOn(tool, op, jsonv.Object(evidence.TextMember("operation", op.name), jsonv.Member{Key: "params", Value: params}))
	if !r.heard() {
		return
	}
	c.sees("routing")
	switch code := r.code(); {
	case r.ok(), op.category != "READ" && code == "VALIDATION_MISSING_PARAM":
		c.breaks("routing.refused", r, "%s accepts %s, which belongs to %s", tool, op.name, op.tool)
	case r.refused() && (code == "VALIDATION_ENDPOINT_MISMATCH" || code == "VALIDATION_WRONG_ENDPOINT" || evidence.Names(r.message(), op.tool)):
		c.failed(op.name+" on "+tool, r, op.tool)
	default:
		c.breaks("routing.named", r, "%s on %s is rejected without naming %s: %s", op.name, tool, op.tool, r.brief())
		c.failed(op.name+" on "+tool, r, op.tool)
	}
}

// probeLevel2 looks at field selection and batches.
func (c *collector) probeLevel2() {
	for _, op := range c.ops {
		p := op.param("fields")
		base := c.base[op.name]
		if op.category != "READ" || p == nil || !base.ok() {
			continue
		}
		one := sample(base.data())
		keys := scalarKeys(one)
		if len(keys) < 3 || one.Len() < 3 {
			continue
		}
		want := keys[len(keys)-2:]
		r := c.call(op, c.fresh(op).With("fields", evidence.TextList(want)))
		if !r.sent() {
			c.cutsShort("fields")
		}
		if !r.ok() {
			continue
		}
		if c.e.FieldSelection = onlyFields(sample(r.data()), want); c.e.FieldSelection {
			break
		}
	}
	if c.ending() != "" {
		c.cutsShort("fields")
	}
	c.probeBatch()
}

// probeBatch sends a batch of introspection queries, and compares both features
// with the capabilities that the adapter declares.
func (c *collector) probeBatch() {
	part := func(op, query string) jsonv.Value {
		o := jsonv.Object(evidence.TextMember("operation", op))
		if query != "" {
			o = o.With("params", jsonv.Object(evidence.TextMember("query", query)))
		}
		return o
	}
	list := jsonv.Array(part("introspect", "operations"), part(noOperation, ""), part("introspect", "types"))
	r := c.send(c.reader, jsonv.Object(jsonv.Member{Key: "operations", Value: list}))
	if !r.sent() {
		c.cutsShort("batch")
	}
	if !r.ok() && evidence.Names(r.message(), "operation") {
		if again := c.send(c.reader, jsonv.Object(evidence.TextMember("operation", "batch"), jsonv.Member{Key: "operations", Value: list})); again.ok() {
			c.speaks("a batch needs operation: batch")
			r = again
		}
	}
	if r.ok() && r.env.Lookup("results").Kind() == jsonv.KindArray {
		c.e.BatchOperations = true
		c.e.BatchExample = c.noted(r)
		c.batchSent = list.Len()
	}
	proto := c.e.OperationsList.Lookup("data", "_protocol", "capabilities")
	for name, seen := range map[string]bool{"batch": c.e.BatchOperations, "field_selection": c.e.FieldSelection} {
		if c.short["batch"] != "" || name == "field_selection" && c.short["fields"] != "" {
			continue
		}
		if flag := proto.Lookup(name); flag.Kind() == jsonv.KindBool && flag.Bool() != seen && c.o.Mode != ModePlan {
			c.tests["tools"].cases++
			c.breaks("tools.capability", r, "_protocol.capabilities.%s is %v, and it was seen to be %v", name, flag.Bool(), seen)
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
func (c *collector) probeConsistency() {
	if c.bare {
		return
	}
	for range 2 { // a list may have two orders and take turns
		r := c.introspect(evidence.TextMember("query", "operations"))
		if !r.sent() {
			break
		}
		c.sees("consistency")
		if first := c.e.OperationsList; r.ok() && !jsonv.Equal(withoutVolatile(first), withoutVolatile(r.env)) {
			c.breaks("consistency.repeat", r, "the operation list changed during the session")
			break
		}
	}
	c.effects()
	for _, q := range [][3]string{{"operations", noOperation, "operation"}, {"types", noType, "type"}} {
		r := c.introspect(evidence.TextMember("query", q[0]), evidence.TextMember("name", q[1]))
		if !r.sent() {
			continue
		}
		c.sees("consistency")
		if v, there := r.data().Get(q[2]); !r.ok() || !there || v.Kind() != jsonv.KindNull {
			c.breaks("consistency.null", r, "asked for an unknown %s: expected success with %s: null, got %s", q[2], q[2], r.brief())
		}
	}
}

// keepsRecord is how operations are named that answer what happened: that they
// show the run's own calls is no effect of those.
var keepsRecord = evidence.Pattern(`(?i)(^|_)(logs?|audit|histor(y|ies)|events?|activit(y|ies)|metrics?|stats?|statistics|status|health|usage|time|clock|uptime|recent)(_|$)`)

// effects asks again what was asked before the run. What differs from one
// moment to the next (a clock, a log of calls) says nothing.
func (c *collector) effects() {
	changed := map[*liveOp]reply{}
	for _, op := range c.ops {
		before, known := c.first[op.name]
		if l := c.census.of(op); !known || l != nil && l.moving || len(c.leftovers) > 0 || keepsRecord().MatchString(op.name) {
			continue
		}
		if r := c.send(op.tool, before.args); r.ok() && !(mask{}).alike(before, r) {
			changed[op] = r
		}
	}
	if len(changed) == 0 || !c.tape.Pause(c.ctx, c.o.Spread) {
		return
	}
	for _, op := range c.ops {
		r, suspect := changed[op]
		if !suspect {
			continue
		}
		own := mask{}
		for range 2 * controls {
			if later := c.send(op.tool, r.args); later.ok() {
				own.learn(r.env, later.env)
			}
		}
		if path, differs := own.difference(c.first[op.name], r); differs {
			c.breaks("consistency.effects", r, "%s answers differently at the end of the run, although everything that the run created was removed: %s differs", op.name, path)
		}
	}
}

// probeSession opens a second session and asks for the operations there.
func (c *collector) probeSession() {
	c.confirmationRow()
	c.tests["session"].lacking = "no second session could be opened"
	if c.dead != "" || c.ctx.Err() != nil {
		return
	}
	unused := c.pendingConfirmation()
	s, err := c.tape.Dial(c.ctx, "")
	if err != nil || s == nil {
		return
	}
	old := c.s
	c.s = s
	r := c.introspect(evidence.TextMember("query", "operations"))
	if unused != nil && c.s == s {
		if again := c.attemptArgs(unused.op, unused.args); again.ok() {
			c.breaks("session.token", again, "%s accepts a token of the previous session", unused.op.name)
		}
	}
	if c.s == s { // else it died and was replaced
		c.s = old
		s.Close(context.WithoutCancel(c.ctx))
	}
	if !r.sent() {
		return
	}
	c.sees("session")
	if !jsonv.Equal(sortedOperations(c.e.OperationsList), sortedOperations(r.response())) {
		c.breaks("session.same", r, "the operation list of a new session is different")
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
