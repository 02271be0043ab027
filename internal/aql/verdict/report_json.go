package verdict

import (
	"mcptest/internal/aql/evidence"
	"mcptest/internal/jsonv"
)

// JSON returns the report in the specification's form (S 6.1), with two spaces of
// indentation and a newline at the end. Members that the form does not define follow
// those that it defines.
func (r *Report) JSON() []byte {
	num := func(n int) jsonv.Value { return jsonv.Int(int64(n)) }
	o := evidence.Object{
		{Key: "implementation", Value: jsonv.String(r.Implementation)},
		{Key: "version", Value: jsonv.String(r.Version)},
		{Key: "specVersion", Value: jsonv.String(r.SpecVersion)},
		{Key: "requestedLevel", Value: num(r.RequestedLevel)},
		{Key: "conformanceLevel", Value: num(r.ConformanceLevel)},
		{Key: "summary", Value: jsonv.ObjectOf(
			"total", num(r.Summary.Total), "passed", num(r.Summary.Passed), "warned", num(r.Summary.Warned), "failed", num(r.Summary.Failed),
			"skipped", num(r.Summary.Skipped),
		)},
		{Key: "categories", Value: jsonv.Array(evidence.Each(r.Categories, CategoryResult.json)...)},
		{Key: "exitCode", Value: num(r.ExitCode)},
	}
	o.Text("rules", string(r.Rules))
	if r.Normative {
		o.Set("normative", jsonv.Bool(true))
	}
	if r.AchievedLevel >= 0 {
		o.Set("achievedLevel", num(r.AchievedLevel))
		o.Set("complete", jsonv.Bool(r.Complete))
		o.Set("coverage", jsonv.ObjectOf(
			"operations_total", num(r.Coverage.OperationsTotal), "probed", num(r.Coverage.Probed),
			"skipped_by_policy", num(r.Coverage.SkippedByPolicy), "not_generatable", num(r.Coverage.NotGeneratable),
		))
	}
	o.List("notApplicable", evidence.Each(r.NotApplicable, Inapplicable.json))
	o.List("notProved", evidence.Each(r.NotProved, Inapplicable.json))
	o.Text("bundle", r.Bundle)
	o.List("alerts", evidence.Each(r.Alerts, jsonv.String))
	o.Text("ended", r.Ended)
	o.List("leftovers", evidence.Each(r.Leftovers, jsonv.String))
	o.List("changed", evidence.Each(r.Changed, jsonv.String))
	o.List("unchecked", evidence.Each(r.Unchecked, jsonv.String))
	return append(o.Value().Indent("", "  "), '\n')
}

func (c CategoryResult) json() jsonv.Value {
	o := evidence.Object{
		{Key: "name", Value: jsonv.String(c.Name)},
		{Key: "required", Value: jsonv.Bool(c.Required)},
		{Key: "result", Value: jsonv.String(string(c.Result))},
		{Key: "tests", Value: jsonv.Array(evidence.Each(c.Tests, TestResult.json)...)},
	}
	o.Text("note", c.Note)
	return o.Value()
}

func (n Inapplicable) json() jsonv.Value {
	return jsonv.Object(evidence.TextMember("category", n.Category), evidence.TextMember("name", n.Test), evidence.TextMember("reason", n.Reason))
}

func (t TestResult) json() jsonv.Value {
	o := evidence.Object{
		{Key: "name", Value: jsonv.String(t.Name)},
		{Key: "result", Value: jsonv.String(string(t.Result))},
		{Key: "detail", Value: jsonv.String(t.Detail)},
	}
	if t.Tiers != nil {
		o.Set("tiers", jsonv.ObjectOf("structural", string(t.Tiers.Structural), "semantic", string(t.Tiers.Semantic)))
	}
	o.List("missing", evidence.Each(t.Missing, jsonv.String))
	o.List("findings", evidence.Each(t.Findings, Finding.json))
	return o.Value()
}

func (f Finding) json() jsonv.Value {
	o := evidence.Object{
		{Key: "rule", Value: jsonv.String(f.Rule)},
		{Key: "weight", Value: jsonv.String(f.Weight.String())},
		{Key: "at", Value: jsonv.String(f.At)},
	}
	if f.Line > 0 {
		o.Set("line", jsonv.Int(int64(f.Line)))
		o.Set("column", jsonv.Int(int64(f.Column)))
	}
	o.Set("says", jsonv.String(f.Says))
	if f.Exchange != nil {
		o.Set("call", f.Exchange.JSON())
	}
	return o.Value()
}
