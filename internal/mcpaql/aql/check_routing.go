package aql

import (
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/reference"
	"mcptest/internal/mcpaql/rule"
)

func (x *evaluation) checkModes() {
	x.cases++
	for _, mode := range []string{"crude", "single"} {
		if !x.hasMode(mode) {
			x.fail("modes.both", placeOf("endpoint_modes"), jsonv.Value{}, "no %q", mode)
		}
	}
	x.observed = "crude and single."
}

// hasMode reports whether the adapter has a mode of endpoints. By the strict rules a semantic
// mode is a crude one.
func (x *evaluation) hasMode(mode string) bool {
	for _, m := range x.e.EndpointModes {
		if m == mode {
			return true
		}
		isSemantic := m == "semantic" || strings.HasPrefix(m, "semantic:")
		if isSemantic && mode == "crude" && x.set == rule.Strict {
			return true
		}
	}
	return false
}

func (x *evaluation) checkFieldSelection() {
	x.cases++
	if !x.e.FieldSelection {
		x.fail("fields.supported", placeOf("capabilities", "field_selection"), jsonv.Value{}, "not true")
	}
	x.observed = "Supported."
}

func (x *evaluation) checkBatch() {
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
		x.checkBatchCounts(at, answer)
	}
	x.observed = display.Count(answer.Lookup("results").Len(), "result") + " in the example."
}

// checkBatchCounts checks that the parts of a batch's answer agree.
func (x *evaluation) checkBatchCounts(at place, answer jsonv.Value) {
	results := answer.Lookup("results")
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
	for i, r := range results.Elems() {
		x.checkBatchCode(at.member("results").elem(i), r)
		if index := r.Lookup("index"); !isNumber(index, i) {
			x.fail("batch.indices", at.member("results").elem(i).member("index"), r,
				"expected %d, got %s", i, evidence.Describe(index))
		}
	}
	x.checkBatchSummary(at, answer, results)
}

// checkBatchSummary compares the counts in the summary of a batch's answer with its results.
func (x *evaluation) checkBatchSummary(at place, answer, results jsonv.Value) {
	summary := answer.Lookup("summary")
	if summary.Kind() != jsonv.KindObject {
		x.fail("batch.summary", at.member("summary"), answer,
			"expected an object, got %s", evidence.Describe(summary))
		return
	}
	succeeded := 0
	for _, r := range results.Elems() {
		if evidence.IsSuccess(r.Lookup("result")) {
			succeeded++
		}
	}
	for _, count := range []struct {
		key  string
		want int
	}{
		{"total", results.Len()},
		{"succeeded", succeeded},
		{"failed", results.Len() - succeeded},
	} {
		got := summary.Lookup(count.key)
		if !isNumber(got, count.want) {
			x.fail("batch.counts", at.member("summary").member(count.key), summary,
				"expected %d, got %s", count.want, evidence.Describe(got))
		}
	}
}

// isNumber reports whether a value is a given number.
func isNumber(v jsonv.Value, want int) bool {
	return v.Kind() == jsonv.KindNumber && v.Float64() == float64(want)
}

// checkBatchCode compares the code of an unknown operation in a batch with its code alone.
func (x *evaluation) checkBatchCode(at place, r jsonv.Value) {
	op, code := r.Lookup("operation"), r.Lookup("result", "error", "code")
	if op.Kind() != jsonv.KindString || x.listed[op.Text()] || code.IsAbsent() {
		return // the parameters of a listed one count, and the response does not repeat them
	}
	for _, c := range x.e.ErrorTests {
		alone := c.Response.Lookup("error", "code")
		if jsonv.Equal(c.Request.Lookup("operation"), op) && !alone.IsAbsent() && !jsonv.Equal(alone, code) {
			x.fail("batch.code", at, r,
				"%s fails with %s in a batch, and with %s alone",
				reference.FormatText(op), evidence.Describe(code), evidence.Describe(alone))
		}
	}
}
