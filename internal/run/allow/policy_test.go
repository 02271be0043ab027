package allow_test

import (
	"strings"
	"testing"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/testkit"
	"mcptest/internal/run/allow"
)

// Who may be called, once and many times. A tool that declares to be read-only and
// destructive is destructive.
func TestPolicy(t *testing.T) {
	t.Parallel()
	for hints, want := range map[string]struct{ once, twice, many bool }{
		`{}`:                     {},
		`{"readOnlyHint": true}`: {once: true, twice: true, many: true},
		`{"readOnlyHint": false, "destructiveHint": false}`:   {},
		`{"readOnlyHint": true, "destructiveHint": false}`:    {once: true, twice: true, many: true},
		`{"readOnlyHint": true, "destructiveHint": true}`:     {},
		`{"destructiveHint": true}`:                           {},
		`named {}`:                                            {once: true, twice: true, many: true},
		`named {"readOnlyHint": true}`:                        {once: true, twice: true, many: true},
		`named {"readOnlyHint": true,"destructiveHint":true}`: {once: true},
		`named {"destructiveHint": true}`:                     {once: true},
	} {
		var p allow.Policy
		text, named := strings.CutPrefix(hints, "named ")
		if named {
			p.Named = []string{"a"}
		}
		annotations, err := jsonv.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		tool := jsonv.ObjectOf("name", "a", "annotations", annotations)
		testkit.Equal(t, hints+": many times", p.Repeats(tool) == "", want.many)
		testkit.Equal(t, hints+": once", p.Call(tool, jsonv.Object()) == "", want.once)
		testkit.Equal(t, hints+": twice", p.Call(tool, jsonv.Object()) == "", want.twice)
	}
}
