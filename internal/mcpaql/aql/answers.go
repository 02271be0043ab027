package aql

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lists"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/rule"
	"mcptest/internal/mcpaql/verdict"
)

// Two rows concern all answers: every answer has the documented form, and no failure
// reveals details of the program behind it. They therefore check all answers in the
// evidence.

// answer is an answer in the evidence that belongs to no error test.
type answer struct {
	at                place
	response, request jsonv.Value
	operation         string
}

// findOtherAnswers returns the answers that do not belong to the error tests: those of
// the other tests, and every further one of a live run's transcript. Problems that
// are reported elsewhere are left out: a missing answer, or a JSON-RPC error in place
// of one.
func (j *judgement) findOtherAnswers() (out []answer) {
	reported := map[int]bool{}
	for _, c := range j.e.ErrorTests {
		reported[c.Call] = true
	}
	add := func(at place, response, request jsonv.Value, op string, call int) {
		if call > 0 && reported[call] || response.IsAbsent() {
			return
		}
		reported[call] = true
		out = append(out, answer{at, response.Without(evidence.Additions), request, op})
	}
	if !j.e.IsLive() { // otherwise they are in the transcript
		add(placeOf("introspection", "operations_list"), j.e.OperationsList, jsonv.Value{}, "introspect", 0)
		add(placeOf("introspection", "types_list"), j.e.TypesList, jsonv.Value{}, "introspect", 0)
	}
	for i, c := range j.e.MissingRequired {
		add(placeOf("parameter_tests", "missing_required").elem(i).member("response"), c.Response, c.Request, c.Operation, c.Call)
	}
	for i, c := range j.e.UnknownParameter {
		add(placeOf("parameter_tests", "unknown_parameter").elem(i).member("response"), c.Response, c.Request, c.Operation, c.Call)
	}
	for i, c := range j.e.OptionalDefaults {
		add(placeOf("parameter_tests", "optional_defaults").elem(i).member("response"), c.Response, c.Request, c.Operation, c.Call)
	}
	for i, c := range j.e.RoundTrips {
		add(placeOf("round_trip_tests").elem(i).member("read_response"), c.ReadResponse, jsonv.Value{}, "", c.Call)
	}
	for i, c := range j.e.Updates {
		add(placeOf("update_preservation_tests").elem(i).member("read_response"), c.ReadResponse, jsonv.Value{}, "", c.Call)
	}
	for i, c := range j.e.Constraints {
		if evidence.IsRefused(c.Response) && !isEnforced(c) {
			continue // its own row reports it
		}
		add(placeOf("constraint_tests").elem(i).member("response"), c.Response.Without("x_note"), c.Request, "", c.Call)
	}
	for i, c := range j.e.Live.Lookup("transcript").Elems() {
		args := c.Lookup("arguments")
		if c.Lookup("bytes").IsAbsent() { // otherwise the answer was too long to be stored
			at := placeOf("x_live", "transcript").elem(i).member("answer")
			add(at, c.Lookup("answer"), args, args.Lookup("operation").Text(), i+1)
		}
	}
	return out
}

// isWhole reports whether an answer exists and was stored completely.
func (a answer) isWhole() bool {
	return !slices.ContainsFunc([]string{"no_answer", "jsonrpc_error", "x_truncated"}, func(key string) bool {
		return !a.response.Lookup(key).IsAbsent()
	})
}

// isFailure reports whether an answer is a failure, or a JSON-RPC error.
func (a answer) isFailure() bool {
	return evidence.IsRefused(a.response) || !a.response.Lookup("jsonrpc_error").IsAbsent()
}

// isOfBatch reports whether an answer is to a batch, whose form has a row of its own.
func (a answer) isOfBatch() bool {
	return !a.request.Lookup("operations").IsAbsent() || !a.response.Lookup("results").IsAbsent()
}

// answerProblem is what findings about several answers have in common.
type answerProblem struct{ rule, cause, operation string }

// checkOtherForms checks the other answers against the form of results, and returns their
// number. A problem with many answers of one operation for one cause is one finding.
func (x *evaluation) checkOtherForms() int {
	n := 0
	first := map[answerProblem]int{} // the index of the finding
	more := map[int]int{}            // how many further answers a finding is about
	for _, a := range x.findOtherAnswers() {
		if !a.isWhole() || a.isOfBatch() {
			continue
		}
		n++
		var p probe
		resultShape{}.look(&p, a.at, a.response, "")
		if why := evidence.FindWrappedFailure(a.response); why != "" {
			p.add("result.wrapped", a.at, a.response, "success around a failure: %s", why)
		}
		for _, f := range p.found {
			key := answerProblem{rule: f.Rule, cause: verdict.FindCause(f.Says), operation: a.operation}
			if i, seen := first[key]; seen {
				more[i]++
				continue
			}
			before := len(x.found)
			x.take([]verdict.Finding{f}, nil)
			if len(x.found) > before {
				first[key] = before
				if a.operation != "" {
					x.found[before].Says = "the response of " + a.operation + ": " + f.Says
				}
			}
		}
	}
	for i, n := range more {
		x.found[i].Says += fmt.Sprintf(", in %s", display.Count(n+1, "response"))
	}
	return n
}

// leakPattern matches text that must not occur in a message under the strict rules. A
// text without any of the literals in hints does not match re; this test dismisses
// most texts, at a hundredth of the cost of the expressions.
type leakPattern struct {
	rule  string
	hints []string
	re    *regexp.Regexp
}

func (p *leakPattern) mayMatch(s string) bool {
	return slices.ContainsFunc(p.hints, func(h string) bool { return strings.Contains(s, h) })
}

var leakPatterns = sync.OnceValue(func() []leakPattern {
	return lists.Map(rule.Leaks(), func(l rule.LeakPattern) leakPattern {
		return leakPattern{l.Rule, l.Hints, regexp.MustCompile(l.Pattern)}
	})
})

// findLeak returns the first rule that a text breaks and the offending part, or "". A
// part that repeats the request is not a leak.
func findLeak(s string, request jsonv.Value) (rule, part string) {
	best := len(s)
	for _, p := range leakPatterns() {
		if !p.mayMatch(s) {
			continue
		}
		for _, at := range p.re.FindAllStringIndex(s, -1) {
			text := s[at[0]:at[1]]
			isFirst := rule == "" || at[0] < best || at[0] == best && p.rule < rule
			if at[0] <= best && isFirst && !repeats(request, text) {
				best, rule, part = at[0], p.rule, text
				break
			}
		}
	}
	return rule, part
}

// repeats reports whether a text occurs in one of the texts of the request.
func repeats(request jsonv.Value, part string) bool {
	found := false
	evidence.VisitTexts(request, func(s string) { found = found || strings.Contains(s, strings.TrimSpace(part)) })
	return found
}

// isEnforced reports whether a constraint was enforced with a message.
func isEnforced(c evidence.ConstraintCase) bool {
	return evidence.IsRefused(c.Response) && c.Response.Lookup("error", "message").Kind() == jsonv.KindString
}
