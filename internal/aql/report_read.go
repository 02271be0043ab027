package aql

import (
	"slices"
	"strings"

	"mcptest/internal/display"
	"mcptest/internal/jsonv"
	"mcptest/internal/source"
)

// ReadReport reads a JSON report, of this tool or of another that writes the
// specification's form. Every mistake is a diagnostic with line, column and
// JSON pointer; when one is an error, the report is not to be used.
func ReadReport(f *source.File) (*Report, source.Diagnostics) {
	r := newReader(f)
	out := &Report{AchievedLevel: -1}
	root, _, ok := r.parse()
	if !ok {
		return out, r.problems
	}
	if root.Kind() != jsonv.KindObject {
		r.errorf(root, "", "a report is a JSON object, this is %s", describe(root))
		return out, r.problems
	}
	r.report(root, out)
	r.problems.Sort()
	return out, r.problems
}

func (r *reader) report(o jsonv.Value, out *Report) {
	out.Implementation = r.text(o, "", "implementation", false)
	out.Version = r.text(o, "", "version", false)
	out.SpecVersion = r.text(o, "", "specVersion", false)
	out.RequestedLevel = r.integer(o, "", "requestedLevel", levelOne)
	out.ConformanceLevel = r.integer(o, "", "conformanceLevel", 0)
	out.ExitCode = r.integer(o, "", "exitCode", 0)
	if sum, at := r.member(o, "", "summary", jsonv.KindObject, true); !sum.IsAbsent() {
		out.Summary = Summary{r.needed(sum, at, "total"), r.needed(sum, at, "passed"), r.needed(sum, at, "warned"), r.needed(sum, at, "failed"), r.needed(sum, at, "skipped")}
	}
	cats, at := r.member(o, "", "categories", jsonv.KindArray, true)
	r.elements(cats, at, jsonv.KindObject, func(c jsonv.Value, at string) {
		out.Categories = append(out.Categories, r.category(c, at))
	})
	out.Rules = RuleSet(r.text(o, "", "rules", false))
	out.Normative = r.flag(o, "", "normative")
	out.AchievedLevel = r.integer(o, "", "achievedLevel", -1)
	out.Complete = r.flag(o, "", "complete")
	out.NotApplicable = r.inapplicable(o, "notApplicable")
	out.NotProved = r.inapplicable(o, "notProved")
	out.Bundle = r.text(o, "", "bundle", false)
	out.Alerts = r.texts(o, "", "alerts")
	out.Ended = r.text(o, "", "ended", false)
	for key, list := range map[string]*[]string{"leftovers": &out.Leftovers, "changed": &out.Changed, "unchecked": &out.Unchecked} {
		r.list(o, "", key, jsonv.KindString, func(l jsonv.Value, _ string) { *list = append(*list, l.Text()) })
	}
	cov, at := r.member(o, "", "coverage", jsonv.KindObject, false)
	out.Coverage = Coverage{r.integer(cov, at, "operations_total", 0), r.integer(cov, at, "probed", 0), r.integer(cov, at, "skipped_by_policy", 0), r.integer(cov, at, "not_generatable", 0)}
}

func (r *reader) inapplicable(o jsonv.Value, key string) (out []Inapplicable) {
	r.list(o, "", key, jsonv.KindObject, func(n jsonv.Value, at string) {
		out = append(out, Inapplicable{r.text(n, at, "category", true), r.text(n, at, "name", true), r.text(n, at, "reason", false)})
	})
	return out
}

// needed reads a whole number that has to be there.
func (r *reader) needed(o jsonv.Value, at, key string) int {
	r.member(o, at, key, jsonv.KindNumber, true)
	if v := o.Lookup(key); v.Kind() == jsonv.KindNumber {
		return r.integer(o, at, key, 0)
	}
	return 0
}

func (r *reader) category(c jsonv.Value, at string) CategoryResult {
	out := CategoryResult{Name: r.text(c, at, "name", true), Required: r.flag(c, at, "required"), Note: r.text(c, at, "note", false)}
	out.Result = r.verdict(c, at)
	tests, p := r.member(c, at, "tests", jsonv.KindArray, true)
	r.elements(tests, p, jsonv.KindObject, func(t jsonv.Value, at string) {
		out.Tests = append(out.Tests, r.testResult(t, at, out.Name))
	})
	return out
}

func (r *reader) verdict(o jsonv.Value, at string) Result {
	v := Result(r.text(o, at, "result", true))
	if v != "" && !slices.Contains([]Result{Pass, Failed, Warned, Skipped}, v) {
		r.errorf(o.Lookup("result"), at+"/result", "expected PASS, FAIL, WARN or SKIP, got %s", quoted(display.Truncate(string(v), 40)))
	}
	return v
}

func (r *reader) testResult(t jsonv.Value, at, category string) TestResult {
	out := TestResult{Name: r.text(t, at, "name", true), Result: r.verdict(t, at), Detail: r.text(t, at, "detail", false)}
	if tiers, p := r.member(t, at, "tiers", jsonv.KindObject, false); !tiers.IsAbsent() {
		out.Tiers = &TierResults{Result(r.text(tiers, p, "structural", false)), Result(r.text(tiers, p, "semantic", false))}
	}
	out.Missing = r.texts(t, at, "missing")
	r.list(t, at, "findings", jsonv.KindObject, func(f jsonv.Value, at string) {
		g := Finding{Rule: r.text(f, at, "rule", true), At: r.text(f, at, "at", false), Says: r.text(f, at, "says", false), Weight: Fail, offset: -1}
		if r.text(f, at, "weight", false) == "WARN" {
			g.Weight = Warn
		}
		if x, p := r.member(f, at, "call", jsonv.KindObject, false); !x.IsAbsent() {
			g.Exchange = &Exchange{Tool: r.text(x, p, "tool", false), Arguments: x.Lookup("arguments"), Answer: x.Lookup("answer"), Repeat: r.text(x, p, "repeat", false)}
		}
		g.Line, g.Column = r.integer(f, at, "line", 0), r.integer(f, at, "column", 0)
		out.Findings = append(out.Findings, g)
	})
	for _, known := range Tests() {
		if known.Category == category && (strings.EqualFold(known.Name, out.Name) || known.ID == "semantic") {
			out.test = known.ID
		}
	}
	out.unproven = out.Result == Skipped && strings.HasPrefix(out.Detail, "No evidence")
	return out
}
