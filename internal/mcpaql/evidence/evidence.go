package evidence

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
	"mcptest/internal/mcpaql/rule"
)

// Evidence is everything that a verdict is based on. It mirrors the bundle format of
// the MCP-AQL conformance testing document, and may be read from a file
// (ReadEvidence) or built in code. Fields of type jsonv.Value are payloads:
// unmodified answers of any shape, absent when there was none.
type Evidence struct {
	// File is the bundle that the evidence was read from, nil when it was
	// built in code. With it, findings carry a line and a column.
	File *source.File

	Implementation string `member:"implementation,omitempty"`
	Version        string `member:"version,omitempty"`
	SpecVersion    string `member:"spec_version,omitempty"`

	// ExpectedLevel and ExpectedExitCode are the values that verify-fixtures compares
	// with: level 1 and exit code 0 unless the bundle sets others.
	ExpectedLevel    int      `member:"expected_level,omitempty"`
	ExpectedExitCode int      `member:"expected_exit_code,omitempty"`
	ExpectedRules    rule.Set `member:"expected_rules,omitempty"` // "" if the bundle does not set it

	OperationsList   jsonv.Value   `member:"introspection.operations_list"`             // the whole answer to introspect {query: operations}
	TypesList        jsonv.Value   `member:"introspection.types_list"`                  // the whole answer to introspect {query: types}
	OperationDetails []jsonv.Value `member:"introspection.operation_details,omitempty"` // data.operation of each introspect {query: operations, name}

	// Accepted lists, in the bundle's order, the parameters that each operation
	// accepted.
	Accepted []Accepted `member:"accepted_parameters"`

	MissingRequired  []ParameterCase  `member:"parameter_tests.missing_required,omitempty"`
	UnknownParameter []ParameterCase  `member:"parameter_tests.unknown_parameter,omitempty"`
	OptionalDefaults []DefaultCase    `member:"parameter_tests.optional_defaults,omitempty"`
	ErrorTests       []ErrorCase      `member:"error_tests,omitempty"`
	RoundTrips       []FieldsCase     `member:"round_trip_tests,omitempty,$=expected_fields"`
	Updates          []FieldsCase     `member:"update_preservation_tests,omitempty,$=preserved_fields"`
	EndpointModes    []string         `member:"endpoint_modes"`
	FieldSelection   bool             `member:"capabilities.field_selection"`
	BatchOperations  bool             `member:"capabilities.batch_operations"`
	BatchExample     jsonv.Value      `member:"batch_example"`
	Constraints      []ConstraintCase `member:"constraint_tests,omitempty"`
	Semantics        []SemanticCase   `member:"semantic_tests,omitempty"`

	// Live is the bundle's x_live object, which only live runs write.
	Live jsonv.Value `member:"x_live"`
}

// Accepted is one entry of accepted_parameters.
type Accepted struct {
	Operation  string `member:"*"`
	Parameters []string
}

// ParameterCase is a call with one required parameter omitted, or with one undefined
// parameter added.
type ParameterCase struct {
	Operation string      `member:"operation,need"`
	Parameter string      `member:"parameter,need"`
	Request   jsonv.Value `member:"request"` // the arguments sent; absent when not recorded
	Response  jsonv.Value `member:"response"`
	Call      int         `member:"x_call,omitempty"` // number in the transcript of a live run; 0 when there is none
}

// DefaultCase is a call without an optional parameter that has a documented default,
// and the path at which the default appears in the answer.
type DefaultCase struct {
	Operation string      `member:"operation,need"`
	Parameter string      `member:"parameter,need"`
	Path      string      `member:"expected_value_path,need"` // dot path into Response
	Expected  jsonv.Value `member:"expected_value"`
	Request   jsonv.Value `member:"request"`
	Response  jsonv.Value `member:"response"`
	Call      int         `member:"x_call,omitempty"`
}

// ErrorCase is a call that is expected to fail.
type ErrorCase struct {
	Name        string      `member:"name,need"`
	MustMention []string    `member:"must_mention"`
	Request     jsonv.Value `member:"request"`
	Response    jsonv.Value `member:"response"`
	Call        int         `member:"x_call,omitempty"`
}

// FieldsCase holds the data read back after a create or an update, and the values
// expected in it.
type FieldsCase struct {
	Name         string      `member:"name,need"`
	Fields       []Field     `member:"$"`
	ReadResponse jsonv.Value `member:"read_response"`
	Call         int         `member:"x_call,omitempty"`
}

// Field is a value expected at a dot path.
type Field struct {
	Path  string `member:"*"`
	Value jsonv.Value
}

// ConstraintCase is a call that breaks a constraint, and whether the introspection
// documents the constraint.
type ConstraintCase struct {
	Name       string      `member:"name,need"`
	Documented bool        `member:"documented"`
	Request    jsonv.Value `member:"request"`
	Response   jsonv.Value `member:"response"`
	Call       int         `member:"x_call,omitempty"`
}

// SemanticCase is a model's answer to a question about the adapter.
type SemanticCase struct {
	Name         string      `member:"name,need"`
	Question     string      `member:"x_question,omitempty"` // as it was asked; "" if not recorded
	Facts        string      `member:"x_facts,omitempty"`    // the correct answer according to the introspection; "" if not recorded
	ResponseText jsonv.Value `member:"response_text"`
	ToolCalls    []ToolCall  `member:"tool_calls,omitempty"`

	RequiredPatterns   []string   `member:"structural.required_patterns,omitempty"`
	PhraseGroups       [][]string `member:"semantic.phrase_groups,omitempty"`
	ExpectedOperations []string   `member:"semantic.expected_operations,omitempty"`
	ExpectedParameters []string   `member:"semantic.expected_parameters,omitempty"`

	// Judge is a recorded verdict that replaces the phrase groups under the
	// strict rules; nil when there is none.
	Judge *Judge `member:"x_judge"`
	// Unjudged is the reason why a requested judge gave no verdict. Under the strict
	// rules the case is then undecided.
	Unjudged string `member:"x_unjudged,omitempty"`
}

// ToolCall is one call a model made.
type ToolCall struct {
	Operation jsonv.Value `member:"operation,text"` // a text; absent if the tool has no operations
	Params    jsonv.Value `member:"params"`
}

// Judge is a recorded judgement of a semantic case (x_judge in a bundle).
type Judge struct {
	Kind    string   `member:"kind,omitempty"`
	Model   string   `member:"model,omitempty"`
	Verdict string   `member:"verdict,need,oneof=understood|not_understood|unsure"`
	Reason  string   `member:"reason,omitempty"`
	Rubric  string   `member:"rubric,omitempty"` // version of the judge's instructions
	Votes   []string `member:"votes,omitempty"`  // the verdict of each vote
	Key     string   `member:"key,omitempty"`    // of the judged content, empty for a program
}

// JSON returns the evidence as a bundle. Empty parts are left out.
func (e *Evidence) JSON() jsonv.Value {
	v := Encode(*e)
	if e.ExpectedLevel == rule.LevelOne {
		return v.Without("expected_level")
	}
	return v
}

// NotShown is why the default of a parameter of a create was not tested. No value helps.
const NotShown = "the created item does not show it"

// IsLive reports whether evidence was collected by a live run of this program.
func (e *Evidence) IsLive() bool { return e.Live.Lookup("tests").Kind() == jsonv.KindArray }

// ProbeName is the parameter that no adapter has.
const ProbeName = "zz_conformance_probe"

// DefaultEquivalent is the path where a live run records that an answer is the same
// with and without the documented default.
const DefaultEquivalent = Additions + ".default_equivalent"

// Additions is the member of an answer in which a live run adds what it found out about
// it: whether a default applies, or (data) the parsed JSON of a wrapped text.
const Additions = "_conformance"

// IsComparable reports whether a field belongs to the data that was read, not to the
// envelope around it.
func (f Field) IsComparable() bool {
	return f.Path == "data" || strings.HasPrefix(strings.TrimPrefix(f.Path, Additions+"."), "data.")
}

// Name returns the name of a judge.
func (j *Judge) Name() string {
	s := cmp.Or(strings.TrimSpace(j.Kind+" "+display.Truncate(j.Model, 100)), "somebody unnamed")
	if n := len(j.Votes); n > 1 {
		s += fmt.Sprintf(" (%d votes)", n)
	}
	return s
}

// ListKeys lists a set in order.
func ListKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
