package aql

import (
	"mcptest/internal/jsonv"
	"mcptest/internal/source"
)

// Evidence is everything a verdict rests on. It mirrors the bundle format of
// the MCP-AQL conformance testing document, and may be read from a file
// (ReadEvidence) or built in code. Fields of type jsonv.Value are payloads:
// answers as they came, of any shape, absent when there was none.
type Evidence struct {
	// File is the bundle that the evidence was read from, nil when it was
	// built in code. With it, findings carry a line and a column.
	File *source.File

	Implementation string
	Version        string
	SpecVersion    string

	// ExpectedLevel and ExpectedExitCode are what verify-fixtures compares
	// with: level 1 and exit code 0 unless the bundle says otherwise.
	ExpectedLevel    int
	ExpectedExitCode int
	ExpectedRules    RuleSet // "" when the bundle does not say

	EndpointModes   []string
	FieldSelection  bool
	BatchOperations bool

	OperationsList   jsonv.Value   // the whole answer to introspect {query: operations}
	TypesList        jsonv.Value   // the whole answer to introspect {query: types}
	OperationDetails []jsonv.Value // data.operation of each introspect {query: operations, name}

	// Accepted lists, in the bundle's order, the parameters each operation
	// was seen to accept.
	Accepted []Accepted

	MissingRequired  []ParameterCase
	UnknownParameter []ParameterCase
	OptionalDefaults []DefaultCase
	ErrorTests       []ErrorCase
	RoundTrips       []FieldsCase
	Updates          []FieldsCase
	BatchExample     jsonv.Value
	Constraints      []ConstraintCase
	Semantics        []SemanticCase

	// Live is the bundle's x_live object, which only live runs write.
	Live jsonv.Value
}

// Accepted is one entry of accepted_parameters.
type Accepted struct {
	Operation  string
	Parameters []string
}

// ParameterCase is a call with one required parameter left out, or with one
// parameter added that nobody defined.
type ParameterCase struct {
	Operation string
	Parameter string
	Response  jsonv.Value
	Request   jsonv.Value // the arguments sent; absent when not recorded
	Call      int         // number in the transcript of a live run; 0 when there is none
}

// DefaultCase is a call without an optional parameter that has a documented
// default, and where the default shows in the answer.
type DefaultCase struct {
	Operation string
	Parameter string
	Path      string // dot path into Response
	Expected  jsonv.Value
	Response  jsonv.Value
	Request   jsonv.Value
	Call      int
}

// ErrorCase is a call that was meant to fail.
type ErrorCase struct {
	Name        string
	MustMention []string
	Response    jsonv.Value
	Request     jsonv.Value
	Call        int
}

// FieldsCase is what was read back after a create or an update, and the
// values that had to be there.
type FieldsCase struct {
	Name         string
	Fields       []Field
	ReadResponse jsonv.Value
	Call         int
}

// Field is a value expected at a dot path.
type Field struct {
	Path  string
	Value jsonv.Value
}

// ConstraintCase is a call that breaks a constraint, and whether the
// introspection says that there is one.
type ConstraintCase struct {
	Name       string
	Documented bool
	Response   jsonv.Value
	Request    jsonv.Value
	Call       int
}

// SemanticCase is a model's answer to a question about the adapter.
type SemanticCase struct {
	Name         string
	Question     string // as it was put; "" when not recorded
	Facts        string // what is right, as the introspection has it; "" when not recorded
	ResponseText jsonv.Value
	ToolCalls    []ToolCall

	RequiredPatterns   []string
	PhraseGroups       [][]string
	ExpectedOperations []string
	ExpectedParameters []string

	// Judge is a recorded verdict that replaces the phrase groups under the
	// strict rules; nil when there is none.
	Judge *Judge
	// Unjudged says why a judge that was asked for gave no verdict. Under the
	// strict rules the case is then not decided.
	Unjudged string
}

// ToolCall is one call a model made.
type ToolCall struct {
	Operation string
	HasName   bool // whether the call names an operation at all
	Params    jsonv.Value
}

// Verdict is what a judge said of a model's answer.
type Verdict string

// The verdicts of a judge.
const (
	Understood    Verdict = "understood"
	NotUnderstood Verdict = "not_understood"
	Unsure        Verdict = "unsure"
)

// Judge is a recorded judgement of a semantic case (x_judge in a bundle).
type Judge struct {
	Kind    string
	Model   string
	Verdict Verdict
	Reason  string
	Rubric  string   // version of what the judge was told
	Votes   []string // the verdict of each vote
	Key     string   // of what was judged, empty for a program
}

// JSON returns the evidence as a bundle. Empty parts are left out.
func (e *Evidence) JSON() jsonv.Value {
	var b object
	b.text("implementation", e.Implementation)
	b.text("version", e.Version)
	b.text("spec_version", e.SpecVersion)
	if e.ExpectedLevel != 0 && e.ExpectedLevel != 1 {
		b.set("expected_level", jsonv.Int(int64(e.ExpectedLevel)))
	}
	if e.ExpectedExitCode != 0 {
		b.set("expected_exit_code", jsonv.Int(int64(e.ExpectedExitCode)))
	}
	b.text("expected_rules", string(e.ExpectedRules))
	b.set("introspection", e.introspectionJSON())
	var acc object
	for _, a := range e.Accepted {
		acc.set(a.Operation, textList(a.Parameters))
	}
	b.set("accepted_parameters", acc.value())
	var tests object
	tests.list("missing_required", each(e.MissingRequired, ParameterCase.json))
	tests.list("unknown_parameter", each(e.UnknownParameter, ParameterCase.json))
	tests.list("optional_defaults", each(e.OptionalDefaults, DefaultCase.json))
	b.set("parameter_tests", tests.value())
	b.list("error_tests", each(e.ErrorTests, ErrorCase.json))
	b.list("round_trip_tests", each(e.RoundTrips, func(c FieldsCase) jsonv.Value { return c.json("expected_fields") }))
	b.list("update_preservation_tests", each(e.Updates, func(c FieldsCase) jsonv.Value { return c.json("preserved_fields") }))
	b.set("endpoint_modes", textList(e.EndpointModes))
	var caps object
	caps.set("field_selection", jsonv.Bool(e.FieldSelection))
	caps.set("batch_operations", jsonv.Bool(e.BatchOperations))
	b.set("capabilities", caps.value())
	b.set("batch_example", e.BatchExample)
	b.list("constraint_tests", each(e.Constraints, ConstraintCase.json))
	b.list("semantic_tests", each(e.Semantics, SemanticCase.json))
	b.set("x_live", e.Live)
	return b.value()
}

func (e *Evidence) introspectionJSON() jsonv.Value {
	var b object
	b.set("operations_list", e.OperationsList)
	b.set("types_list", e.TypesList)
	b.list("operation_details", e.OperationDetails)
	return b.value()
}

func (c ParameterCase) json() jsonv.Value {
	var b object
	b.set("operation", jsonv.String(c.Operation))
	b.set("parameter", jsonv.String(c.Parameter))
	b.set("request", c.Request)
	b.set("response", c.Response)
	b.call(c.Call)
	return b.value()
}

func (c DefaultCase) json() jsonv.Value {
	var b object
	b.set("operation", jsonv.String(c.Operation))
	b.set("parameter", jsonv.String(c.Parameter))
	b.set("expected_value_path", jsonv.String(c.Path))
	b.set("expected_value", c.Expected)
	b.set("request", c.Request)
	b.set("response", c.Response)
	b.call(c.Call)
	return b.value()
}

func (c ErrorCase) json() jsonv.Value {
	var b object
	b.set("name", jsonv.String(c.Name))
	b.set("must_mention", textList(c.MustMention))
	b.set("request", c.Request)
	b.set("response", c.Response)
	b.call(c.Call)
	return b.value()
}

func (c FieldsCase) json(fields string) jsonv.Value {
	var b, f object
	for _, x := range c.Fields {
		f.set(x.Path, x.Value)
	}
	b.set("name", jsonv.String(c.Name))
	b.set(fields, f.value())
	b.set("read_response", c.ReadResponse)
	b.call(c.Call)
	return b.value()
}

func (c ConstraintCase) json() jsonv.Value {
	var b object
	b.set("name", jsonv.String(c.Name))
	b.set("documented", jsonv.Bool(c.Documented))
	b.set("request", c.Request)
	b.set("response", c.Response)
	b.call(c.Call)
	return b.value()
}

func (c SemanticCase) json() jsonv.Value {
	var b, structural, semantic object
	b.set("name", jsonv.String(c.Name))
	b.text("x_question", c.Question)
	b.text("x_facts", c.Facts)
	b.set("response_text", c.ResponseText)
	b.list("tool_calls", each(c.ToolCalls, func(t ToolCall) jsonv.Value {
		var o object
		if t.HasName {
			o.set("operation", jsonv.String(t.Operation))
		}
		o.set("params", t.Params)
		return o.value()
	}))
	structural.list("required_patterns", each(c.RequiredPatterns, jsonv.String))
	semantic.list("phrase_groups", each(c.PhraseGroups, textList))
	semantic.list("expected_operations", each(c.ExpectedOperations, jsonv.String))
	semantic.list("expected_parameters", each(c.ExpectedParameters, jsonv.String))
	b.set("structural", structural.value())
	b.set("semantic", semantic.value())
	if c.Judge != nil {
		var j object
		j.text("kind", c.Judge.Kind)
		j.text("model", c.Judge.Model)
		j.set("verdict", jsonv.String(string(c.Judge.Verdict)))
		j.text("reason", c.Judge.Reason)
		j.text("rubric", c.Judge.Rubric)
		if len(c.Judge.Votes) > 0 {
			j.set("votes", textList(c.Judge.Votes))
		}
		j.text("key", c.Judge.Key)
		b.set("x_judge", j.value())
	}
	b.text("x_unjudged", c.Unjudged)
	return b.value()
}

// object builds a JSON object member by member.
type object []jsonv.Member

func (o *object) set(key string, v jsonv.Value) {
	if !v.IsAbsent() {
		*o = append(*o, jsonv.Member{Key: key, Value: v})
	}
}

func (o *object) text(key, s string) {
	if s != "" {
		o.set(key, jsonv.String(s))
	}
}

func (o *object) call(n int) {
	if n > 0 {
		o.set("x_call", jsonv.Int(int64(n)))
	}
}

func (o *object) list(key string, vs []jsonv.Value) {
	if len(vs) > 0 {
		o.set(key, jsonv.Array(vs...))
	}
}

func (o *object) value() jsonv.Value { return jsonv.Object(*o...) }

func each[T any](in []T, f func(T) jsonv.Value) []jsonv.Value {
	out := make([]jsonv.Value, len(in))
	for i, x := range in {
		out[i] = f(x)
	}
	return out
}

func textList(in []string) jsonv.Value { return jsonv.Array(each(in, jsonv.String)...) }
