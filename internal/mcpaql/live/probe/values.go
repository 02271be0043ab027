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

// testWrongValues sends values that the documented type, enum or range does not
// allow.
func (pr operationProbe) testWrongValues(op *catalog.Operation) {
	for _, p := range op.Params {
		if op.IsIdentifier(p) && op.Category != "READ" {
			continue
		}
		for _, w := range pr.run.Catalog.MakeWrong(p) {
			params := pr.run.Maker.AddMark(op, pr.run.Builder.RebuildParams(op).With(p.Name, w.Value), p.Name)
			if pair := catalog.CursorPair[p.Name]; pair != "" && op.FindParam(pair) != nil {
				params = params.With(pair, jsonv.Int(1))
			}
			r := pr.run.Keeper.Attempt(op, params)
			if !r.WasSent() {
				continue
			}
			pr.run.Rows.Count("values")
			pr.judgeWrong(op, p, w, r)
		}
	}
}

// judgeWrong judges the answer to a call with a value that is not allowed.
func (pr operationProbe) judgeWrong(op *catalog.Operation, p catalog.Parameter, w catalog.WrongValue, r guard.Reply) {
	isOtherRefusal := r.NamesUnknown(p.Name) ||
		r.Code() == "VALIDATION_MISSING_PARAM" && !evidence.ContainsNameInWords(r.Message(), p.Name)
	switch {
	case r.IsOK() && w.Rule == "values.range" && isClamped(op, p, w.Value, r):
	case r.IsOK():
		pr.run.Rows.Fail(w.Rule, r, "%s accepts %s for %s, which must be %s",
			op.Name, evidence.FormatBrief(w.Value), evidence.Quote(p.Name), w.Wants)
	case strings.HasPrefix(r.Code(), "NOT_FOUND"): // the adapter searched before it validated the value
	case isOtherRefusal: // testAccuracy reports it
	default:
		what := fmt.Sprintf("%s with a wrong %s (%s)", op.Name, p.Name, strings.TrimPrefix(w.Rule, "values."))
		pr.run.AddErrorTest(what, r, w.Mention...)
	}
}

// isClamped reports whether a request for too large a page was answered with the
// largest page, as PG 5.3 requires.
func isClamped(op *catalog.Operation, p catalog.Parameter, v jsonv.Value, r guard.Reply) bool {
	_, high := catalog.ReadBounds(p)
	return op.Category == "READ" && slices.Contains([]string{"first", "last", "limit", "page_size", "per_page"}, p.Name) &&
		v.Float64() > high && float64(len(catalog.FindItems(r.Data(), catalog.ListDepth))) <= high
}

// Documented defaults: a call without a parameter must behave as with its default.

// testDefaults tests whether omitting a parameter has the effect of its default.
func (pr operationProbe) testDefaults(op *catalog.Operation, base guard.Reply) {
	if !base.IsOK() {
		return
	}
	for _, p := range op.Params {
		def, has := p.Schema.Get("default")
		if !has || p.Required || def.Kind() == jsonv.KindNull {
			continue
		}
		r := pr.run.Caller.Call(op, pr.run.Builder.RebuildParams(op).With(p.Name, def))
		if !r.IsOK() {
			continue
		}
		same := !pr.run.Steady.Differs(op, base, r)
		path := findEcho(base.Envelope, p.Name, "", 4)
		response := pr.run.Caller.RedactAnswer(base)
		want := def
		switch {
		case path != "" && (same == jsonv.Equal(reference.Walk(base.Envelope, path), def)):
		case !same || pr.isObservable(op, p, def, base):
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

// isObservable reports whether the default can be distinguished from its neighbors: each of
// them changes the answer.
func (pr operationProbe) isObservable(op *catalog.Operation, p catalog.Parameter, def jsonv.Value, base guard.Reply) bool {
	var other []jsonv.Value
	if v, given := pr.run.Options.FindGiven(op.Name, p.Name); given {
		other = append(other, v)
	}
	switch def.Kind() {
	case jsonv.KindNumber:
		if n, ok := def.Int64(); ok {
			other = append(other, jsonv.Int(n+1))
			low, _ := catalog.ReadBounds(p)
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
		r := pr.run.Caller.Call(op, pr.run.Builder.RebuildParams(op).With(p.Name, v))
		if r.IsOK() {
			if differs = pr.run.Steady.Differs(op, base, r); !differs {
				return false
			}
		}
	}
	return differs
}

// maxNeighbors bounds the values that a default is compared with.
const maxNeighbors = 8

// findEcho returns the path at which an answer repeats a parameter, or "" if it does not.
func findEcho(v jsonv.Value, name, path string, depth int) string {
	if v.Kind() != jsonv.KindObject || depth == 0 {
		return ""
	}
	for k, e := range v.Members() {
		at := strings.TrimPrefix(path+"."+k, ".")
		if k == name && e.Kind() != jsonv.KindObject && e.Kind() != jsonv.KindArray {
			return at
		}
		if found := findEcho(e, name, at, depth-1); found != "" {
			return found
		}
	}
	return ""
}

// testCreatedDefaults compares what a create with the required parameters alone
// stored with the documented defaults of the others.
func (pr operationProbe) testCreatedDefaults(op *catalog.Operation) {
	things := pr.run.Ledger.ListThings(op.Resource)
	y := pr.run.Gate.FindCycle(op)
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
		if !back.IsOK() || thing.Lookup(p.Name).IsAbsent() {
			pr.run.Rows.Skip("defaults", op.Name, p.Name, evidence.NotShown)
			continue
		}
		pr.run.Evidence.OptionalDefaults = append(pr.run.Evidence.OptionalDefaults, evidence.DefaultCase{
			Operation: op.Name,
			Parameter: p.Name,
			Path:      prefix + "." + p.Name,
			Expected:  def,
			Response:  pr.run.Caller.RedactAnswer(back),
			Request:   pr.run.Caller.Redact(back.Args),
			Call:      back.Number,
		})
	}
}

// Parameters that work without being documented.

const matchesNothing = "zz_conf_matches_nothing"

// findUndocumented searches for parameters that work without being documented.
func (pr operationProbe) findUndocumented(op *catalog.Operation, base guard.Reply) {
	if !base.IsOK() || op.Name == "introspect" {
		return
	}
	pr.testAlias(op, base)
	candidates := jsonv.ObjectOf("query", matchesNothing, "filter", matchesNothing)
	if len(catalog.FindItems(base.Data(), catalog.ListDepth)) >= 2 {
		for _, name := range []string{"limit", "first", "page_size", "per_page", "offset"} {
			candidates = candidates.With(name, jsonv.Int(1))
		}
	}
	keys := catalog.ListScalarKeys(catalog.Sample(base.Data()))
	if len(keys) > 1 {
		candidates = candidates.With("fields", jsonv.Array(jsonv.String(keys[0])))
	}
	for name, v := range pr.addSiblings(op, candidates).Members() {
		if op.FindParam(name) != nil {
			continue
		}
		r := pr.run.Caller.Call(op, pr.run.Builder.RebuildParams(op).With(name, v))
		if r.IsOK() && !r.NamesUnknown(name) && pr.run.Steady.Differs(op, base, r) {
			pr.accept(op, name)
		}
	}
}

// testAlias tests whether an operation takes id in place of the identifier that it documents.
func (pr operationProbe) testAlias(op *catalog.Operation, base guard.Reply) {
	id := op.FindIDParam()
	if id == nil || id.Name == "id" || op.FindParam("id") != nil {
		return
	}
	params := pr.run.Builder.RebuildParams(op)
	same := func(r guard.Reply) bool { return pr.run.Steady.Masks[op.Name].IsAlike(base.Envelope, r.Envelope) }
	without := params.Without(id.Name)
	r := pr.run.Caller.Call(op, without.With("id", params.Lookup(id.Name)))
	if r.IsOK() && same(r) && !r.NamesUnknown("id") && !same(pr.run.Caller.Call(op, without)) {
		pr.accept(op, "id")
	}
}

const maxSiblings = 6

// addSiblings adds to candidates the parameters of other READ operations of the same
// resource.
func (pr operationProbe) addSiblings(op *catalog.Operation, candidates jsonv.Value) jsonv.Value {
	most := candidates.Len() + maxSiblings
	for _, other := range pr.run.Catalog.Operations {
		if other == op || other.Category != "READ" || !catalog.IsSameResource(other.Resource, op.Resource) {
			continue
		}
		for _, p := range other.Params {
			if p.Required || !candidates.Lookup(p.Name).IsAbsent() || candidates.Len() >= most {
				continue
			}
			if v, err := pr.run.Maker.MakeValue(other, p, p.Name); err == nil {
				candidates = candidates.With(p.Name, v)
			}
		}
	}
	return candidates
}
