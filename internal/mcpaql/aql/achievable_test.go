package aql_test

import (
	"strings"
	"testing"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/live/guard"
	"mcptest/internal/mcpaql/verdict"
)

// A level can be achieved by adapters that have less than others: what
// introspection shows not to apply is not asked for, and what is missing is
// named with the way to provide it.
func TestLevelOneIsAchievable(t *testing.T) {
	t.Parallel()
	const dated = `[{"name":"Book","kind":"object","fields":[{"name":"id","type":"string","required":true},{"name":"created_at","type":"string","required":true}]}]`
	withDates := shelf()
	withDates.types = dated
	defaults := notes(nil)
	for i, op := range defaults.ops {
		if op.name != "create_note" {
			continue
		}
		defaults.ops[i].params = `[{"name":"title","type":"string","required":true,"description":"Its title."},{"name":"body","type":"string","required":false,"default":"(empty)","description":"Its text."}]`
		defaults.ops[i].run = func(params jsonv.Value) string {
			if params.Lookup("body").IsAbsent() {
				params = params.With("body", jsonv.String("(empty)"))
			}
			return op.run(params)
		}
	}
	unseen := shelf()
	unseen.ops = append(unseen.ops, smallOp{"count_books", "READ", `[{"name":"unit","type":"string","required":false,"default":"one","description":"A unit."}]`, data(`{"count":2}`)})
	for name, c := range map[string]struct {
		s         small
		mode      string
		exit      int
		notProved []string
	}{
		"only reads, in mode safe":       {shelf(), guard.ModeSafe, 0, nil},
		"only reads, in mode write":      {shelf(), guard.ModeWrite, 0, nil},
		"no timestamps":                  {notes(nil), guard.ModeWrite, 0, nil},
		"a default of a create":          {defaults, guard.ModeWrite, 0, nil},
		"creates, in mode safe":          {notes(nil), guard.ModeSafe, 2, []string{"Create-read cycles preserve submitted fields (mode safe creates nothing; --mode write does", "Updates preserve non-targeted fields (mode safe updates nothing"}},
		"a documented date in no answer": {withDates, guard.ModeSafe, 2, []string{"Dates in answers follow ISO 8601 (no response contained created_at, which introspection documents", "--values"}},
		"a default that shows nowhere":   {unseen, guard.ModeSafe, 2, []string{"Documented defaults are observable (count_books unit:", "--values"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := c.s.look(t, guard.Options{Mode: c.mode})
			if r.ExitCode != c.exit || (r.ConformanceLevel == 1) != (c.exit == 0) {
				t.Errorf("exit %d, level %d\n%s", r.ExitCode, r.ConformanceLevel, r.FormatText())
			}
			for _, want := range c.notProved {
				if !strings.Contains(r.DescribeUnproved(), want) {
					t.Errorf("not proved: %s", r.DescribeUnproved())
				}
			}
		})
	}
}

// Seconds since 1970 are no date of ISO 8601.
func TestEpochNumbersAreNotDates(t *testing.T) {
	t.Parallel()
	for created, want := range map[string]verdict.Result{`1767225600`: verdict.Failed, `1767225600000`: verdict.Failed, `"2026-01-01T00:00:00Z"`: verdict.Pass, `17`: verdict.Skipped} {
		s := shelf()
		s.ops = append(s.ops, smallOp{"get_state", "READ", `[]`, data(`{"created_at":` + created + `}`)})
		if row := rowsByID(s.look(t, guard.Options{}))["dates"]; row.Result != want {
			t.Errorf("%s: %s: %s", created, row.Result, row.Detail)
		}
	}
}
