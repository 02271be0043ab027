package aql

import (
	"mcptest/internal/jsonv"
)

// JSON returns the report in the specification's form (S 6.1), two spaces of
// indentation and a newline at the end. What the form does not know comes
// behind what it knows.
func (r *Report) JSON() []byte {
	num := func(n int) jsonv.Value { return jsonv.Int(int64(n)) }
	o := object{
		{Key: "implementation", Value: jsonv.String(r.Implementation)},
		{Key: "version", Value: jsonv.String(r.Version)},
		{Key: "specVersion", Value: jsonv.String(r.SpecVersion)},
		{Key: "requestedLevel", Value: num(r.RequestedLevel)},
		{Key: "conformanceLevel", Value: num(r.ConformanceLevel)},
		{Key: "summary", Value: jsonv.Object(
			jsonv.Member{Key: "total", Value: num(r.Summary.Total)},
			jsonv.Member{Key: "passed", Value: num(r.Summary.Passed)},
			jsonv.Member{Key: "warned", Value: num(r.Summary.Warned)},
			jsonv.Member{Key: "failed", Value: num(r.Summary.Failed)},
			jsonv.Member{Key: "skipped", Value: num(r.Summary.Skipped)},
		)},
		{Key: "categories", Value: jsonv.Array(each(r.Categories, CategoryResult.json)...)},
		{Key: "exitCode", Value: num(r.ExitCode)},
	}
	o.text("rules", string(r.Rules))
	if r.Normative {
		o.set("normative", jsonv.Bool(true))
	}
	if r.AchievedLevel >= 0 {
		o.set("achievedLevel", num(r.AchievedLevel))
		o.set("complete", jsonv.Bool(r.Complete))
		o.set("coverage", jsonv.Object(
			jsonv.Member{Key: "operations_total", Value: num(r.Coverage.OperationsTotal)},
			jsonv.Member{Key: "probed", Value: num(r.Coverage.Probed)},
			jsonv.Member{Key: "skipped_by_policy", Value: num(r.Coverage.SkippedByPolicy)},
			jsonv.Member{Key: "not_generatable", Value: num(r.Coverage.NotGeneratable)},
		))
	}
	o.list("notApplicable", each(r.NotApplicable, Inapplicable.json))
	o.list("notProved", each(r.NotProved, Inapplicable.json))
	o.text("bundle", r.Bundle)
	o.list("alerts", each(r.Alerts, jsonv.String))
	o.text("ended", r.Ended)
	o.list("leftovers", each(r.Leftovers, jsonv.String))
	o.list("changed", each(r.Changed, jsonv.String))
	o.list("unchecked", each(r.Unchecked, jsonv.String))
	return append(o.value().Indent("", "  "), '\n')
}

func (c CategoryResult) json() jsonv.Value {
	o := object{
		{Key: "name", Value: jsonv.String(c.Name)},
		{Key: "required", Value: jsonv.Bool(c.Required)},
		{Key: "result", Value: jsonv.String(string(c.Result))},
		{Key: "tests", Value: jsonv.Array(each(c.Tests, TestResult.json)...)},
	}
	o.text("note", c.Note)
	return o.value()
}

func (n Inapplicable) json() jsonv.Value {
	return jsonv.Object(textMember("category", n.Category), textMember("name", n.Test), textMember("reason", n.Reason))
}

func (t TestResult) json() jsonv.Value {
	o := object{
		{Key: "name", Value: jsonv.String(t.Name)},
		{Key: "result", Value: jsonv.String(string(t.Result))},
		{Key: "detail", Value: jsonv.String(t.Detail)},
	}
	if t.Tiers != nil {
		o.set("tiers", jsonv.Object(
			jsonv.Member{Key: "structural", Value: jsonv.String(string(t.Tiers.Structural))},
			jsonv.Member{Key: "semantic", Value: jsonv.String(string(t.Tiers.Semantic))},
		))
	}
	o.list("missing", each(t.Missing, jsonv.String))
	o.list("findings", each(t.Findings, Finding.json))
	return o.value()
}

func (f Finding) json() jsonv.Value {
	o := object{
		{Key: "rule", Value: jsonv.String(f.Rule)},
		{Key: "weight", Value: jsonv.String(f.Weight.String())},
		{Key: "at", Value: jsonv.String(f.At)},
	}
	if f.Line > 0 {
		o.set("line", jsonv.Int(int64(f.Line)))
		o.set("column", jsonv.Int(int64(f.Column)))
	}
	o.set("says", jsonv.String(f.Says))
	if f.Exchange != nil {
		o.set("call", f.Exchange.json())
	}
	return o.value()
}
