package aql

import (
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
func (j *judgement) findOtherAnswers() []answer {
	o := otherAnswers{reported: map[int]bool{}}
	for _, c := range j.e.ErrorTests {
		o.reported[c.Call] = true
	}
	if !j.e.IsLive() { // otherwise they are in the transcript
		list := answer{at: placeOf("introspection", "operations_list"), response: j.e.OperationsList, operation: "introspect"}
		o.add(list, 0)
		types := answer{at: placeOf("introspection", "types_list"), response: j.e.TypesList, operation: "introspect"}
		o.add(types, 0)
	}
	o.addParameterTests(j.e)
	for i, c := range j.e.RoundTrips {
		o.add(answer{at: placeOf("round_trip_tests").elem(i).member("read_response"), response: c.ReadResponse}, c.Call)
	}
	for i, c := range j.e.Updates {
		at := placeOf("update_preservation_tests").elem(i).member("read_response")
		o.add(answer{at: at, response: c.ReadResponse}, c.Call)
	}
	for i, c := range j.e.Constraints {
		if evidence.IsRefused(c.Response) && !isEnforced(c) {
			continue // its own row reports it
		}
		at := placeOf("constraint_tests").elem(i).member("response")
		o.add(answer{at, c.Response.Without("x_note"), c.Request, ""}, c.Call)
	}
	for i, c := range j.e.Live.Lookup("transcript").Elems() {
		if !c.Lookup("bytes").IsAbsent() {
			continue // the answer was too long to be stored
		}
		args := c.Lookup("arguments")
		at := placeOf("x_live", "transcript").elem(i).member("answer")
		o.add(answer{at, c.Lookup("answer"), args, args.Lookup("operation").Text()}, i+1)
	}
	return o.list
}

// otherAnswers collects answers, each call once.
type otherAnswers struct {
	list     []answer
	reported map[int]bool // by the number of the call
}

// add adds the answer of a call of the transcript; the number is 0 if it is in none.
func (o *otherAnswers) add(a answer, call int) {
	if call > 0 && o.reported[call] || a.response.IsAbsent() {
		return
	}
	o.reported[call] = true
	a.response = a.response.Without(evidence.Additions)
	o.list = append(o.list, a)
}

// addParameterTests adds the answers of the tests of parameters.
func (o *otherAnswers) addParameterTests(e *evidence.Evidence) {
	for i, c := range e.MissingRequired {
		at := placeOf("parameter_tests", "missing_required").elem(i).member("response")
		o.add(answer{at, c.Response, c.Request, c.Operation}, c.Call)
	}
	for i, c := range e.UnknownParameter {
		at := placeOf("parameter_tests", "unknown_parameter").elem(i).member("response")
		o.add(answer{at, c.Response, c.Request, c.Operation}, c.Call)
	}
	for i, c := range e.OptionalDefaults {
		at := placeOf("parameter_tests", "optional_defaults").elem(i).member("response")
		o.add(answer{at, c.Response, c.Request, c.Operation}, c.Call)
	}
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

// answerFinding is a problem of one or more answers.
type answerFinding struct {
	first     verdict.Finding
	operation string
	answers   int
}

// makeFinding returns the first finding, which says whose answers it is about.
func (g *answerFinding) makeFinding() verdict.Finding {
	f := g.first
	if g.operation != "" {
		f.Says = "the response of " + g.operation + ": " + f.Says
	}
	if g.answers > 1 {
		f.Says += ", in " + display.Count(g.answers, "response")
	}
	return f
}

// checkOtherForms checks the other answers against the form of results, and returns their
// number. A problem with many answers of one operation for one cause is one finding.
func (x *evaluation) checkOtherForms() int {
	n := 0
	var found []*answerFinding
	index := map[answerProblem]*answerFinding{}
	for _, a := range x.findOtherAnswers() {
		if !a.isWhole() || a.isOfBatch() {
			continue
		}
		n++
		for _, f := range a.checkForm() {
			key := answerProblem{rule: f.Rule, cause: verdict.FindCause(f.Says), operation: a.operation}
			if index[key] == nil {
				index[key] = &answerFinding{first: f, operation: a.operation}
				found = append(found, index[key])
			}
			index[key].answers++
		}
	}
	for _, g := range found {
		x.take([]verdict.Finding{g.makeFinding()}, nil)
	}
	return n
}

// checkForm checks an answer against the form of results.
func (a answer) checkForm() []verdict.Finding {
	var p probe
	resultShape{}.look(&p, a.at, a.response, "")
	if why := evidence.FindWrappedFailure(a.response); why != "" {
		p.add("result.wrapped", a.at, a.response, "success around a failure: %s", why)
	}
	return p.found
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
			if isFirst && !repeats(request, text) {
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
