package live

import (
	"errors"
	"strings"

	"mcptest/internal/aql/evidence"
	"mcptest/internal/jsonv"
)

// notGeneratable is the reason that the report counts apart.
const notGeneratable = "not generatable"

// probeOperation runs the tests of one operation.
func (c *collector) probeOperation(op *liveOp) {
	if op.detail.Kind() != jsonv.KindObject && c.skipped[op.name] == "" {
		c.skipped[op.name] = notGeneratable + ": it has no detail"
	}
	if c.skipped[op.name] != "" || c.ctx.Err() != nil || c.dead != "" {
		if c.skipped[op.name] == "" {
			c.skipped[op.name] = c.endedBefore()
		}
		return
	}
	params, why := c.params(op)
	if why != "" {
		c.skipped[op.name] = notGeneratable + ": " + why
		return
	}
	base := c.attempt(op, params)
	if base.silent && base.sent() || c.poison[op.name] != "" {
		c.sees("accuracy")
		c.breaks("accuracy.failure", base, "%s does not answer", op.name)
		c.skipped[op.name] = notGeneratable + ": it does not answer"
		return
	}
	if !base.sent() {
		c.skipped[op.name] = base.cause.Error()
		if why := c.ending(); why != "" && !base.barred {
			c.skipped[op.name] = why
		}
		return
	}
	if base.code() == confirmationRequired {
		c.skipped[op.name] = "it asks for a confirmation, which --confirm gives"
		return
	}
	for _, key := range tokenParameters() {
		c.gates[op.name] = c.gates[op.name] || !base.args.Lookup("params", key).IsAbsent()
	}
	c.base[op.name] = base
	c.accuracy(op, params, base)
	c.missing(op)
	c.unknownParameters(op, base)
	c.wrongValues(op)
	if c.gates[op.name] {
		c.probeConfirmation(op)
	}
	if op.category == "CREATE" && base.ok() {
		c.createdDefaults(op)
	}
	if op.category == "READ" {
		c.undocumented(op, base)
		c.defaults(op, base)
		c.notFound(op)
	}
}

// attempt calls an operation and keeps track of what it created or removed.
func (c *collector) attempt(op *liveOp, params jsonv.Value) reply {
	return c.attemptArgs(op, jsonv.Object(
		jsonv.Member{Key: "operation", Value: jsonv.String(op.name)},
		jsonv.Member{Key: "params", Value: params},
	))
}

func (c *collector) attemptArgs(op *liveOp, args jsonv.Value) reply {
	return c.attemptOn(op.tool, op, args)
}

func (c *collector) attemptOn(tool string, op *liveOp, args jsonv.Value) reply {
	if op.creates() && c.forbidden(args) == "" {
		if reason := c.occupied(op); reason != "" {
			return reply{budget: true, barred: true, cause: errors.New(reason)}
		}
		if reason := c.intend(op); reason != nil {
			return reply{budget: true, cause: reason}
		}
	}
	r := c.send(tool, args)
	c.checkDates(op, r)
	if r.ok() && op.creates() {
		c.keepCreated(op, args.Lookup("params"), r)
	}
	if op.creates() && r.n > 0 && r.cause != nil {
		c.lost = append(c.lost, op)
	}
	if op.category == "DELETE" && r.denied() {
		c.refusedDelete(op, r)
	}
	if r.ok() && op.category == "DELETE" {
		c.forget(op, args.Lookup("params"))
	}
	if r.ok() && op.changes() {
		c.watcher.change(op)
	}
	return r
}

// fresh is the required parameters anew: a delete has used up what the last
// ones named.
func (c *collector) fresh(op *liveOp) jsonv.Value {
	params, _ := c.params(op)
	return params
}

// accuracy sends what introspection documents and sees whether it works.
func (c *collector) accuracy(op *liveOp, params jsonv.Value, base reply) {
	c.judgeDocumented(op, base, params)
	all := params
	optional := 0
	for _, p := range op.params {
		if p.required {
			continue
		}
		v, err := c.optional(op, p, base)
		if err != nil {
			c.leave("accuracy", op.name, p.name, err.Error(), errors.Is(err, errGivenValue))
			continue
		}
		params, ok := c.companions(op, p, c.fresh(op).With(p.name, v), base)
		if !ok {
			c.leaves("accuracy", op.name, p.name, "no answer gave a cursor for it")
			c.accept(op, p.name)
			continue
		}
		r := c.attempt(op, params)
		if !r.heard() {
			c.leavesUnsent("accuracy", op.name, p.name, r)
			continue
		}
		c.judgeDocumented(op, r, jsonv.Object(jsonv.Member{Key: p.name, Value: params.Lookup(p.name)}))
		if r.ok() && !op.alone(p) {
			all = all.With(p.name, v)
			optional++
		}
	}
	if optional > 1 {
		for k, v := range c.fresh(op).Members() {
			all = all.With(k, v)
		}
		c.judgeDocumented(op, c.attempt(op, all), jsonv.Object())
	}
}

// optional makes a value for an optional parameter; names of fields are
// taken from the baseline.
func (c *collector) optional(op *liveOp, p liveParam, base reply) (jsonv.Value, error) {
	if p.name == "fields" && c.o.Values.Lookup(op.name, "fields").IsAbsent() {
		if keys := scalarKeys(sample(base.data())); len(keys) > 0 {
			return jsonv.Array(jsonv.String(keys[0])), nil
		}
	}
	return c.value(op, p, p.name)
}

// sample is the object that an answer is about: the first of a list, or the
// data itself.
func sample(data jsonv.Value) jsonv.Value {
	if list := items(data, listDepth); len(list) > 0 {
		return list[0]
	}
	return data
}

func scalarKeys(v jsonv.Value) (keys []string) {
	for k, e := range v.Members() {
		if kind := e.Kind(); kind == jsonv.KindString || kind == jsonv.KindNumber || kind == jsonv.KindBool {
			keys = append(keys, k)
		}
	}
	return keys
}

// judgeDocumented looks at the answer to a call that holds only what is
// documented.
func (c *collector) judgeDocumented(op *liveOp, r reply, params jsonv.Value) {
	if !r.sent() {
		return
	}
	c.sees("accuracy")
	accepted := !r.silent
	for name := range params.Members() {
		if r.unknownParameter(name) && (r.ok() || evidence.Names(r.message(), name)) {
			c.breaks("accuracy.unknown", r, "%s documents %s and refuses it as unknown: %s", op.name, evidence.Quoted(name), r.brief())
			accepted = false
		}
	}
	for name := range params.Members() {
		if accepted {
			c.accept(op, name)
		}
	}
	switch code := r.code(); {
	case r.ok() || !accepted:
	case r.silent:
		c.breaks("accuracy.failure", r, "%s does not answer", op.name)
	case c.refusesMadeUp(op, r, r.args.Lookup("params")):
	case !r.refused() || !r.documented():
		c.failed(op.name+" by its documentation", r)
		if _, baseline := c.base[op.name]; !baseline || c.base[op.name].n == r.n {
			c.breaks("accuracy.uncallable", r, "%s cannot be called: with only its required parameters it fails with an undocumented error: %s", op.name, r.brief())
			return
		}
		c.breaks("accuracy.failure", r, "%s fails with an undocumented error: %s", op.name, r.brief())
	case code == "VALIDATION_MISSING_PARAM":
		c.breaks("accuracy.missing", r, "%s has every required parameter and demands more: %s", op.name, r.brief())
	case code == "VALIDATION_INVALID_TYPE":
		c.breaks("accuracy.type", r, "%s refuses a value of the documented type: %s", op.name, r.brief())
	}
}

func (c *collector) accept(op *liveOp, param string) {
	if c.accepted[op.name] == nil {
		c.accepted[op.name] = map[string]bool{}
	}
	c.accepted[op.name][param] = true
}

// missing leaves out each required parameter.
func (c *collector) missing(op *liveOp) {
	for _, p := range op.params {
		if !p.required {
			continue
		}
		if op.changes() && op.isIdentifier(p) || op.executionParam() != nil && op.executionParam().name == p.name && op.category != "READ" {
			c.leave("required", op.name, p.name, whyUnnamed, true)
			continue
		}
		r := c.attempt(op, c.marking(op, c.fresh(op).Without(p.name), p.name))
		if !r.heard() {
			c.leavesUnsent("required", op.name, p.name, r)
			continue
		}
		if strings.HasPrefix(r.code(), "NOT_FOUND") && !evidence.Names(r.message(), p.name) {
			c.leaves("required", op.name, p.name, "another identifier was not found")
			continue
		}
		c.e.MissingRequired = append(c.e.MissingRequired, evidence.ParameterCase{Operation: op.name, Parameter: p.name, Response: c.noted(r), Request: c.redact(r.args), Call: r.n})
		if !r.ok() {
			c.failed(op.name+" without "+p.name, r, p.name)
		}
	}
}

// failed keeps a failure as an error test.
func (c *collector) failed(name string, r reply, mention ...string) {
	if !r.heard() {
		return
	}
	c.e.ErrorTests = append(c.e.ErrorTests, evidence.ErrorCase{Name: name, MustMention: mention, Response: c.noted(r), Request: c.redact(r.args), Call: r.n})
}

// unknownParameters adds a parameter that does not exist.
func (c *collector) unknownParameters(op *liveOp, base reply) {
	if !base.ok() && !base.documented() {
		c.leaves("unknown", op.name, evidence.ProbeName, "a call without it does not succeed")
		return
	}
	try := func(name string, args func(params jsonv.Value) jsonv.Value) {
		r := c.attemptArgs(op, args(c.fresh(op)))
		if !r.heard() {
			c.leavesUnsent("unknown", op.name, name, r)
			return
		}
		if !r.ok() && r.code() == base.code() && !evidence.Named(r.env.Lookup("error"), name) {
			c.leaves("unknown", op.name, name, "it is refused for another reason: "+r.brief())
			return
		}
		c.e.UnknownParameter = append(c.e.UnknownParameter, evidence.ParameterCase{Operation: op.name, Parameter: name, Response: c.noted(r), Request: c.redact(r.args), Call: r.n})
		if !r.ok() {
			c.failed(op.name+" with the unknown "+name, r, name)
		}
	}
	inside := func(name string) func(jsonv.Value) jsonv.Value {
		return func(params jsonv.Value) jsonv.Value {
			return jsonv.Object(evidence.TextMember("operation", op.name), jsonv.Member{Key: "params", Value: params.With(name, jsonv.String("x"))})
		}
	}
	try(evidence.ProbeName, inside(evidence.ProbeName))
	if len(op.params) > 0 {
		if typo := op.params[0].name + "x"; op.param(typo) == nil {
			try(typo, inside(typo))
		}
	}
	if op.category == "READ" && c.besideRead() {
		try(evidence.ProbeName, func(params jsonv.Value) jsonv.Value {
			return jsonv.Object(evidence.TextMember("operation", op.name), jsonv.Member{Key: "params", Value: params}, evidence.TextMember(evidence.ProbeName, "x"))
		})
	}
}

// besideRead says that the adapter takes parameters beside params: only then
// is an unknown one there its concern (D 4.6.1).
func (c *collector) besideRead() bool {
	if !c.besideKnown {
		r := c.send(c.reader, jsonv.Object(evidence.TextMember("operation", "introspect"), evidence.TextMember("query", "operations")))
		c.besideKnown, c.beside = true, r.ok() && !c.bare
	}
	return c.beside
}

// notFound asks for something that does not exist.
func (c *collector) notFound(op *liveOp) {
	id := op.idParam()
	if id == nil || c.jsonKind(*id) != "string" || op.name == "introspect" {
		return
	}
	none := jsonv.String("zz_conf_no_such_thing")
	if c.fits(*id, none) != "" {
		return
	}
	r := c.call(op, c.fresh(op).With(id.name, none))
	if r.ok() && (r.data().Kind() == jsonv.KindNull || r.data().Len() == 0) {
		return
	}
	c.failed(op.name+" of something that does not exist", r, none.Text())
}
