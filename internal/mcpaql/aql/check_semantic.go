package aql

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/rule"
	"mcptest/internal/mcpaql/verdict"
)

// judgeSemantics returns the rows of the semantic category.
func (j *judgement) judgeSemantics(tier Tier) []verdict.TestResult {
	if tier == Tier1 {
		return []verdict.TestResult{{
			Name:   rule.SkippedSemantics,
			Result: verdict.Skipped,
			Detail: "Tier 1 leaves the semantic tests out.",
		}}
	}
	var out []verdict.TestResult
	for i, c := range j.e.Semantics {
		x := &evaluation{judgement: j, test: rule.TestByID()["semantic"]}
		x.incomplete = "the test expects nothing"
		x.checkSemanticCase(c, placeOf("semantic_tests").elem(i))
		r := x.buildResult()
		r.Name = c.Name
		r.Tiers = &verdict.TierResults{Structural: judgeStructural(r), Semantic: judgeSemantic(r)}
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

// structuralRule is the only rule of tier 1; all others are of tier 2.
const structuralRule = "semantic.pattern"

// judgeStructural returns the verdict of tier 1, which knows no warnings.
func judgeStructural(r verdict.TestResult) verdict.Result {
	isStructural := func(f verdict.Finding) bool { return f.Rule == structuralRule }
	switch {
	case r.Result == verdict.Skipped:
		return verdict.Skipped
	case slices.ContainsFunc(r.Findings, isStructural):
		return verdict.Failed
	}
	return verdict.Pass
}

// judgeSemantic returns the verdict of tier 2.
func judgeSemantic(r verdict.TestResult) verdict.Result {
	if r.Result == verdict.Skipped {
		return verdict.Skipped
	}
	var others []verdict.Finding
	for _, f := range r.Findings {
		if f.Rule != structuralRule {
			others = append(others, f)
		}
	}
	if len(others) == 0 {
		return verdict.Pass
	}
	if findHeaviest(others) == rule.Fail {
		return verdict.Failed
	}
	return verdict.Warned
}
