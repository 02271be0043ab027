package aql

import (
	"slices"
	"strings"
	"unicode"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/reference"
	"mcptest/internal/mcpaql/rule"
)

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

// isUndecided reports whether a judge was asked and gave no verdict. The phrases do not
// replace it: they are for users without a judge.
func (j *judgement) isUndecided(c evidence.SemanticCase) bool {
	return j.set == rule.Strict && c.Unjudged != ""
}
