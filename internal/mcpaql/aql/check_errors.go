package aql

import (
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
