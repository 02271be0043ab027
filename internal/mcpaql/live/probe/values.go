package probe

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/live/catalog"
	"mcptest/internal/mcpaql/live/guard"
	"mcptest/internal/mcpaql/reference"
)

// wrongValues sends values that the documented type, enum or range does not
// allow.
func (pr operationProbe) wrongValues(op *catalog.Operation) {
	for _, p := range op.Params {
		if op.IsIdentifier(p) && op.Category != "READ" {
			continue
		}
		for _, w := range pr.run.Catalog.Wrong(p) {
			params := pr.run.Maker.Marking(op, pr.run.Builder.Fresh(op).With(p.Name, w.Value), p.Name)
			if pair := catalog.CursorPair[p.Name]; pair != "" && op.Param(pair) != nil {
				params = params.With(pair, jsonv.Int(1))
			}
			r := pr.run.Keeper.Attempt(op, params)
			if !r.Sent() {
				continue
			}
			pr.run.Rows.Count("values")
			pr.judgeWrong(op, p, w, r)
		}
	}
}

// judgeWrong judges the answer to a call with a value that is not allowed.
func (pr operationProbe) judgeWrong(op *catalog.Operation, p catalog.Parameter, w catalog.WrongValue, r guard.Reply) {
	isOtherRefusal := r.UnknownParameter(p.Name) ||
		r.Code() == "VALIDATION_MISSING_PARAM" && !evidence.NamesInWords(r.Message(), p.Name)
	switch {
	case r.OK() && w.Rule == "values.range" && isClamped(op, p, w.Value, r):
	case r.OK():
		pr.run.Rows.Fail(w.Rule, r, "%s accepts %s for %s, which must be %s",
			op.Name, evidence.Brief(w.Value), evidence.Quoted(p.Name), w.Wants)
	case strings.HasPrefix(r.Code(), "NOT_FOUND"): // the adapter searched before it validated the value
	case isOtherRefusal: // accuracy reports it
	default:
		what := fmt.Sprintf("%s with a wrong %s (%s)", op.Name, p.Name, strings.TrimPrefix(w.Rule, "values."))
		pr.run.Failed(what, r, w.Mention...)
	}
}

// isClamped reports whether a request for too large a page was answered with the
// largest page, as PG 5.3 requires.
func isClamped(op *catalog.Operation, p catalog.Parameter, v jsonv.Value, r guard.Reply) bool {
	_, high := catalog.Bounds(p)
	return op.Category == "READ" && slices.Contains([]string{"first", "last", "limit", "page_size", "per_page"}, p.Name) &&
		v.Float64() > high && float64(len(catalog.Items(r.Data(), catalog.ListDepth))) <= high
}

// Documented defaults: a call without a parameter must behave as with its default.

// defaults tests whether omitting a parameter has the effect of its default.
func (pr operationProbe) defaults(op *catalog.Operation, base guard.Reply) {
	if !base.OK() {
		return
	}
	for _, p := range op.Params {
		def, has := p.Schema.Get("default")
		if !has || p.Required || def.Kind() == jsonv.KindNull {
			continue
		}
		r := pr.run.Caller.Call(op, pr.run.Builder.Fresh(op).With(p.Name, def))
		if !r.OK() {
			continue
		}
		same := !pr.run.Steady.Differs(op, base, r)
		path := echo(base.Envelope, p.Name, "", 4)
		response := pr.run.Caller.Noted(base)
		want := def
		switch {
		case path != "" && (same == jsonv.Equal(reference.Walk(base.Envelope, path), def)):
		case !same || pr.observable(op, p, def, base):
			path, want = evidence.DefaultEquivalent, jsonv.Bool(true)
			response = response.With(evidence.Additions, jsonv.ObjectOf("default_equivalent", same))
		default:
			pr.run.Rows.Skip("defaults", op.Name, p.Name,
				"the default is consistent with the responses, but they do not tell it apart from its neighbors")
			continue
		}
		pr.run.Evidence.OptionalDefaults = append(pr.run.Evidence.OptionalDefaults, evidence.DefaultCase{
			Operation: op.Name,
			Parameter: p.Name,
			Path:      path,
			Expected:  want,
			Response:  response,
			Request:   pr.run.Caller.Redact(base.Args),
			Call:      base.Number,
		})
	}
}

// observable reports whether the default can be distinguished from its neighbors: each of
// them changes the answer.
func (pr operationProbe) observable(op *catalog.Operation, p catalog.Parameter, def jsonv.Value, base guard.Reply) bool {
	var other []jsonv.Value
	if v, given := pr.run.Options.Given(op.Name, p.Name); given {
		other = append(other, v)
	}
	switch def.Kind() {
	case jsonv.KindNumber:
		if n, ok := def.Int64(); ok {
			other = append(other, jsonv.Int(n+1))
			low, _ := catalog.Bounds(p)
			if n > 1 || low < float64(n) && !math.IsInf(low, 0) {
				other = append(other, jsonv.Int(n-1))
			}
		}
	case jsonv.KindBool:
		other = append(other, jsonv.Bool(!def.Bool()))
	case jsonv.KindString:
		other = append(other, slices.DeleteFunc(p.Schema.Lookup("enum").List(), func(e jsonv.Value) bool {
			return jsonv.Equal(e, def)
		})...)
	}
	differs := false
	for i, v := range other {
		if i == maxNeighbors || pr.run.Catalog.Fits(p, v) != "" || jsonv.Equal(v, def) {
			continue
		}
		r := pr.run.Caller.Call(op, pr.run.Builder.Fresh(op).With(p.Name, v))
		if r.OK() {
			if differs = pr.run.Steady.Differs(op, base, r); !differs {
				return false
			}
		}
	}
	return differs
}

// maxNeighbors bounds the values that a default is compared with.
const maxNeighbors = 8

// echo returns the path at which an answer repeats a parameter, or "" if it does not.
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

// createdDefaults compares what a create with the required parameters alone
// stored with the documented defaults of the others.
func (pr operationProbe) createdDefaults(op *catalog.Operation) {
	things := pr.run.Ledger.Things(op.Resource)
	y := pr.run.Gate.CycleOf(op)
	if y == nil || len(things) == 0 {
		return
	}
	y.Thing = things[len(things)-1]
	var back guard.Reply
	for _, p := range op.Params {
		def, has := p.Schema.Get("default")
		if !has || p.Required || def.Kind() == jsonv.KindNull {
			continue
		}
		if back.Number == 0 {
			back = cycleProbe(pr).readBack(y)
		}
		prefix, thing := y.Place(back)
		if !back.OK() || thing.Lookup(p.Name).IsAbsent() {
			pr.run.Rows.Skip("defaults", op.Name, p.Name, evidence.NotShown)
			continue
		}
		pr.run.Evidence.OptionalDefaults = append(pr.run.Evidence.OptionalDefaults, evidence.DefaultCase{
			Operation: op.Name,
			Parameter: p.Name,
			Path:      prefix + "." + p.Name,
			Expected:  def,
			Response:  pr.run.Caller.Noted(back),
			Request:   pr.run.Caller.Redact(back.Args),
			Call:      back.Number,
		})
	}
}

// Parameters that work without being documented.

const matchesNothing = "zz_conf_matches_nothing"

// findUndocumented searches for parameters that work without being documented.
func (pr operationProbe) findUndocumented(op *catalog.Operation, base guard.Reply) {
	if !base.OK() || op.Name == "introspect" {
		return
	}
	pr.alias(op, base)
	candidates := jsonv.ObjectOf("query", matchesNothing, "filter", matchesNothing)
	if len(catalog.Items(base.Data(), catalog.ListDepth)) >= 2 {
		for _, name := range []string{"limit", "first", "page_size", "per_page", "offset"} {
			candidates = candidates.With(name, jsonv.Int(1))
		}
	}
	keys := catalog.ScalarKeys(catalog.Sample(base.Data()))
	if len(keys) > 1 {
		candidates = candidates.With("fields", jsonv.Array(jsonv.String(keys[0])))
	}
	for name, v := range pr.withSiblings(op, candidates).Members() {
		if op.Param(name) != nil {
			continue
		}
		r := pr.run.Caller.Call(op, pr.run.Builder.Fresh(op).With(name, v))
		if r.OK() && !r.UnknownParameter(name) && pr.run.Steady.Differs(op, base, r) {
			pr.accept(op, name)
		}
	}
}

// alias tests whether an operation takes id in place of the identifier that it documents.
func (pr operationProbe) alias(op *catalog.Operation, base guard.Reply) {
	id := op.IDParam()
	if id == nil || id.Name == "id" || op.Param("id") != nil {
		return
	}
	params := pr.run.Builder.Fresh(op)
	same := func(r guard.Reply) bool { return pr.run.Steady.Masks[op.Name].Alike(base.Envelope, r.Envelope) }
	without := params.Without(id.Name)
	r := pr.run.Caller.Call(op, without.With("id", params.Lookup(id.Name)))
	if r.OK() && same(r) && !r.UnknownParameter("id") && !same(pr.run.Caller.Call(op, without)) {
		pr.accept(op, "id")
	}
}

const maxSiblings = 6

// withSiblings adds to candidates the parameters of other READ operations of the same
// resource.
func (pr operationProbe) withSiblings(op *catalog.Operation, candidates jsonv.Value) jsonv.Value {
	most := candidates.Len() + maxSiblings
	for _, other := range pr.run.Catalog.Operations {
		if other == op || other.Category != "READ" || !catalog.SameResource(other.Resource, op.Resource) {
			continue
		}
		for _, p := range other.Params {
			if p.Required || !candidates.Lookup(p.Name).IsAbsent() || candidates.Len() >= most {
				continue
			}
			if v, err := pr.run.Maker.Value(other, p, p.Name); err == nil {
				candidates = candidates.With(p.Name, v)
			}
		}
	}
	return candidates
}
