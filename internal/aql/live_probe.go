package aql

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"mcptest/internal/jsonv"
)

// notGeneratable is the reason that the report counts apart.
const notGeneratable = "not generatable"

// probeName is the parameter that no adapter has.
const probeName = "zz_conformance_probe"

// probeOperation runs the tests of one operation.
func (c *collector) probeOperation(op *liveOp) {
	if op.detail.Kind() != jsonv.KindObject && c.skipped[op.name] == "" {
		c.skipped[op.name] = notGeneratable + ": it has no detail"
	}
	if c.skipped[op.name] != "" || c.ctx.Err() != nil || c.dead != "" {
		if c.skipped[op.name] == "" {
			c.skipped[op.name] = "the run ended before"
		}
		return
	}
	params, why := c.params(op)
	if why != "" {
		c.skipped[op.name] = notGeneratable + ": " + why
		return
	}
	base := c.attempt(op, params)
	if !base.sent() {
		c.skipped[op.name] = base.cause.Error()
		return
	}
	if base.code() == "CONFIRMATION_REQUIRED" {
		c.skipped[op.name] = "it asks for a confirmation"
		return
	}
	c.base[op.name] = base
	c.accuracy(op, params, base)
	c.missing(op)
	c.unknownParameters(op, base)
	c.wrongValues(op)
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
	if op.category == "CREATE" && c.forbidden(args) == "" {
		if reason := c.intend(op); reason != nil {
			return reply{budget: true, cause: reason}
		}
	}
	r := c.send(op.tool, args)
	c.checkDates(op, r)
	if r.ok() && op.category == "CREATE" {
		c.keepCreated(op, args.Lookup("params"), r)
	}
	if op.category == "CREATE" && r.sent() && r.cause != nil {
		c.lost = append(c.lost, op)
	}
	if r.ok() && op.category == "DELETE" {
		if id := op.idParam(); id != nil {
			c.forget(op, args.Lookup("params", id.name))
		}
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
	if base.ok() && op.category == "READ" {
		c.findVolatile(op, base, c.call(op, params))
	}
	all := params
	optional := 0
	for _, p := range op.params {
		if p.required {
			continue
		}
		v, err := c.optional(op, p, base)
		if err != nil {
			c.leaves("accuracy", op.name, p.name, err.Error())
			continue
		}
		r := c.attempt(op, c.fresh(op).With(p.name, v))
		c.judgeDocumented(op, r, jsonv.Object(jsonv.Member{Key: p.name, Value: v}))
		if r.ok() {
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
	accepted := true
	for name := range params.Members() {
		if r.unknownParameter(name) && (r.ok() || names(r.message(), name)) {
			c.breaks("accuracy.unknown", r, "%s documents %s and refuses it as unknown: %s", op.name, quoted(name), r.brief())
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
	case !r.refused() || !r.documented():
		c.failed(op.name+" by its documentation", r)
		c.breaks("accuracy.failure", r, "%s fails for a reason that is no documented one: %s", op.name, r.brief())
	case code == "VALIDATION_MISSING_PARAM":
		c.breaks("accuracy.missing", r, "%s has every required parameter and asks for more: %s", op.name, r.brief())
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
		r := c.attempt(op, c.fresh(op).Without(p.name))
		if !r.sent() {
			c.leaves("required", op.name, p.name, r.cause.Error())
			continue
		}
		if strings.HasPrefix(r.code(), "NOT_FOUND") && !names(r.message(), p.name) {
			c.leaves("required", op.name, p.name, "another identifier was not found")
			continue
		}
		c.e.MissingRequired = append(c.e.MissingRequired, ParameterCase{Operation: op.name, Parameter: p.name, Response: r.response(), Request: redactJSON(r.args), Call: r.n})
		if !r.ok() {
			c.failed(op.name+" without "+p.name, r, p.name)
		}
	}
}

// failed keeps a failure as an error test.
func (c *collector) failed(name string, r reply, mention ...string) {
	if !r.sent() {
		return
	}
	c.e.ErrorTests = append(c.e.ErrorTests, ErrorCase{Name: name, MustMention: mention, Response: r.response(), Request: redactJSON(r.args), Call: r.n})
}

// unknownParameters adds a parameter that does not exist.
func (c *collector) unknownParameters(op *liveOp, base reply) {
	if !base.ok() && !strings.HasPrefix(base.code(), "VALIDATION_") {
		c.leaves("unknown", op.name, probeName, "a call without it does not succeed")
		return
	}
	try := func(name string, args func(params jsonv.Value) jsonv.Value) {
		r := c.attemptArgs(op, args(c.fresh(op)))
		if !r.sent() {
			return
		}
		c.e.UnknownParameter = append(c.e.UnknownParameter, ParameterCase{Operation: op.name, Parameter: name, Response: r.response(), Request: redactJSON(r.args), Call: r.n})
		if !r.ok() {
			c.failed(op.name+" with the unknown "+name, r, name)
		}
	}
	inside := func(name string) func(jsonv.Value) jsonv.Value {
		return func(params jsonv.Value) jsonv.Value {
			return jsonv.Object(textMember("operation", op.name), jsonv.Member{Key: "params", Value: params.With(name, jsonv.String("x"))})
		}
	}
	try(probeName, inside(probeName))
	if len(op.params) > 0 {
		if typo := op.params[0].name + "x"; op.param(typo) == nil {
			try(typo, inside(typo))
		}
	}
	if op.category == "READ" {
		try(probeName, func(params jsonv.Value) jsonv.Value {
			return jsonv.Object(textMember("operation", op.name), jsonv.Member{Key: "params", Value: params}, textMember(probeName, "x"))
		})
	}
}

// wrongValues sends values that the documented type, enum or range does not
// allow.
func (c *collector) wrongValues(op *liveOp) {
	for _, p := range op.params {
		if op.isIdentifier(p) && op.category != "READ" {
			continue
		}
		for _, w := range c.wrong(p) {
			r := c.attempt(op, c.fresh(op).With(p.name, w.value))
			if !r.sent() {
				continue
			}
			c.sees("values")
			if r.ok() {
				c.breaks(w.rule, r, "%s takes %s for %s, which wants %s", op.name, brief(w.value), quoted(p.name), w.wants)
				continue
			}
			if strings.HasPrefix(r.code(), "NOT_FOUND") {
				continue // looked for before it was looked at
			}
			if r.unknownParameter(p.name) || r.code() == "VALIDATION_MISSING_PARAM" && !names(r.message(), p.name) {
				continue // refused for another reason, which accuracy tells of
			}
			c.failed(fmt.Sprintf("%s with a wrong %s (%s)", op.name, p.name, strings.TrimPrefix(w.rule, "values.")), r, w.mention...)
		}
	}
}

// wrongValue is a value that a parameter does not take.
type wrongValue struct {
	rule, wants string
	value       jsonv.Value
	mention     []string
}

func (c *collector) wrong(p liveParam) (out []wrongValue) {
	other := map[string]jsonv.Value{
		"string": jsonv.Int(42), "integer": jsonv.String("zz_not_a_number"), "number": jsonv.String("zz_not_a_number"),
		"boolean": jsonv.String("zz_not_a_boolean"), "array": jsonv.Int(42), "object": jsonv.Int(42),
	}
	kind := c.jsonKind(p)
	if v, ok := other[kind]; ok {
		out = append(out, wrongValue{"values.type", p.typ, v, []string{p.name, p.typ}})
		if kind == "integer" {
			if n, err := makeNumber(p, true); err == nil {
				out = append(out, wrongValue{"values.type", p.typ, jsonv.String(n.Literal()), []string{p.name, p.typ}})
			}
		}
	}
	allowed := p.v.Lookup("enum")
	if n := c.types[parseType(p.typ).name]; allowed.Len() == 0 && n != nil && n.kind == "enum" {
		allowed = n.detail.Lookup("values")
	}
	if first := enumValue(allowed.At(0)); first.Kind() == jsonv.KindString && kind == "string" {
		return append(out, wrongValue{"values.enum", "one of " + brief(allowed), jsonv.String("zz_not_in_the_enum"), []string{first.Text()}})
	}
	low, high := bounds(p)
	if whole := kind == "integer"; whole || kind == "number" {
		if !math.IsInf(low, 0) && math.Abs(low) < 1<<50 {
			out = append(out, wrongValue{"values.range", "at least " + formatNumber(low), jsonv.Int(int64(low) - 1), []string{p.name}})
		}
		if !math.IsInf(high, 0) && math.Abs(high) < 1<<50 {
			out = append(out, wrongValue{"values.range", "at most " + formatNumber(high), jsonv.Int(int64(high) + 1), []string{p.name}})
		}
	}
	if kind != "string" {
		return out
	}
	if _, most := lengths(p); most < 100_000 {
		out = append(out, wrongValue{"values.length", fmt.Sprintf("at most %d characters", most), jsonv.String(strings.Repeat("z", most+1)), []string{p.name}})
	}
	if pattern := p.v.Lookup("pattern").Text(); pattern != "" {
		if miss := "\u00a7 zz !"; c.fits(p, jsonv.String(miss)) != "" {
			out = append(out, wrongValue{"values.pattern", "a text like " + clip(pattern, 60), jsonv.String(miss), []string{p.name}})
		}
	}
	return out
}

// undocumented looks for parameters that work and are not documented.
func (c *collector) undocumented(op *liveOp, base reply) {
	if !base.ok() || op.name == "introspect" {
		return
	}
	list := items(base.data(), listDepth)
	candidates := []jsonv.Member{textMember("query", "zz_conf_matches_nothing"), textMember("filter", "zz_conf_matches_nothing")}
	if len(list) >= 2 {
		for _, name := range []string{"limit", "first", "page_size", "per_page", "offset"} {
			candidates = append(candidates, jsonv.Member{Key: name, Value: jsonv.Int(1)})
		}
	}
	if keys := scalarKeys(sample(base.data())); len(keys) > 1 {
		candidates = append(candidates, jsonv.Member{Key: "fields", Value: jsonv.Array(jsonv.String(keys[0]))})
	}
	candidates = append(candidates, c.siblings(op, candidates)...)
	for _, m := range candidates {
		if op.param(m.Key) != nil {
			continue
		}
		r := c.call(op, c.fresh(op).With(m.Key, m.Value))
		if r.ok() && !r.unknownParameter(m.Key) && !c.alike(op, base, r) {
			c.accept(op, m.Key)
		}
	}
}

const maxSiblings = 6

// siblings are parameters of other READ operations of the same resource.
func (c *collector) siblings(op *liveOp, have []jsonv.Member) (out []jsonv.Member) {
	for _, other := range c.ops {
		if other == op || other.category != "READ" || !sameResource(other.resource, op.resource) {
			continue
		}
		for _, p := range other.params {
			known := func(m jsonv.Member) bool { return m.Key == p.name }
			if p.required || slices.ContainsFunc(have, known) || slices.ContainsFunc(out, known) || len(out) >= maxSiblings {
				continue
			}
			if v, err := c.value(other, p, p.name); err == nil {
				out = append(out, jsonv.Member{Key: p.name, Value: v})
			}
		}
	}
	return out
}

// defaults sees whether leaving a parameter out means its default.
func (c *collector) defaults(op *liveOp, base reply) {
	if !base.ok() {
		return
	}
	for _, p := range op.params {
		def, has := p.v.Get("default")
		if !has || p.required || def.Kind() == jsonv.KindNull {
			continue
		}
		r := c.call(op, c.fresh(op).With(p.name, def))
		if !r.ok() {
			continue
		}
		same := c.alike(op, base, r)
		path := echo(base.env, p.name, "", 4)
		response := base.response()
		want := def
		switch {
		case path != "" && (same == jsonv.Equal(walk(base.env, path), def)):
		case !same || c.observable(op, p, def, base):
			path, want = "_conformance.default_equivalent", jsonv.Bool(true)
			response = response.With("_conformance", jsonv.Object(jsonv.Member{Key: "default_equivalent", Value: jsonv.Bool(same)}))
		default:
			c.leaves("defaults", op.name, p.name, "consistent, but not observable")
			continue
		}
		c.e.OptionalDefaults = append(c.e.OptionalDefaults, DefaultCase{Operation: op.name, Parameter: p.name, Path: path, Expected: want, Response: response, Request: redactJSON(base.args), Call: base.n})
	}
}

// observable says that another value of a parameter changes the answer.
func (c *collector) observable(op *liveOp, p liveParam, def jsonv.Value, base reply) bool {
	var other []jsonv.Value
	switch def.Kind() {
	case jsonv.KindNumber:
		if n, ok := def.Int64(); ok {
			other = append(other, jsonv.Int(n+1), jsonv.Int(n-1), jsonv.Int(1))
		}
	case jsonv.KindBool:
		other = append(other, jsonv.Bool(!def.Bool()))
	case jsonv.KindString:
		for _, e := range p.v.Lookup("enum").Elems() {
			if !jsonv.Equal(e, def) {
				other = append(other, e)
			}
		}
	}
	for i, v := range other {
		if i == 3 || c.fits(p, v) != "" || jsonv.Equal(v, def) {
			continue
		}
		if r := c.call(op, c.fresh(op).With(p.name, v)); r.ok() && !c.alike(op, base, r) {
			return true
		}
	}
	return false
}

// echo finds where an answer repeats a parameter; "" when it does not.
func echo(v jsonv.Value, name, path string, depth int) string {
	if v.Kind() != jsonv.KindObject || depth == 0 {
		return ""
	}
	for k, e := range v.Members() {
		at := strings.TrimPrefix(path+"."+k, ".")
		if k == name && e.Kind() != jsonv.KindObject && e.Kind() != jsonv.KindArray {
			return at
		}
		if found := echo(e, name, at, depth-1); found != "" {
			return found
		}
	}
	return ""
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
