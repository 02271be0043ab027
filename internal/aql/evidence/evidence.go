package evidence

import (
	"fmt"
	"strings"

	"mcptest/internal/aql/rule"
	"mcptest/internal/display"
	"mcptest/internal/jsonv"
	"mcptest/internal/source"
)

// Evidence is everything that a verdict is based on. It mirrors the bundle format of
// the MCP-AQL conformance testing document, and may be read from a file
// (ReadEvidence) or built in code. Fields of type jsonv.Value are payloads:
// unmodified answers of any shape, absent when there was none.
type Evidence struct {
	// File is the bundle that the evidence was read from, nil when it was
	// built in code. With it, findings carry a line and a column.
	File *source.File

	Implementation string
	Version        string
	SpecVersion    string

	// ExpectedLevel and ExpectedExitCode are the values that verify-fixtures compares
	// with: level 1 and exit code 0 unless the bundle sets others.
	ExpectedLevel    int
	ExpectedExitCode int
	ExpectedRules    rule.Set // "" if the bundle does not set it

	EndpointModes   []string
	FieldSelection  bool
	BatchOperations bool

	OperationsList   jsonv.Value   // the whole answer to introspect {query: operations}
	TypesList        jsonv.Value   // the whole answer to introspect {query: types}
	OperationDetails []jsonv.Value // data.operation of each introspect {query: operations, name}

	// Accepted lists, in the bundle's order, the parameters that each operation
	// accepted.
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

// ParameterCase is a call with one required parameter omitted, or with one undefined
// parameter added.
type ParameterCase struct {
	Operation string
	Parameter string
	Response  jsonv.Value
	Request   jsonv.Value // the arguments sent; absent when not recorded
	Call      int         // number in the transcript of a live run; 0 when there is none
}

// DefaultCase is a call without an optional parameter that has a documented default,
// and the path at which the default appears in the answer.
type DefaultCase struct {
	Operation string
	Parameter string
	Path      string // dot path into Response
	Expected  jsonv.Value
	Response  jsonv.Value
	Request   jsonv.Value
	Call      int
}

// ErrorCase is a call that is expected to fail.
type ErrorCase struct {
	Name        string
	MustMention []string
	Response    jsonv.Value
	Request     jsonv.Value
	Call        int
}

// FieldsCase holds the data read back after a create or an update, and the values
// expected in it.
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

// ConstraintCase is a call that breaks a constraint, and whether the introspection
// documents the constraint.
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
	Question     string // as it was asked; "" if not recorded
	Facts        string // the correct answer according to the introspection; "" if not recorded
	ResponseText jsonv.Value
	ToolCalls    []ToolCall

	RequiredPatterns   []string
	PhraseGroups       [][]string
	ExpectedOperations []string
	ExpectedParameters []string

	// Judge is a recorded verdict that replaces the phrase groups under the
	// strict rules; nil when there is none.
	Judge *Judge
	// Unjudged is the reason why a requested judge gave no verdict. Under the strict
	// rules the case is then undecided.
	Unjudged string
}

// ToolCall is one call a model made.
type ToolCall struct {
	Operation string
	HasName   bool // whether the call names an operation
	Params    jsonv.Value
}

// Verdict is a judge's verdict on a model's answer.
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
	Rubric  string   // version of the judge's instructions
	Votes   []string // the verdict of each vote
	Key     string   // of the judged content, empty for a program
}

// JSON returns the evidence as a bundle. Empty parts are left out.
func (e *Evidence) JSON() jsonv.Value {
	var b Object
	b.Text("implementation", e.Implementation)
	b.Text("version", e.Version)
	b.Text("spec_version", e.SpecVersion)
	if e.ExpectedLevel != 0 && e.ExpectedLevel != 1 {
		b.Set("expected_level", jsonv.Int(int64(e.ExpectedLevel)))
	}
	if e.ExpectedExitCode != 0 {
		b.Set("expected_exit_code", jsonv.Int(int64(e.ExpectedExitCode)))
	}
	b.Text("expected_rules", string(e.ExpectedRules))
	b.Set("introspection", e.introspectionJSON())
	var acc Object
	for _, a := range e.Accepted {
		acc.Set(a.Operation, TextList(a.Parameters))
	}
	b.Set("accepted_parameters", acc.Value())
	var tests Object
	tests.List("missing_required", Each(e.MissingRequired, ParameterCase.json))
	tests.List("unknown_parameter", Each(e.UnknownParameter, ParameterCase.json))
	tests.List("optional_defaults", Each(e.OptionalDefaults, DefaultCase.json))
	b.Set("parameter_tests", tests.Value())
	b.List("error_tests", Each(e.ErrorTests, ErrorCase.json))
	b.List("round_trip_tests", Each(e.RoundTrips, func(c FieldsCase) jsonv.Value { return c.json("expected_fields") }))
	b.List("update_preservation_tests", Each(e.Updates, func(c FieldsCase) jsonv.Value { return c.json("preserved_fields") }))
	b.Set("endpoint_modes", TextList(e.EndpointModes))
	var caps Object
	caps.Set("field_selection", jsonv.Bool(e.FieldSelection))
	caps.Set("batch_operations", jsonv.Bool(e.BatchOperations))
	b.Set("capabilities", caps.Value())
	b.Set("batch_example", e.BatchExample)
	b.List("constraint_tests", Each(e.Constraints, ConstraintCase.json))
	b.List("semantic_tests", Each(e.Semantics, SemanticCase.JSON))
	b.Set("x_live", e.Live)
	return b.Value()
}

func (e *Evidence) introspectionJSON() jsonv.Value {
	var b Object
	b.Set("operations_list", e.OperationsList)
	b.Set("types_list", e.TypesList)
	b.List("operation_details", e.OperationDetails)
	return b.Value()
}

func (c ParameterCase) json() jsonv.Value {
	var b Object
	b.Set("operation", jsonv.String(c.Operation))
	b.Set("parameter", jsonv.String(c.Parameter))
	b.Set("request", c.Request)
	b.Set("response", c.Response)
	b.call(c.Call)
	return b.Value()
}

func (c DefaultCase) json() jsonv.Value {
	var b Object
	b.Set("operation", jsonv.String(c.Operation))
	b.Set("parameter", jsonv.String(c.Parameter))
	b.Set("expected_value_path", jsonv.String(c.Path))
	b.Set("expected_value", c.Expected)
	b.Set("request", c.Request)
	b.Set("response", c.Response)
	b.call(c.Call)
	return b.Value()
}

func (c ErrorCase) json() jsonv.Value {
	var b Object
	b.Set("name", jsonv.String(c.Name))
	b.Set("must_mention", TextList(c.MustMention))
	b.Set("request", c.Request)
	b.Set("response", c.Response)
	b.call(c.Call)
	return b.Value()
}

func (c FieldsCase) json(fields string) jsonv.Value {
	var b, f Object
	for _, x := range c.Fields {
		f.Set(x.Path, x.Value)
	}
	b.Set("name", jsonv.String(c.Name))
	b.Set(fields, f.Value())
	b.Set("read_response", c.ReadResponse)
	b.call(c.Call)
	return b.Value()
}

func (c ConstraintCase) json() jsonv.Value {
	var b Object
	b.Set("name", jsonv.String(c.Name))
	b.Set("documented", jsonv.Bool(c.Documented))
	b.Set("request", c.Request)
	b.Set("response", c.Response)
	b.call(c.Call)
	return b.Value()
}

// JSON returns the case in the bundle's format.
func (c SemanticCase) JSON() jsonv.Value {
	var b, structural, semantic Object
	b.Set("name", jsonv.String(c.Name))
	b.Text("x_question", c.Question)
	b.Text("x_facts", c.Facts)
	b.Set("response_text", c.ResponseText)
	b.List("tool_calls", Each(c.ToolCalls, func(t ToolCall) jsonv.Value {
		var o Object
		if t.HasName {
			o.Set("operation", jsonv.String(t.Operation))
		}
		o.Set("params", t.Params)
		return o.Value()
	}))
	structural.List("required_patterns", Each(c.RequiredPatterns, jsonv.String))
	semantic.List("phrase_groups", Each(c.PhraseGroups, TextList))
	semantic.List("expected_operations", Each(c.ExpectedOperations, jsonv.String))
	semantic.List("expected_parameters", Each(c.ExpectedParameters, jsonv.String))
	b.Set("structural", structural.Value())
	b.Set("semantic", semantic.Value())
	if c.Judge != nil {
		var j Object
		j.Text("kind", c.Judge.Kind)
		j.Text("model", c.Judge.Model)
		j.Set("verdict", jsonv.String(string(c.Judge.Verdict)))
		j.Text("reason", c.Judge.Reason)
		j.Text("rubric", c.Judge.Rubric)
		if len(c.Judge.Votes) > 0 {
			j.Set("votes", TextList(c.Judge.Votes))
		}
		j.Text("key", c.Judge.Key)
		b.Set("x_judge", j.Value())
	}
	b.Text("x_unjudged", c.Unjudged)
	return b.Value()
}

// Object builds a JSON object member by member.
type Object []jsonv.Member

// Set adds a member unless its value is absent.
func (o *Object) Set(key string, v jsonv.Value) {
	if !v.IsAbsent() {
		*o = append(*o, jsonv.Member{Key: key, Value: v})
	}
}

// Text adds a text unless it is empty.
func (o *Object) Text(key, s string) {
	if s != "" {
		o.Set(key, jsonv.String(s))
	}
}

func (o *Object) call(n int) {
	if n > 0 {
		o.Set("x_call", jsonv.Int(int64(n)))
	}
}

// List adds a list unless it is empty.
func (o *Object) List(key string, vs []jsonv.Value) {
	if len(vs) > 0 {
		o.Set(key, jsonv.Array(vs...))
	}
}

// Value returns the object.
func (o *Object) Value() jsonv.Value { return jsonv.Object(*o...) }

// Each applies f to every element.
func Each[T any](in []T, f func(T) jsonv.Value) []jsonv.Value {
	out := make([]jsonv.Value, len(in))
	for i, x := range in {
		out[i] = f(x)
	}
	return out
}

// TextList returns texts as a JSON list.
func TextList(in []string) jsonv.Value { return jsonv.Array(Each(in, jsonv.String)...) }

// TextMember returns a member whose value is a text.
func TextMember(k, v string) jsonv.Member { return jsonv.Member{Key: k, Value: jsonv.String(v)} }

// IsLive reports whether evidence was collected by a live run of this program.
func (e *Evidence) IsLive() bool { return e.Live.Lookup("tests").Kind() == jsonv.KindArray }

// ProbeName is the parameter that no adapter has.
const ProbeName = "zz_conformance_probe"

// DefaultEquivalent is the path where a live run records that an answer is the same
// with and without the documented default.
const DefaultEquivalent = "_conformance.default_equivalent"

// Comparable reports whether a field belongs to the data that was read, not to the
// envelope around it.
func (f Field) Comparable() bool { return f.Path == "data" || strings.HasPrefix(f.Path, "data.") }

// By returns the name of a judge.
func (j *Judge) By() string {
	s := strings.TrimSpace(j.Kind + " " + display.Truncate(j.Model, 100))
	if s == "" {
		s = "somebody unnamed"
	}
	if n := len(j.Votes); n > 1 {
		s += fmt.Sprintf(" (%d votes)", n)
	}
	return s
}
