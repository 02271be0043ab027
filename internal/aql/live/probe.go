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
func (pr operationProbe) probeOperation(op *liveOp) {
	if op.detail.Kind() != jsonv.KindObject && pr.run.skipped[op.name] == "" {
		pr.run.skipped[op.name] = notGeneratable + ": it has no detail"
	}
	if pr.run.skipped[op.name] != "" || pr.run.caller.ctx.Err() != nil || pr.run.caller.dead != "" {
		if pr.run.skipped[op.name] == "" {
			pr.run.skipped[op.name] = pr.run.caller.endedBefore()
		}
		return
	}
	params, why := pr.run.builder.params(op)
	if why != "" {
		pr.run.skipped[op.name] = notGeneratable + ": " + why
		return
	}
	base := pr.run.keeper.attempt(op, params)
	if base.silent && base.sent() || pr.run.caller.poison[op.name] != "" {
		pr.run.rows.sees("accuracy")
		pr.run.rows.breaks("accuracy.failure", base, "%s does not answer", op.name)
		pr.run.skipped[op.name] = notGeneratable + ": it does not answer"
		return
	}
	if !base.sent() {
		pr.run.skipped[op.name] = base.cause.Error()
		if why := pr.run.caller.ending(); why != "" && !base.barred {
			pr.run.skipped[op.name] = why
		}
		return
	}
	if base.code() == confirmationRequired {
		pr.run.skipped[op.name] = "it asks for a confirmation, which --confirm gives"
		return
	}
	for _, key := range tokenParameters() {
		pr.run.gates[op.name] = pr.run.gates[op.name] || !base.args.Lookup("params", key).IsAbsent()
	}
	pr.run.base[op.name] = base
	pr.accuracy(op, params, base)
	pr.missing(op)
	pr.unknownParameters(op, base)
	pr.wrongValues(op)
	if pr.run.gates[op.name] {
		confirmationProbe{pr.run}.probeConfirmation(op)
	}
	if op.category == "CREATE" && base.ok() {
		pr.createdDefaults(op)
	}
	if op.category == "READ" {
		pr.undocumented(op, base)
		pr.defaults(op, base)
		pr.notFound(op)
	}
}

// accuracy sends what introspection documents and sees whether it works.
func (pr operationProbe) accuracy(op *liveOp, params jsonv.Value, base reply) {
	pr.judgeDocumented(op, base, params)
	all := params
	optional := 0
	for _, p := range op.params {
		if p.required {
			continue
		}
		v, err := pr.optional(op, p, base)
		if err != nil {
			pr.run.rows.leave("accuracy", op.name, p.name, err.Error(), errors.Is(err, errGivenValue))
			continue
		}
		params, ok := pr.companions(op, p, pr.run.builder.fresh(op).With(p.name, v), base)
		if !ok {
			pr.run.rows.leaves("accuracy", op.name, p.name, "no answer gave a cursor for it")
			pr.accept(op, p.name)
			continue
		}
		r := pr.run.keeper.attempt(op, params)
		if !r.heard() {
			pr.run.rows.leavesUnsent("accuracy", op.name, p.name, r)
			continue
		}
		pr.judgeDocumented(op, r, jsonv.Object(jsonv.Member{Key: p.name, Value: params.Lookup(p.name)}))
		if r.ok() && !op.alone(p) {
			all = all.With(p.name, v)
			optional++
		}
	}
	if optional > 1 {
		for k, v := range pr.run.builder.fresh(op).Members() {
			all = all.With(k, v)
		}
		pr.judgeDocumented(op, pr.run.keeper.attempt(op, all), jsonv.Object())
	}
}

// optional makes a value for an optional parameter; names of fields are
// taken from the baseline.
func (pr operationProbe) optional(op *liveOp, p liveParam, base reply) (jsonv.Value, error) {
	if p.name == "fields" && pr.run.o.Values.Lookup(op.name, "fields").IsAbsent() {
		if keys := scalarKeys(sample(base.data())); len(keys) > 0 {
			return jsonv.Array(jsonv.String(keys[0])), nil
		}
	}
	return pr.run.maker.value(op, p, p.name)
}

// judgeDocumented looks at the answer to a call that holds only what is
// documented.
func (pr operationProbe) judgeDocumented(op *liveOp, r reply, params jsonv.Value) {
	if !r.sent() {
		return
	}
	pr.run.rows.sees("accuracy")
	accepted := !r.silent
	for name := range params.Members() {
		if r.unknownParameter(name) && (r.ok() || evidence.Names(r.message(), name)) {
			pr.run.rows.breaks("accuracy.unknown", r, "%s documents %s and refuses it as unknown: %s", op.name, evidence.Quoted(name), r.brief())
			accepted = false
		}
	}
	for name := range params.Members() {
		if accepted {
			pr.accept(op, name)
		}
	}
	switch code := r.code(); {
	case r.ok() || !accepted:
	case r.silent:
		pr.run.rows.breaks("accuracy.failure", r, "%s does not answer", op.name)
	case pr.refusesMadeUp(op, r, r.args.Lookup("params")):
	case !r.refused() || !r.documented():
		pr.run.failed(op.name+" by its documentation", r)
		if _, baseline := pr.run.base[op.name]; !baseline || pr.run.base[op.name].n == r.n {
			pr.run.rows.breaks("accuracy.uncallable", r, "%s cannot be called: with only its required parameters it fails with an undocumented error: %s", op.name, r.brief())
			return
		}
		pr.run.rows.breaks("accuracy.failure", r, "%s fails with an undocumented error: %s", op.name, r.brief())
	case code == "VALIDATION_MISSING_PARAM":
		pr.run.rows.breaks("accuracy.missing", r, "%s has every required parameter and demands more: %s", op.name, r.brief())
	case code == "VALIDATION_INVALID_TYPE":
		pr.run.rows.breaks("accuracy.type", r, "%s refuses a value of the documented type: %s", op.name, r.brief())
	}
}

func (pr operationProbe) accept(op *liveOp, param string) {
	if pr.run.accepted[op.name] == nil {
		pr.run.accepted[op.name] = map[string]bool{}
	}
	pr.run.accepted[op.name][param] = true
}

// missing leaves out each required parameter.
func (pr operationProbe) missing(op *liveOp) {
	for _, p := range op.params {
		if !p.required {
			continue
		}
		if op.changes() && op.isIdentifier(p) || op.executionParam() != nil && op.executionParam().name == p.name && op.category != "READ" {
			pr.run.rows.leave("required", op.name, p.name, whyUnnamed, true)
			continue
		}
		r := pr.run.keeper.attempt(op, pr.run.maker.marking(op, pr.run.builder.fresh(op).Without(p.name), p.name))
		if !r.heard() {
			pr.run.rows.leavesUnsent("required", op.name, p.name, r)
			continue
		}
		if strings.HasPrefix(r.code(), "NOT_FOUND") && !evidence.Names(r.message(), p.name) {
			pr.run.rows.leaves("required", op.name, p.name, "another identifier was not found")
			continue
		}
		pr.run.e.MissingRequired = append(pr.run.e.MissingRequired, evidence.ParameterCase{Operation: op.name, Parameter: p.name, Response: pr.run.caller.noted(r), Request: pr.run.caller.redact(r.args), Call: r.n})
		if !r.ok() {
			pr.run.failed(op.name+" without "+p.name, r, p.name)
		}
	}
}

// unknownParameters adds a parameter that does not exist.
func (pr operationProbe) unknownParameters(op *liveOp, base reply) {
	if !base.ok() && !base.documented() {
		pr.run.rows.leaves("unknown", op.name, evidence.ProbeName, "a call without it does not succeed")
		return
	}
	try := func(name string, args func(params jsonv.Value) jsonv.Value) {
		r := pr.run.keeper.attemptArgs(op, args(pr.run.builder.fresh(op)))
		if !r.heard() {
			pr.run.rows.leavesUnsent("unknown", op.name, name, r)
			return
		}
		if !r.ok() && r.code() == base.code() && !evidence.Named(r.env.Lookup("error"), name) {
			pr.run.rows.leaves("unknown", op.name, name, "it is refused for another reason: "+r.brief())
			return
		}
		pr.run.e.UnknownParameter = append(pr.run.e.UnknownParameter, evidence.ParameterCase{Operation: op.name, Parameter: name, Response: pr.run.caller.noted(r), Request: pr.run.caller.redact(r.args), Call: r.n})
		if !r.ok() {
			pr.run.failed(op.name+" with the unknown "+name, r, name)
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
	if op.category == "READ" && pr.besideRead() {
		try(evidence.ProbeName, func(params jsonv.Value) jsonv.Value {
			return jsonv.Object(evidence.TextMember("operation", op.name), jsonv.Member{Key: "params", Value: params}, evidence.TextMember(evidence.ProbeName, "x"))
		})
	}
}

// besideRead says that the adapter takes parameters beside params: only then
// is an unknown one there its concern (D 4.6.1).
func (pr operationProbe) besideRead() bool {
	if !pr.run.besideKnown {
		r := pr.run.caller.send(pr.run.catalog.reader, jsonv.Object(evidence.TextMember("operation", "introspect"), evidence.TextMember("query", "operations")))
		pr.run.besideKnown, pr.run.beside = true, r.ok() && !pr.run.bare
	}
	return pr.run.beside
}

// notFound asks for something that does not exist.
func (pr operationProbe) notFound(op *liveOp) {
	id := op.idParam()
	if id == nil || pr.run.catalog.jsonKind(*id) != "string" || op.name == "introspect" {
		return
	}
	none := jsonv.String("zz_conf_no_such_thing")
	if pr.run.catalog.fits(*id, none) != "" {
		return
	}
	r := pr.run.caller.call(op, pr.run.builder.fresh(op).With(id.name, none))
	if r.ok() && (r.data().Kind() == jsonv.KindNull || r.data().Len() == 0) {
		return
	}
	pr.run.failed(op.name+" of something that does not exist", r, none.Text())
}

// operationProbe tests one operation: its parameters, their values and defaults.
type operationProbe struct {
	run *collector
}

// internalFailure is a code by which an adapter says that it failed itself.
var internalFailure = evidence.Pattern(`(?i)internal|unexpected|exception|unhandled|server_error|^error$|^unknown(_error)?$`)

// refusesMadeUp says that a refusal is about a value that the run made up,
// which nobody promised to take. It is neither a success nor a failure.
func (pr operationProbe) refusesMadeUp(op *liveOp, r reply, params jsonv.Value) bool {
	if !r.refused() || r.code() == "" || internalFailure().MatchString(r.code()) || r.code() == "VALIDATION_INVALID_TYPE" {
		return false
	}
	for name, v := range params.Members() {
		text := v.Kind() == jsonv.KindString && strings.HasPrefix(v.Text(), markerPrefix)
		empty := v.Kind() == jsonv.KindObject && v.Len() == 0
		missing := r.code() == "VALIDATION_MISSING_PARAM"
		if (text && !missing || empty) && (strings.Contains(r.message(), name) || evidence.Named(r.env.Lookup("error"), v.Text())) {
			pr.run.rows.leaves("accuracy", op.name, name, "the value that was made up for it is refused ("+r.code()+"); --values provides one")
			return true
		}
	}
	return false
}
