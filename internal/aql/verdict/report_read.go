package verdict

import (
	"slices"
	"strings"

	"mcptest/internal/aql/evidence"
	"mcptest/internal/aql/rule"
	"mcptest/internal/display"
	"mcptest/internal/jsonv"
	"mcptest/internal/source"
)

// ReadReport reads a JSON report in the specification's form, of this tool or of
// another one. Every mistake is a diagnostic with line, column and JSON pointer; if
// one is an error, the report must not be used.
func ReadReport(f *source.File) (*Report, source.Diagnostics) {
	r := evidence.NewReader(f)
	out := &Report{AchievedLevel: -1}
	root, _, ok := r.Parse()
	if !ok {
		return out, r.Problems
	}
	if root.Kind() != jsonv.KindObject {
		r.Errorf(root, "", "a report is a JSON object, this is %s", evidence.Describe(root))
		return out, r.Problems
	}
	readReport(r, root, out)
	r.Problems.Sort()
	return out, r.Problems
}

func readReport(r *evidence.Reader, o jsonv.Value, out *Report) {
	out.Implementation = r.Text(o, "", "implementation", false)
	out.Version = r.Text(o, "", "version", false)
	out.SpecVersion = r.Text(o, "", "specVersion", false)
	out.RequestedLevel = r.Integer(o, "", "requestedLevel", rule.LevelOne)
	out.ConformanceLevel = r.Integer(o, "", "conformanceLevel", 0)
	out.ExitCode = r.Integer(o, "", "exitCode", 0)
	if sum, at := r.Member(o, "", "summary", jsonv.KindObject, true); !sum.IsAbsent() {
		out.Summary = Summary{readNeeded(r, sum, at, "total"), readNeeded(r, sum, at, "passed"), readNeeded(r, sum, at, "warned"), readNeeded(r, sum, at, "failed"), readNeeded(r, sum, at, "skipped")}
	}
	cats, at := r.Member(o, "", "categories", jsonv.KindArray, true)
	r.Elements(cats, at, jsonv.KindObject, func(c jsonv.Value, at string) {
		out.Categories = append(out.Categories, readCategory(r, c, at))
	})
	out.Rules = rule.Set(r.Text(o, "", "rules", false))
	out.Normative = r.Flag(o, "", "normative")
	out.AchievedLevel = r.Integer(o, "", "achievedLevel", -1)
	out.Complete = r.Flag(o, "", "complete")
	out.NotApplicable = readInapplicable(r, o, "notApplicable")
	out.NotProved = readInapplicable(r, o, "notProved")
	out.Bundle = r.Text(o, "", "bundle", false)
	out.Alerts = r.Texts(o, "", "alerts")
	out.Ended = r.Text(o, "", "ended", false)
	out.Leftovers, out.Changed, out.Unchecked = r.Texts(o, "", "leftovers"), r.Texts(o, "", "changed"), r.Texts(o, "", "unchecked")
	cov, at := r.Member(o, "", "coverage", jsonv.KindObject, false)
	out.Coverage = Coverage{r.Integer(cov, at, "operations_total", 0), r.Integer(cov, at, "probed", 0), r.Integer(cov, at, "skipped_by_policy", 0), r.Integer(cov, at, "not_generatable", 0)}
}

func readInapplicable(r *evidence.Reader, o jsonv.Value, key string) (out []Inapplicable) {
	r.List(o, "", key, jsonv.KindObject, func(n jsonv.Value, at string) {
		out = append(out, Inapplicable{r.Text(n, at, "category", true), r.Text(n, at, "name", true), r.Text(n, at, "reason", false)})
	})
	return out
}

// readNeeded reads a required whole number.
func readNeeded(r *evidence.Reader, o jsonv.Value, at, key string) int {
	r.Member(o, at, key, jsonv.KindNumber, true)
	if v := o.Lookup(key); v.Kind() == jsonv.KindNumber {
		return r.Integer(o, at, key, 0)
	}
	return 0
}

func readCategory(r *evidence.Reader, c jsonv.Value, at string) CategoryResult {
	out := CategoryResult{Name: r.Text(c, at, "name", true), Required: r.Flag(c, at, "required"), Note: r.Text(c, at, "note", false)}
	out.Result = readVerdict(r, c, at)
	tests, p := r.Member(c, at, "tests", jsonv.KindArray, true)
	r.Elements(tests, p, jsonv.KindObject, func(t jsonv.Value, at string) {
		out.Tests = append(out.Tests, readTestResult(r, t, at, out.Name))
	})
	return out
}

func readVerdict(r *evidence.Reader, o jsonv.Value, at string) Result {
	v := Result(r.Text(o, at, "result", true))
	if v != "" && !slices.Contains([]Result{Pass, Failed, Warned, Skipped}, v) {
		r.Errorf(o.Lookup("result"), at+"/result", "expected PASS, FAIL, WARN or SKIP, got %s", evidence.Quoted(display.Truncate(string(v), 40)))
	}
	return v
}

func readTestResult(r *evidence.Reader, t jsonv.Value, at, category string) TestResult {
	out := TestResult{Name: r.Text(t, at, "name", true), Result: readVerdict(r, t, at), Detail: r.Text(t, at, "detail", false)}
	if tiers, p := r.Member(t, at, "tiers", jsonv.KindObject, false); !tiers.IsAbsent() {
		out.Tiers = &TierResults{Result(r.Text(tiers, p, "structural", false)), Result(r.Text(tiers, p, "semantic", false))}
	}
	out.Missing = r.Texts(t, at, "missing")
	r.List(t, at, "findings", jsonv.KindObject, func(f jsonv.Value, at string) {
		g := Finding{Rule: r.Text(f, at, "rule", true), At: r.Text(f, at, "at", false), Says: r.Text(f, at, "says", false), Weight: rule.Fail, Offset: -1}
		if r.Text(f, at, "weight", false) == "WARN" {
			g.Weight = rule.Warn
		}
		if x, p := r.Member(f, at, "call", jsonv.KindObject, false); !x.IsAbsent() {
			g.Exchange = &evidence.Exchange{Tool: r.Text(x, p, "tool", false), Arguments: x.Lookup("arguments"), Answer: x.Lookup("answer"), Repeat: r.Text(x, p, "repeat", false)}
		}
		g.Line, g.Column = r.Integer(f, at, "line", 0), r.Integer(f, at, "column", 0)
		out.Findings = append(out.Findings, g)
	})
	for _, known := range rule.Tests() {
		if known.Category == category && (strings.EqualFold(known.Name, out.Name) || known.ID == "semantic") {
			out.Test = known.ID
		}
	}
	out.Unproven = out.Result == Skipped && strings.HasPrefix(out.Detail, "No evidence")
	return out
}
