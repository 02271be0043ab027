package aql

import (
	"strings"
	"unicode"

	"mcptest/internal/jsonv"
)

// semantics makes the rows of the semantic category.
func (j *judgement) semantics(tier Tier) []TestResult {
	if tier == Tier1 {
		return []TestResult{{Name: SkippedSemantics, test: "semantic", Result: Skipped, Detail: "Tier 1 leaves the semantic tests out."}}
	}
	var out []TestResult
	for i, c := range j.e.Semantics {
		x := &ruling{judgement: j, test: testsByID()["semantic"]}
		x.lacking = "the test expects nothing"
		x.semantic(c, spot("semantic_tests").elem(i))
		r := x.result()
		r.Name = c.Name
		r.Tiers = &TierResults{Structural: tierResult(r, "semantic.pattern", true), Semantic: tierResult(r, "semantic.pattern", false)}
		out = append(out, r)
	}
	return out
}

// semanticNote says what the rows of a live run rest on.
func semanticNote(e *Evidence) string {
	judged := 0
	for _, c := range e.Semantics {
		if c.Judge != nil {
			judged++
		}
	}
	switch why := e.Live.Lookup("semantic_error").Text(); {
	case why != "":
		return "not whole: " + clip(why, 300)
	case e.Live.Lookup("model").IsAbsent():
		return "no model was asked"
	case judged == 0:
		return "no judge was asked: the phrase rules decide tier 2"
	}
	return ""
}

// tierResult is the verdict of one tier: of the findings of a rule, or of
// all the others.
func tierResult(r TestResult, rule string, only bool) Result {
	if r.Result == Skipped {
		return Skipped
	}
	result := Pass
	for _, f := range r.Findings {
		switch {
		case (f.Rule == rule) != only:
		case only || f.Weight == Fail:
			result = Failed
		case result == Pass:
			result = Warned
		}
	}
	return result
}

func (x *ruling) semantic(c SemanticCase, at *place) {
	if len(c.RequiredPatterns)+len(c.PhraseGroups)+len(c.ExpectedOperations)+len(c.ExpectedParameters) > 0 || c.Judge != nil {
		x.cases = 1
	}
	answer := ""
	if k := c.ResponseText.Kind(); k != jsonv.KindAbsent && k != jsonv.KindNull {
		answer = text(c.ResponseText)
	}
	occurs := func(part string) bool { return strings.Contains(normalise(answer), normalise(part)) }
	if x.set == Strict {
		spoken := " " + unicodeWords(answer) + " "
		occurs = func(part string) bool {
			w := unicodeWords(part)
			return w == "" || strings.Contains(spoken, " "+w+" ")
		}
	}
	for i, p := range c.RequiredPatterns {
		if !occurs(p) {
			x.breaks("semantic.pattern", at.member("structural").member("required_patterns").elem(i), c.ResponseText, "%s does not occur in the answer", quoted(clip(p, 60)))
		}
	}
	if c.Judge != nil && x.set == Strict {
		x.judged(c.Judge, at.member("x_judge"))
	} else {
		x.phrases(c, at.member("semantic").member("phrase_groups"), occurs)
	}
	x.calls(c, at.member("semantic"), occurs)
	x.observed = "Both tiers agree: the answer shows understanding."
}

func (x *ruling) judged(j *Judge, at *place) {
	switch j.Verdict {
	case NotUnderstood:
		x.breaks("semantic.judge", at, jsonv.Value{}, "%s: %s", j.Verdict, j.Reason)
	case Unsure:
		x.breaks("semantic.judge-unsure", at, jsonv.Value{}, "%s: %s", j.Verdict, j.Reason)
	}
}

func (x *ruling) phrases(c SemanticCase, at *place, occurs func(string) bool) {
	for i, group := range c.PhraseGroups {
		hit := false
		for _, p := range group {
			hit = hit || occurs(p)
		}
		if !hit {
			x.breaks("semantic.phrase", at.elem(i), c.ResponseText, "none of %s occurs in the answer", brief(textList(group)))
		}
	}
}

func (x *ruling) calls(c SemanticCase, at *place, occurs func(string) bool) {
	for i, op := range c.ExpectedOperations {
		hit := false
		for _, t := range c.ToolCalls {
			hit = hit || t.HasName && t.Operation == op
		}
		if !hit {
			x.breaks("semantic.operation", at.member("expected_operations").elem(i), c.ResponseText, "%s was not called", quoted(op))
		}
	}
	for i, p := range c.ExpectedParameters {
		hit := occurs(p)
		for _, t := range c.ToolCalls {
			hit = hit || strings.Contains(serialisedParams(t), p)
		}
		if !hit {
			x.breaks("semantic.parameter", at.member("expected_parameters").elem(i), c.ResponseText, "%s occurs neither in a call nor in the answer", quoted(clip(p, 60)))
		}
	}
}

// serialisedParams is the JSON text of a call's arguments.
func serialisedParams(t ToolCall) string {
	if k := t.Params.Kind(); k == jsonv.KindAbsent || k == jsonv.KindNull {
		return "{}"
	}
	return stringify(t.Params)
}

// unicodeWords makes a text comparable under the strict rules: lower case,
// letters and digits of every script and the underscore kept, everything
// else one space.
func unicodeWords(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
	}), " ")
}
