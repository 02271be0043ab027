package aql

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/reference"
	"mcptest/internal/mcpaql/rule"
	"mcptest/internal/mcpaql/verdict"
)

// judgeSemantics returns the rows of the semantic category.
func (j *judgement) judgeSemantics(tier Tier) []verdict.TestResult {
	if tier == Tier1 {
		return []verdict.TestResult{{Name: rule.SkippedSemantics, Result: verdict.Skipped, Detail: "Tier 1 leaves the semantic tests out."}}
	}
	var out []verdict.TestResult
	for i, c := range j.e.Semantics {
		x := &evaluation{judgement: j, test: rule.TestByID()["semantic"]}
		x.incomplete = "the test expects nothing"
		x.checkSemanticCase(c, placeOf("semantic_tests").elem(i))
		r := x.buildResult()
		r.Name = c.Name
		r.Tiers = &verdict.TierResults{Structural: judgeTier(r, "semantic.pattern", true), Semantic: judgeTier(r, "semantic.pattern", false)}
		if j.isUndecided(c) {
			leaveUndecided(&r, c.Unjudged)
		}
		out = append(out, r)
	}
	if j.set != rule.Strict {
		return out
	}
	for _, u := range j.e.Live.Lookup("unasked").Elems() {
		out = append(out, verdict.TestResult{
			Name:   u.Lookup("name").Text(),
			Result: verdict.Skipped,
			Detail: display.Sentence("Not asked: " + cmp.Or(u.Lookup("reason").Text(), noReason)),
			Tiers:  &verdict.TierResults{Structural: verdict.Skipped, Semantic: verdict.Skipped},
		})
	}
	return out
}

// isUndecided reports whether a judge was asked and gave no verdict. The phrases do not
// replace it: they are for users without a judge.
func (j *judgement) isUndecided(c evidence.SemanticCase) bool {
	return j.set == rule.Strict && c.Unjudged != ""
}

// leaveUndecided completes a row without the judge's verdict: what is known without the judge
// counts, and a row with nothing against it is skipped.
func leaveUndecided(r *verdict.TestResult, why string) {
	why = display.Sentence("Not judged: " + cmp.Or(why, noReason))
	if r.Tiers.Semantic == verdict.Pass {
		r.Tiers.Semantic = verdict.Skipped
	}
	if len(r.Findings) == 0 {
		r.Result, r.Detail = verdict.Skipped, why
		return
	}
	r.Detail = why + " Known without the judge: " + r.Detail
}

const noReason = "no reason is given"

// describeSemanticBasis describes the basis of the semantic rows: who was asked, who judged,
// what is missing, and how often the tiers disagree.
func describeSemanticBasis(e *evidence.Evidence, rows []verdict.TestResult) string {
	unasked := e.Live.Lookup("unasked").Len()
	if len(e.Semantics)+unasked == 0 {
		if e.IsLive() && e.Live.Lookup("model").IsAbsent() {
			return "no model was asked"
		}
		return ""
	}
	phrases, unjudged, judges := 0, 0, []string{}
	for _, c := range e.Semantics {
		switch {
		case c.Unjudged != "":
			unjudged++
		case c.Judge == nil:
			phrases++
		default:
			if by := c.Judge.Name(); !slices.Contains(judges, by) {
				judges = append(judges, by)
			}
		}
	}
	var parts []string
	say := func(applies bool, format string, args ...any) {
		if applies {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	say(unasked > 0, "incomplete: %s not asked", were(unasked, "question"))
	say(unjudged > 0, "incomplete: %s not judged", were(unjudged, "answer"))
	say(phrases > 0 && len(judges) > 0, "the phrase rules decide tier 2 of %s that no judge was asked about", display.Count(phrases, "answer"))
	say(phrases > 0 && len(judges) == 0, "no judge was asked: the phrase rules decide tier 2")
	say(len(judges) > 0, "tier 2 is judged by %s", strings.Join(judges, " and "))
	n := 0 // answers that one tier accepts and the other rejects
	for _, r := range rows {
		if r.Tiers == nil || r.Result == verdict.Skipped {
			continue
		}
		if (r.Tiers.Structural == verdict.Pass) != (r.Tiers.Semantic == verdict.Pass) {
			n++
		}
	}
	say(n > 0, "the tiers disagree on %s", display.Count(n, "answer"))
	return display.Truncate(strings.Join(parts, "; "), 600)
}

func were(n int, what string) string {
	if n == 1 {
		return display.Count(n, what) + " was"
	}
	return display.Count(n, what) + " were"
}

// judgeTier returns the verdict of one tier: that of the findings of a rule, or of
// all others.
func judgeTier(r verdict.TestResult, id string, only bool) verdict.Result {
	if r.Result == verdict.Skipped {
		return verdict.Skipped
	}
	result := verdict.Pass
	for _, f := range r.Findings {
		switch {
		case (f.Rule == id) != only:
		case only || f.Weight == rule.Fail:
			result = verdict.Failed
		case result == verdict.Pass:
			result = verdict.Warned
		}
	}
	return result
}

func (x *evaluation) checkSemanticCase(c evidence.SemanticCase, at place) {
	expected := len(c.RequiredPatterns) + len(c.PhraseGroups) + len(c.ExpectedOperations) + len(c.ExpectedParameters)
	if expected > 0 || c.Judge != nil || c.Unjudged != "" {
		x.cases = 1
	}
	answer := "" // also if the text is null
	if !c.ResponseText.IsAbsent() && c.ResponseText.Kind() != jsonv.KindNull {
		answer = reference.FormatText(c.ResponseText)
	}
	occurs := func(part string) bool { return x.contains(part, answer) }
	for i, p := range c.RequiredPatterns {
		if !occurs(p) {
			place := at.member("structural").member("required_patterns").elem(i)
			x.fail("semantic.pattern", place, c.ResponseText,
				"%s does not occur in the answer", evidence.QuoteStart(p, 60))
		}
	}
	switch {
	case x.isUndecided(c):
	case c.Judge != nil && x.set == rule.Strict:
		x.judgeAnswer(c.Judge, at.member("x_judge"))
	default:
		x.checkPhrases(c, at.member("semantic").member("phrase_groups"), occurs)
	}
	x.checkCalls(c, at.member("semantic"), occurs)
	x.observed = "Both tiers agree: the answer shows understanding."
}

// contains searches a text for a part of it: anywhere under the reference rules,
// as whole words under the strict ones.
func (x *evaluation) contains(part, in string) bool {
	if x.set != rule.Strict {
		return strings.Contains(reference.Normalize(in), reference.Normalize(part))
	}
	w := normalizeWords(part)
	return w == "" || strings.Contains(" "+normalizeWords(in)+" ", " "+w+" ")
}

func (x *evaluation) judgeAnswer(j *evidence.Judge, at place) {
	switch j.Verdict {
	case "not_understood":
		x.fail("semantic.judge", at, jsonv.Value{}, "%s: %s", j.Verdict, j.Reason)
	case "unsure":
		x.fail("semantic.judge-unsure", at, jsonv.Value{}, "%s: %s", j.Verdict, j.Reason)
	}
}

func (x *evaluation) checkPhrases(c evidence.SemanticCase, at place, occurs func(string) bool) {
	for i, group := range c.PhraseGroups {
		if !slices.ContainsFunc(group, occurs) {
			x.fail("semantic.phrase", at.elem(i), c.ResponseText,
				"none of %s occurs in the answer", evidence.FormatBrief(jsonv.List(group, jsonv.String)))
		}
	}
}

func (x *evaluation) checkCalls(c evidence.SemanticCase, at place, occurs func(string) bool) {
	for i, op := range c.ExpectedOperations {
		called := func(t evidence.ToolCall) bool {
			return t.Operation.Text() == op && !t.Operation.IsAbsent()
		}
		if !slices.ContainsFunc(c.ToolCalls, called) {
			x.fail("semantic.operation", at.member("expected_operations").elem(i), c.ResponseText,
				"%s was not called", evidence.Quote(op))
		}
	}
	for i, p := range c.ExpectedParameters {
		inCall := func(t evidence.ToolCall) bool { return x.contains(p, x.serializeParams(t)) }
		if !occurs(p) && !slices.ContainsFunc(c.ToolCalls, inCall) {
			x.fail("semantic.parameter", at.member("expected_parameters").elem(i), c.ResponseText,
				"%s occurs neither in a call nor in the answer", evidence.QuoteStart(p, 60))
		}
	}
}

// escapeSequence matches an escape sequence of JSON, whose letters are not words.
var escapeSequence = evidence.Pattern(`\\(u[0-9a-f]{4}|.)`)

// serializeParams returns the JSON text of a call's parameters; under the strict
// rules without escape sequences, so that words stay whole.
func (x *evaluation) serializeParams(t evidence.ToolCall) string {
	params := t.Params
	if params.IsAbsent() || params.Kind() == jsonv.KindNull {
		params = jsonv.Object()
	}
	s := reference.Stringify(params)
	if x.set == rule.Strict {
		s = escapeSequence().ReplaceAllString(s, " ")
	}
	return s
}

// normalizeWords makes a text comparable under the strict rules: lower case,
// letters and digits of every script and the underscore kept, everything
// else one space.
func normalizeWords(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
	}), " ")
}
