package aql

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/reference"
	"mcptest/internal/mcpaql/rule"
)

func (x *evaluation) createRead() {
	x.checkFields("create-read", "round_trip_tests", x.e.RoundTrips)
	x.noteOmitted()
	x.explainMissing("CREATE", "creates")
}

func (x *evaluation) update() {
	x.checkFields("update", "update_preservation_tests", x.e.Updates)
	x.explainMissing("UPDATE", "updates")
}

// explainMissing explains why a row of round trips has no case: no operation is of the
// category, or the run could not call it.
func (x *evaluation) explainMissing(category, does string) {
	if x.cases > 0 || x.set == rule.Reference || !x.e.IsLive() {
		return // a bundle may list only a part of the operations
	}
	var ops []string
	for op := range listOperations(x.e) {
		if strings.EqualFold(cmp.Or(op.Lookup("semantic_category").Text(), op.Lookup("endpoint").Text()), category) {
			ops = append(ops, op.Lookup("name").Text())
		}
	}
	switch {
	case len(x.listed) > 0 && len(ops) == 0:
		x.notApplicable = "there is no " + category + " operation"
	case wasCollectedSafely(x.e.Live):
		x.incomplete = "mode safe " + does + " nothing; --mode write does"
	default:
		x.incomplete = x.describeObstacles(ops)
	}
}

// checkFields compares the data read back with the expected values.
func (x *evaluation) checkFields(rules, key string, cases []evidence.FieldsCase) {
	x.incomplete = key + " contains no fields to compare"
	compared := 0
	for i, c := range cases {
		counts := func(f evidence.Field) bool { return f.IsComparable() || x.set == rule.Reference }
		if slices.ContainsFunc(c.Fields, counts) {
			x.cases++
		}
		at := placeOf(key).elem(i).member("read_response")
		if !x.shows(c.ReadResponse) {
			x.fail(rules+".read", at, c.ReadResponse, "the read of %s did not succeed", evidence.Quote(c.Name))
			if x.set == rule.Strict {
				continue // there is nothing to compare
			}
		}
		for _, f := range c.Fields {
			compared++
			got := reference.Walk(c.ReadResponse, f.Path)
			says := func() string {
				want, path := evidence.FormatBrief(f.Value), evidence.Quote(f.Path)
				return fmt.Sprintf("%s: at %s expected %s, got %s", c.Name, path, want, evidence.FormatBrief(got))
			}
			if x.set == rule.Reference && (got.IsAbsent() || reference.Stringify(got) != reference.Stringify(f.Value)) {
				x.fail(rules+".kept", at, c.ReadResponse, "%s", says())
			}
			if x.set == rule.Strict && (got.IsAbsent() || !jsonv.Equal(got, f.Value)) {
				x.fail(rules+".equal", at, c.ReadResponse, "%s", says())
			}
		}
	}
	x.observed = display.Count(compared, "field") + " compared, all kept."
}
