package aql

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/reference"
	"mcptest/internal/mcpaql/rule"
)

func (x *evaluation) checkErrorForm() {
	x.incomplete = "error_tests is empty"
	for i, c := range x.e.ErrorTests {
		x.cases++
		x.take(x.errors[i], nil)
		if why := evidence.FindWrappedFailure(c.Response); why != "" && x.set == rule.Strict {
			x.fail("result.wrapped", placeOf("error_tests").elem(i).member("response"), c.Response,
				"%s: success around a failure: %s", c.Name, why)
		} else if evidence.IsSuccess(c.Response) {
			x.fail("error.produced", placeOf("error_tests").elem(i).member("response"), c.Response,
				"no error was produced")
		}
	}
	x.observed = display.Count(x.cases, "response") + ", all of the documented form."
	if x.set == rule.Strict {
		n := x.checkOtherForms()
		x.observed = fmt.Sprintf("%s to invalid calls and %s, all of the documented form.",
			display.Count(x.cases, "response"), display.Count(n, "other"))
	}
}

func (x *evaluation) checkLeaks() {
	x.incomplete = "error_tests is empty"
	for i, c := range x.e.ErrorTests {
		x.cases++
		at := placeOf("error_tests").elem(i).member("response").member("error")
		if x.set == rule.Strict {
			x.checkLeaksStrict(c.Response, c.Request, at)
			continue
		}
		m := c.Response.Lookup("error", "message")
		if len(x.errors[i]) == 0 && reference.LeaksLikeReference(m.Text()) {
			x.fail("leaks.reference", at.member("message"), m, "%s", evidence.QuoteStart(m.Text(), 120))
		}
	}
	if x.set == rule.Strict {
		x.checkOtherLeaks()
	}
}

// checkOtherLeaks checks the failures outside the error tests, including those of a batch.
func (x *evaluation) checkOtherLeaks() {
	for _, a := range x.findOtherAnswers() {
		if a.isFailure() {
			x.checkLeaksStrict(a.response, a.request, a.at.member("error"))
		}
	}
	for i, r := range x.e.BatchExample.Lookup("results").Elems() {
		if part := r.Lookup("result"); evidence.IsRefused(part) {
			x.checkLeaksStrict(part, jsonv.Value{}, placeOf("batch_example", "results").elem(i).member("result").member("error"))
		}
	}
}

// checkLeaksStrict checks every text of a failure, including a JSON-RPC error.
func (x *evaluation) checkLeaksStrict(response, request jsonv.Value, at place) {
	failure := response.Lookup("error")
	if failure.IsAbsent() && !evidence.IsSuccess(response) {
		failure = response
	}
	seen := map[string]bool{}
	evidence.VisitTexts(failure, func(s string) {
		if rule, part := findLeak(s, request); rule != "" && !seen[rule+part] {
			seen[rule+part] = true
			x.fail(rule, at, failure,
				"%s in %s", evidence.QuoteStart(strings.TrimSpace(part), 60), evidence.QuoteStart(s, 120))
		}
	})
}

func (x *evaluation) checkActionable() {
	x.incomplete = "no error test says what the message must mention"
	for i, c := range x.e.ErrorTests {
		if slices.ContainsFunc(c.MustMention, func(s string) bool { return s != "" || x.set == rule.Reference }) {
			x.cases++
		}
		if !x.isSound(x.errors[i]) {
			continue
		}
		m := evidence.Message(c.Response)
		for _, part := range c.MustMention {
			named := x.set == rule.Strict && evidence.ContainsNameInWords(m.Text(), part)
			if !named && !strings.Contains(m.Text(), part) {
				x.fail("actionable.mention", placeOf("error_tests").elem(i).member("response"), c.Response,
					"the message does not mention %s", evidence.QuoteStart(part, 60))
			}
		}
	}
}

func (x *evaluation) createRead() {
	x.checkFields("create-read", "round_trip_tests", x.e.RoundTrips)
	x.noteOmitted()
	x.explainMissing("CREATE", "creates")
}

func (x *evaluation) update() {
	x.checkFields("update", "update_preservation_tests", x.e.Updates)
	x.explainMissing("UPDATE", "updates")
}

// explainMissing explains why a row of round trips has no case: no operation is of the
// category, or the run could not call it.
func (x *evaluation) explainMissing(category, does string) {
	if x.cases > 0 || x.set == rule.Reference || !x.e.IsLive() {
		return // a bundle may list only a part of the operations
	}
	var ops []string
	for op := range listOperations(x.e) {
		if strings.EqualFold(cmp.Or(op.Lookup("semantic_category").Text(), op.Lookup("endpoint").Text()), category) {
			ops = append(ops, op.Lookup("name").Text())
		}
	}
	switch {
	case len(x.listed) > 0 && len(ops) == 0:
		x.notApplicable = "there is no " + category + " operation"
	case wasCollectedSafely(x.e.Live):
		x.incomplete = "mode safe " + does + " nothing; --mode write does"
	default:
		x.incomplete = x.describeObstacles(ops)
	}
}

// checkFields compares the data read back with the expected values.
func (x *evaluation) checkFields(rules, key string, cases []evidence.FieldsCase) {
	x.incomplete = key + " contains no fields to compare"
	compared := 0
	for i, c := range cases {
		counts := func(f evidence.Field) bool { return f.IsComparable() || x.set == rule.Reference }
		if slices.ContainsFunc(c.Fields, counts) {
			x.cases++
		}
		at := placeOf(key).elem(i).member("read_response")
		if !x.shows(c.ReadResponse) {
			x.fail(rules+".read", at, c.ReadResponse, "the read of %s did not succeed", evidence.Quote(c.Name))
			if x.set == rule.Strict {
				continue // there is nothing to compare
			}
		}
		for _, f := range c.Fields {
			compared++
			got := reference.Walk(c.ReadResponse, f.Path)
			says := func() string {
				want, path := evidence.FormatBrief(f.Value), evidence.Quote(f.Path)
				return fmt.Sprintf("%s: at %s expected %s, got %s", c.Name, path, want, evidence.FormatBrief(got))
			}
			if x.set == rule.Reference && (got.IsAbsent() || reference.Stringify(got) != reference.Stringify(f.Value)) {
				x.fail(rules+".kept", at, c.ReadResponse, "%s", says())
			}
			if x.set == rule.Strict && (got.IsAbsent() || !jsonv.Equal(got, f.Value)) {
				x.fail(rules+".equal", at, c.ReadResponse, "%s", says())
			}
		}
	}
	x.observed = display.Count(compared, "field") + " compared, all kept."
}

func (x *evaluation) checkModes() {
	x.cases++
	for _, mode := range []string{"crude", "single"} {
		has := func(m string) bool {
			isSemantic := m == "semantic" || strings.HasPrefix(m, "semantic:")
			return m == mode || isSemantic && mode == "crude" && x.set == rule.Strict
		}
		if !slices.ContainsFunc(x.e.EndpointModes, has) {
			x.fail("modes.both", placeOf("endpoint_modes"), jsonv.Value{}, "no %q", mode)
		}
	}
	x.observed = "crude and single."
}

func (x *evaluation) checkFieldSelection() {
	x.cases++
	if !x.e.FieldSelection {
		x.fail("fields.supported", placeOf("capabilities", "field_selection"), jsonv.Value{}, "not true")
	}
	x.observed = "Supported."
}

func (x *evaluation) batch() {
	x.cases++
	at, answer := placeOf("batch_example"), x.e.BatchExample
	if !x.e.BatchOperations {
		x.fail("batch.supported", placeOf("capabilities", "batch_operations"), jsonv.Value{}, "not true")
	}
	if answer.IsAbsent() {
		x.fail("batch.example", at, answer, "missing")
		return
	}
	var p probe
	resultShape{}.look(&p, at, answer, "")
	for i := range p.found {
		if f := &p.found[i]; f.Rule == "result.data" && f.At == "/batch_example/data" {
			f.Rule = "batch.data"
		}
	}
	x.take(p.found, nil)
	if x.set == rule.Strict {
		x.batchCounts(at, answer)
	}
	x.observed = display.Count(answer.Lookup("results").Len(), "result") + " in the example."
}

// batchCounts checks that the parts of a batch's answer agree.
func (x *evaluation) batchCounts(at place, answer jsonv.Value) {
	results, summary := answer.Lookup("results"), answer.Lookup("summary")
	if results.Kind() != jsonv.KindArray {
		x.fail("batch.results", at.member("results"), answer, "expected a list, got %s", evidence.Describe(results))
		return
	}
	sent, ok := x.e.Live.Lookup("batch_sent").Int64()
	if ok && x.e.IsLive() && int(sent) != results.Len() {
		x.fail("batch.results", at.member("results"), results,
			"%d operations were sent, and the response has %s", sent, display.Count(results.Len(), "result"))
	}
	if results.Len() == 0 {
		x.fail("batch.results", at.member("results"), results, "the batch has no operation, so it shows nothing")
	}
	good := 0
	for i, r := range results.Elems() {
		x.batchCode(at.member("results").elem(i), r)
		if index := r.Lookup("index"); index.Kind() != jsonv.KindNumber || index.Float64() != float64(i) {
			x.fail("batch.indices", at.member("results").elem(i).member("index"), r,
				"expected %d, got %s", i, evidence.Describe(index))
		}
		if evidence.IsSuccess(r.Lookup("result")) {
			good++
		}
	}
	if summary.Kind() != jsonv.KindObject {
		x.fail("batch.summary", at.member("summary"), answer,
			"expected an object, got %s", evidence.Describe(summary))
		return
	}
	want := []int{results.Len(), good, results.Len() - good}
	for i, key := range []string{"total", "succeeded", "failed"} {
		if got := summary.Lookup(key); got.Kind() != jsonv.KindNumber || got.Float64() != float64(want[i]) {
			x.fail("batch.counts", at.member("summary").member(key), summary,
				"expected %d, got %s", want[i], evidence.Describe(got))
		}
	}
}

// batchCode compares the code of an unknown operation in a batch with its code alone.
func (x *evaluation) batchCode(at place, r jsonv.Value) {
	op, code := r.Lookup("operation"), r.Lookup("result", "error", "code")
	if op.Kind() != jsonv.KindString || x.listed[op.Text()] || code.IsAbsent() {
		return // the parameters of a listed one count, and the response does not repeat them
	}
	for _, c := range x.e.ErrorTests {
		alone := c.Response.Lookup("error", "code")
		if jsonv.Equal(c.Request.Lookup("operation"), op) && !alone.IsAbsent() && !jsonv.Equal(alone, code) {
			x.fail("batch.code", at, r,
				"%s fails with %s in a batch, and with %s alone", reference.FormatText(op), evidence.Describe(code), evidence.Describe(alone))
		}
	}
}

// holds reports whether a constraint was enforced with a message.
func holds(c evidence.ConstraintCase) bool {
	return evidence.IsRefused(c.Response) && c.Response.Lookup("error", "message").Kind() == jsonv.KindString
}

func (x *evaluation) checkEnforced() {
	x.incomplete = "constraint_tests is empty"
	for i, c := range x.e.Constraints {
		x.cases++
		at := placeOf("constraint_tests").elem(i).member("response")
		switch {
		case !evidence.IsRefused(c.Response):
			x.fail("enforced.refused", at, c.Response, "%s: not refused", c.Name)
		case !holds(c):
			message := c.Response.Lookup("error", "message")
			place := at.member("error").member("message")
			x.fail("enforced.message", place, c.Response, "%s: the message is %s", c.Name, evidence.Describe(message))
		}
	}
}

func (x *evaluation) checkDisclosed() {
	x.incomplete = "no constraint was seen to be enforced"
	for i, c := range x.e.Constraints {
		if !holds(c) {
			continue
		}
		x.cases++
		if !c.Documented {
			x.fail("disclosed.documented", placeOf("constraint_tests").elem(i).member("documented"), c.Response,
				"%s: enforced, but not documented", c.Name)
		}
	}
}
