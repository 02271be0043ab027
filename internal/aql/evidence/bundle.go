package evidence

import (
	"slices"
	"strconv"
	"strings"

	"mcptest/internal/aql/reference"
	"mcptest/internal/aql/rule"
	"mcptest/internal/display"
	"mcptest/internal/jsonv"
)

// The skeleton of a bundle: the typed part that its author writes. Everything read
// with o.Get here without a kind is a payload. Unknown members are ignored.

func (r *Reader) top(o jsonv.Value, e *Evidence) {
	r.known(o, "", "implementation", "version", "spec_version", "expected_level", "expected_exit_code", "expected_rules",
		"introspection", "accepted_parameters", "parameter_tests", "error_tests", "round_trip_tests",
		"update_preservation_tests", "endpoint_modes", "capabilities", "batch_example", "constraint_tests",
		"semantic_tests", "x_live")
	e.Implementation = r.Text(o, "", "implementation", false)
	e.Version = r.Text(o, "", "version", false)
	e.SpecVersion = r.Text(o, "", "spec_version", false)
	e.ExpectedLevel = r.Integer(o, "", "expected_level", 1)
	e.ExpectedExitCode = r.Integer(o, "", "expected_exit_code", 0)
	e.ExpectedRules = r.ruleSet(o)

	in, at := r.Member(o, "", "introspection", jsonv.KindObject, false)
	r.known(in, at, "operations_list", "types_list", "operation_details")
	e.OperationsList, _ = in.Get("operations_list")
	e.TypesList, _ = in.Get("types_list")
	details, _ := r.Member(in, at, "operation_details", jsonv.KindArray, false)
	e.OperationDetails = details.List()

	acc, at := r.Member(o, "", "accepted_parameters", jsonv.KindObject, false)
	for _, m := range reference.Members(acc) {
		e.Accepted = append(e.Accepted, Accepted{m.Key, r.Texts(acc, at, m.Key)})
	}
	r.parameterTests(o, e)
	r.List(o, "", "error_tests", jsonv.KindObject, func(c jsonv.Value, at string) {
		e.ErrorTests = append(e.ErrorTests, ErrorCase{r.Text(c, at, "name", true), r.Texts(c, at, "must_mention"), c.Lookup("response"), c.Lookup("request"), r.Integer(c, at, "x_call", 0)})
	})
	e.RoundTrips = r.fieldsCases(o, "round_trip_tests", "expected_fields")
	e.Updates = r.fieldsCases(o, "update_preservation_tests", "preserved_fields")

	e.EndpointModes = r.Texts(o, "", "endpoint_modes")
	caps, at := r.Member(o, "", "capabilities", jsonv.KindObject, false)
	r.known(caps, at, "field_selection", "batch_operations")
	e.FieldSelection = r.Flag(caps, at, "field_selection")
	e.BatchOperations = r.Flag(caps, at, "batch_operations")
	e.BatchExample, _ = o.Get("batch_example")
	r.List(o, "", "constraint_tests", jsonv.KindObject, func(c jsonv.Value, at string) {
		e.Constraints = append(e.Constraints, ConstraintCase{r.Text(c, at, "name", true), r.Flag(c, at, "documented"), c.Lookup("response"), c.Lookup("request"), r.Integer(c, at, "x_call", 0)})
	})
	r.List(o, "", "semantic_tests", jsonv.KindObject, func(c jsonv.Value, at string) {
		e.Semantics = append(e.Semantics, r.semanticCase(c, at))
	})
	e.Live = r.live(o)
}

// ruleSet reads expected_rules.
func (r *Reader) ruleSet(o jsonv.Value) rule.Set {
	name := r.Text(o, "", "expected_rules", false)
	if name != "" && !slices.Contains(rule.Sets(), name) {
		r.Errorf(o.Lookup("expected_rules"), "/expected_rules", "expected one of %s, got %s", strings.Join(rule.Sets(), ", "), Quoted(display.Truncate(name, 40)))
		return ""
	}
	return rule.Set(name)
}

func (r *Reader) parameterTests(o jsonv.Value, e *Evidence) {
	tests, at := r.Member(o, "", "parameter_tests", jsonv.KindObject, false)
	r.known(tests, at, "missing_required", "unknown_parameter", "optional_defaults")
	read := func(key string) (out []ParameterCase) {
		r.List(tests, at, key, jsonv.KindObject, func(c jsonv.Value, at string) {
			out = append(out, ParameterCase{r.Text(c, at, "operation", true), r.Text(c, at, "parameter", true), c.Lookup("response"), c.Lookup("request"), r.Integer(c, at, "x_call", 0)})
		})
		return out
	}
	e.MissingRequired = read("missing_required")
	e.UnknownParameter = read("unknown_parameter")
	r.List(tests, at, "optional_defaults", jsonv.KindObject, func(c jsonv.Value, at string) {
		e.OptionalDefaults = append(e.OptionalDefaults, DefaultCase{
			Operation: r.Text(c, at, "operation", true),
			Parameter: r.Text(c, at, "parameter", true),
			Path:      r.Text(c, at, "expected_value_path", true),
			Expected:  c.Lookup("expected_value"),
			Response:  c.Lookup("response"),
			Request:   c.Lookup("request"),
			Call:      r.Integer(c, at, "x_call", 0),
		})
	})
}

func (r *Reader) fieldsCases(o jsonv.Value, key, fields string) (out []FieldsCase) {
	r.List(o, "", key, jsonv.KindObject, func(c jsonv.Value, at string) {
		f := FieldsCase{Name: r.Text(c, at, "name", true), ReadResponse: c.Lookup("read_response"), Call: r.Integer(c, at, "x_call", 0)}
		want, _ := r.Member(c, at, fields, jsonv.KindObject, false)
		for _, m := range reference.Members(want) {
			f.Fields = append(f.Fields, Field{m.Key, m.Value})
		}
		out = append(out, f)
	})
	return out
}

func (r *Reader) semanticCase(c jsonv.Value, at string) SemanticCase {
	s := SemanticCase{Name: r.Text(c, at, "name", true), ResponseText: c.Lookup("response_text")}
	r.List(c, at, "tool_calls", jsonv.KindObject, func(t jsonv.Value, at string) {
		// A model may call a tool that has no operations.
		op, _ := r.Member(t, at, "operation", jsonv.KindString, false)
		s.ToolCalls = append(s.ToolCalls, ToolCall{op.Text(), !op.IsAbsent(), t.Lookup("params")})
	})
	structural, p := r.Member(c, at, "structural", jsonv.KindObject, false)
	r.known(structural, p, "required_patterns")
	s.RequiredPatterns = r.Texts(structural, p, "required_patterns")
	semantic, p := r.Member(c, at, "semantic", jsonv.KindObject, false)
	r.known(semantic, p, "phrase_groups", "expected_operations", "expected_parameters")
	r.List(semantic, p, "phrase_groups", jsonv.KindArray, func(g jsonv.Value, at string) {
		var group []string
		r.Elements(g, at, jsonv.KindString, func(v jsonv.Value, _ string) { group = append(group, v.Text()) })
		s.PhraseGroups = append(s.PhraseGroups, group)
	})
	s.ExpectedOperations = r.Texts(semantic, p, "expected_operations")
	s.ExpectedParameters = r.Texts(semantic, p, "expected_parameters")
	s.Question, s.Facts = r.Text(c, at, "x_question", false), r.Text(c, at, "x_facts", false)
	s.Judge, s.Unjudged = r.judge(c, at), r.Text(c, at, "x_unjudged", false)
	return s
}

// judge reads x_judge, this tool's own record of a model's judgement.
func (r *Reader) judge(c jsonv.Value, at string) *Judge {
	j, p := r.Member(c, at, "x_judge", jsonv.KindObject, false)
	if j.IsAbsent() {
		return nil
	}
	out := &Judge{Kind: r.Text(j, p, "kind", false), Model: r.Text(j, p, "model", false), Reason: r.Text(j, p, "reason", false), Rubric: r.Text(j, p, "rubric", false), Votes: r.Texts(j, p, "votes"), Key: r.Text(j, p, "key", false)}
	out.Verdict = Verdict(r.Text(j, p, "verdict", true))
	switch out.Verdict {
	case Understood, NotUnderstood, Unsure, "":
	default:
		r.Errorf(j.Lookup("verdict"), p+"/verdict", "expected understood, not_understood or unsure, got %s", strconv.Quote(string(out.Verdict)))
	}
	return out
}
