package aql_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
	"mcptest/internal/mcpaql/aql"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/rule"
	"mcptest/internal/mcpaql/verdict"
)

func lines(ds source.Diagnostics) (out []string) {
	for _, d := range ds {
		out = append(out, d.String())
	}
	return out
}

func read(bundle string) (*evidence.Evidence, source.Diagnostics) {
	return evidence.Read(&source.File{Name: "b.json", Data: []byte(bundle)})
}

func TestMistakesHaveLineColumnAndPointer(t *testing.T) {
	t.Parallel()
	for bundle, want := range map[string][]string{
		``:                {`b.json:1:1: error: not JSON: the file is empty`},
		`[]`:              {`b.json:1:1: error: a bundle is a JSON object, this is a list of 0`},
		"{\n \"a\": NaN}": {`b.json:2:7: error: not JSON: `},
		`{} {}`:           {`b.json:1:4: error: not JSON: `},
		"{\n  \"capabilities\": true,\n  \"endpoint_modes\": [\"crude\", 7]\n}": {
			`b.json:2:19: error: /capabilities: expected an object, got true`,
			`b.json:3:31: error: /endpoint_modes/1: expected a string, got a number (7)`,
		},
		`{"error_tests":[{"must_mention":null,"name":null}, null]}`: {
			`b.json:1:45: error: /error_tests/0/name: expected a string, got null`,
			`b.json:1:52: error: /error_tests/1: expected an object, got null`,
		},
		`{"parameter_tests":{"optional_defaults":[{}]}}`: {
			`b.json:1:42: error: /parameter_tests/optional_defaults/0: missing key "operation"`,
			`b.json:1:42: error: /parameter_tests/optional_defaults/0: missing key "parameter"`,
			`b.json:1:42: error: /parameter_tests/optional_defaults/0: missing key "expected_value_path"`,
		},
		`{"accepted_parameters":{"a/b":[["c"]]},"expected_level":1.5}`: {
			`b.json:1:32: error: /accepted_parameters/a~1b/0: expected a string, got a list of 1`,
			`b.json:1:57: error: /expected_level: expected a whole number, got a number (1.5)`,
		},
		`{"semantic_tests":[{"name":"n","x_judge":{"verdict":"maybe"}}]}`: {
			`b.json:1:53: error: /semantic_tests/0/x_judge/verdict: expected understood, not_understood or unsure, got "maybe"`,
		},
		"{\"x_live\":{\"tests\":5,\n\"skipped\":\"x\"}}": {
			`b.json:1:20: error: /x_live/tests: expected a list, got a number (5)`,
			`b.json:2:11: error: /x_live/skipped: expected a list, got a string ("x")`,
		},
		"{\"x_live\":{\"tests\":[null,5,{\"cases\":\"1\",\"findings\":[7,{\"rule\":1}]}],\n\"ended\":1,\"untested\":[1],\"cut_short\":{\"a\":2},\"policy\":3,\"transcript\":[\"x\"]}}": {
			`b.json:1:21: error: /x_live/tests/0: expected an object, got null`,
			`b.json:1:26: error: /x_live/tests/1: expected an object, got a number (5)`,
			`b.json:1:28: error: /x_live/tests/2: missing key "id"`,
			`b.json:1:37: error: /x_live/tests/2/cases: expected a number, got a string ("1")`,
			`b.json:1:53: error: /x_live/tests/2/findings/0: expected an object, got a number (7)`,
			`b.json:1:55: error: /x_live/tests/2/findings/1: missing key "says"`,
			`b.json:1:63: error: /x_live/tests/2/findings/1/rule: expected a string, got a number (1)`,
			`b.json:2:9: error: /x_live/ended: expected a string, got a number (1)`,
			`b.json:2:23: error: /x_live/untested/0: expected an object, got a number (1)`,
			`b.json:2:43: error: /x_live/cut_short/a: expected a string, got a number (2)`,
			`b.json:2:55: error: /x_live/policy: expected an object, got a number (3)`,
			`b.json:2:71: error: /x_live/transcript/0: expected an object, got a string ("x")`,
		},
		`{"x_live":{"tests":[{"id":"acuracy","findings":[{"rule":"leaks.path","says":"x"}]}]}}`: {
			`b.json:1:27: warning: /x_live/tests/0/id: no row of a live report is called "acuracy": the entry is ignored`,
			`b.json:1:57: warning: /x_live/tests/0/findings/0/rule: "leaks.path" is not a rule of this row: the entry is ignored`,
		},
		`{"x_live":{"policy":"safe","tests":[]}}`: nil,
		`{"error_test":[]}`:                       {`b.json:1:15: warning: /error_test: unknown key "error_test" (did you mean "error_tests"?)`},
		`{"version":1,"version":"2"}`:             {`b.json:1:14: warning: /version: duplicate key`},
	} {
		_, ds := read(bundle)
		got := lines(ds)
		if len(got) != len(want) {
			t.Errorf("%s:\n got %q\nwant %q", bundle, got, want)
			continue
		}
		for i := range want {
			if !strings.HasPrefix(got[i], want[i]) {
				t.Errorf("%s:\n got %q\nwant %q", bundle, got[i], want[i])
			}
		}
	}
}

// A bundle with thirty mistakes of all kinds tells thirty places, each once.
func TestThirtyMistakes(t *testing.T) {
	t.Parallel()
	_, ds := read(`{
  "implementation": 1, "version": [], "spec_version": {}, "expected_level": "2", "expected_exit_code": false,
  "introspection": {"operation_details": {}},
  "accepted_parameters": {"a": "x", "b": [1, null]},
  "parameter_tests": {
    "missing_required": [null, {"parameter": "p"}, {"operation": 1, "parameter": "p"}],
    "unknown_parameter": "all",
    "optional_defaults": [{"operation": "o", "parameter": 2, "expected_value_path": 3}]
  },
  "error_tests": [{"must_mention": "x", "name": "n"}, {"name": 4}, 5],
  "round_trip_tests": [{"name": "r", "expected_fields": []}],
  "update_preservation_tests": {"name": "u"},
  "endpoint_modes": "single",
  "capabilities": {"field_selection": 1, "batch_operations": "yes"},
  "constraint_tests": [{"name": "c", "documented": 0}, {"documented": true}],
  "semantic_tests": [
    {"name": "s", "tool_calls": [{"operation": 1}], "structural": [], "semantic": {"phrase_groups": [["a", 1], "b"], "expected_operations": [0]}},
    {"name": "t", "x_judge": null}
  ]
}`)
	seen := map[string]bool{}
	for _, d := range ds {
		if d.Severity != source.Error || d.Pos.Line == 0 || d.Pos.Col == 0 || d.Path == "" {
			t.Errorf("not findable: %s", d)
		}
		if at := fmt.Sprint(d.Pos, d.Path); seen[at] {
			t.Errorf("reported twice: %s", d)
		} else {
			seen[at] = true
		}
	}
	if len(ds) != 30 {
		t.Errorf("%d problems, want 30:\n%s", len(ds), strings.Join(lines(ds), "\n"))
	}
}

func TestPayloadsMayBeAnything(t *testing.T) {
	t.Parallel()
	for _, v := range []string{`null`, `true`, `7`, `"x"`, `[]`, `[null]`, `{}`, `{"success":1}`} {
		bundle := strings.ReplaceAll(`{
  "introspection": {"operations_list": V, "types_list": V, "operation_details": [V, {"name": V, "parameters": V}, {"parameters": [V, {"name": V, "required": V}]}]},
  "parameter_tests": {
    "missing_required": [{"operation": "o", "parameter": "p", "response": V}],
    "unknown_parameter": [{"operation": "o", "parameter": "p", "response": V}],
    "optional_defaults": [{"operation": "o", "parameter": "p", "expected_value_path": "a.b", "expected_value": V, "response": V}]},
  "error_tests": [{"name": "e", "must_mention": ["x"], "response": V}, {"name": "f", "response": {"success": false, "error": V}}],
  "round_trip_tests": [{"name": "r", "expected_fields": {"a": V}, "read_response": V}],
  "update_preservation_tests": [{"name": "r", "preserved_fields": {"a": V}, "read_response": V}],
  "batch_example": V,
  "constraint_tests": [{"name": "c", "response": V}],
  "semantic_tests": [{"name": "s", "response_text": V, "tool_calls": [{"params": V}], "semantic": {"expected_parameters": ["p"]}}]
}`, "V", v)
		e, ds := read(bundle)
		if ds.HasErrors() {
			t.Errorf("%s: %s", v, ds.Error())
		}
		for _, set := range []rule.Set{rule.Reference, rule.Strict} {
			if r := aql.Evaluate(e, aql.Options{Level: 2, Rules: set}); r.ExitCode != verdict.ExitFailed {
				t.Errorf("%s under %s: exit %d", v, set, r.ExitCode)
			}
		}
	}
}

func TestByteOrderMarkAndNullMembers(t *testing.T) {
	t.Parallel()
	e, ds := read("\ufeff" + `{"implementation":"x","endpoint_modes":null,"capabilities":null,"error_tests":null,"introspection":null}`)
	if len(ds) > 0 || e.Implementation != "x" {
		t.Errorf("got %q, %v", e.Implementation, lines(ds))
	}
	_, ds = read("\ufeff" + `{"version":1}`)
	if want := []string{`b.json:1:12: error: /version: expected a string, got a number (1)`}; !cmp.Equal(lines(ds), want) {
		t.Error(lines(ds))
	}
}

// Of a key written twice the last value counts and nothing is merged; half a
// surrogate pair is not the same as another half.
func TestOddTextsSurvive(t *testing.T) {
	t.Parallel()
	e, _ := read(`{"accepted_parameters":{"a":["x"],"b":[],"a":["y"]},
	  "round_trip_tests":[{"name":"\ud800","expected_fields":{"data.x":"\ud800"},"read_response":{"success":true,"data":{"x":"\ud801"}}}]}`)
	if want := []evidence.Accepted{{Operation: "a", Parameters: []string{"y"}}, {Operation: "b"}}; !cmp.Equal(e.Accepted, want) {
		t.Error(cmp.Diff(want, e.Accepted))
	}
	r := aql.Evaluate(e, aql.Options{})
	if rows(r)["Round-Trip Integrity / Create-read cycles preserve submitted fields"] != verdict.Failed {
		t.Error("two different halves of surrogate pairs count as equal")
	}
	if _, err := jsonv.Parse(r.FormatJSON()); err != nil {
		t.Error(err)
	}
}

func TestEvidenceBecomesABundleAgain(t *testing.T) {
	t.Parallel()
	for _, f := range allFixtures(t) {
		e := readBundle(t, f.Name, f.Data)
		again := readBundle(t, f.Name, e.JSON().Append(nil))
		o := aql.Options{Level: 2, Rules: f.Rules}
		if want, got := rows(aql.Evaluate(e, o)), rows(aql.Evaluate(again, o)); !cmp.Equal(want, got) {
			t.Errorf("%s: %s", f.Name, cmp.Diff(want, got))
		}
	}
}
