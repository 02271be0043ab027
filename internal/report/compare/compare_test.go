package compare_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"mcptest/internal/report/compare"
	"mcptest/internal/report/render"
	"mcptest/internal/report/result"
)

func TestCompare(t *testing.T) {
	run := func(cases ...*result.Case) *result.Run {
		for i, c := range cases {
			c.Index, c.File = i, "s.yaml"
		}
		return &result.Run{Schema: result.Schema, Cases: result.NewStored(cases...)}
	}
	stray := []result.Violation{{Kind: "stray-output"}}
	before := run(
		&result.Case{Name: "breaks", Status: result.Pass}, &result.Case{Name: "fixed", Status: result.Error}, &result.Case{Name: "bad", Status: result.Fail},
		&result.Case{Name: "noisy", Status: result.Fail}, &result.Case{Name: "known", Status: result.Error, Violations: stray},
		&result.Case{Name: "slow", Status: result.Pass, DurationMS: 100}, &result.Case{Name: "a bit", Status: result.Pass, DurationMS: 1}, &result.Case{Name: "quick", Status: result.Pass, DurationMS: 300},
		&result.Case{Name: "scored", Status: result.Pass, Score: new(0.9)}, &result.Case{Name: "gone", Status: result.Pass}, &result.Case{Name: "left out", Status: result.Pass},
		&result.Case{Name: "twin", Status: result.Pass}, &result.Case{Name: "twin", Status: result.Fail},
	)
	after := run(
		&result.Case{Name: "breaks", Status: result.Fail, Message: "want \x1b[31m1"}, &result.Case{Name: "fixed", Status: result.Pass}, &result.Case{Name: "bad", Status: result.Error},
		&result.Case{Name: "noisy", Status: result.Fail, Violations: stray}, &result.Case{Name: "known", Status: result.Fail, Violations: stray},
		&result.Case{Name: "slow", Status: result.Pass, DurationMS: 200}, &result.Case{Name: "a bit", Status: result.Pass, DurationMS: 30}, &result.Case{Name: "quick", Status: result.Pass, DurationMS: 30},
		&result.Case{Name: "scored", Status: result.Pass, Score: new(0.7)}, &result.Case{Name: "left out", Status: result.Skip},
		&result.Case{Name: "twin", Status: result.Pass}, &result.Case{Name: "twin", Status: result.Fail},
		&result.Case{Name: "new and bad", Status: result.Fail}, &result.Case{Name: "new", Status: result.Pass},
	)
	c, err := compare.Runs(before, after, compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	names := func(list []compare.Change) string {
		var out []string
		for _, ch := range list {
			out = append(out, ch.Name)
		}
		return strings.Join(out, ", ")
	}
	for _, row := range []struct{ what, got, want string }{
		{"newly failing", names(c.NewlyFailing), "breaks, bad, noisy, new and bad"},
		{"fixed", names(c.Fixed), "fixed"},
		{"still failing", names(c.StillFailing), "known, twin"},
		{"slower", names(c.Slower), "slow"},
		{"faster", names(c.Faster), "quick"},
		{"scores", names(c.Scores), "scored"},
		{"skipped", names(c.Skipped), "left out"},
		{"added", names(c.Added), "new"},
		{"removed", names(c.Removed), "gone"},
	} {
		if row.got != row.want {
			t.Errorf("%s: got %q, want %q", row.what, row.got, row.want)
		}
	}
	if !c.Regression {
		t.Error("no regression")
	}
	var text, js bytes.Buffer
	if err := c.WriteText(&text, render.Options{}); err != nil || strings.Contains(text.String(), "\x1b") {
		t.Errorf("%v: %q", err, text.String())
	}
	if err := c.WriteJSON(&js); err != nil || !json.Valid(js.Bytes()) {
		t.Errorf("%v: %s", err, js.String())
	}
	if same, err := compare.Runs(before, before, compare.Options{}); err != nil || same.Regression {
		t.Errorf("a run against itself: %+v, %v", same, err)
	}
}

// A suite whose file was renamed or moved is the same suite: its tests are neither removed
// nor new. If two suites have the name, the path decides.
func TestCompareRenamedFile(t *testing.T) {
	type suite = result.Suite
	for name, c := range map[string]struct {
		before, after []suite
		removed       int
	}{
		"another name":                    {[]suite{{Name: "Calendar", File: "calendar.mcptest.yaml"}}, []suite{{Name: "Calendar", File: "tests/events.mcptest.yaml"}}, 0},
		"another name, next to another":   {[]suite{{Name: "A", File: "x/s.yaml"}, {Name: "B", File: "y/s.yaml"}}, []suite{{Name: "B", File: "x/t.yaml"}, {Name: "A", File: "y/t.yaml"}}, 0},
		"two of the name, by path":        {[]suite{{Name: "A", File: "x/s.yaml"}, {Name: "A", File: "y/s.yaml"}}, []suite{{Name: "A", File: "z/y/s.yaml"}, {Name: "A", File: "z/x/s.yaml"}}, 0},
		"no name in common":               {[]suite{{Name: "A", File: "a.yaml"}}, []suite{{Name: "B", File: "b.yaml"}}, 1},
		"the old file is still there":     {[]suite{{Name: "A", File: "a.yaml"}}, []suite{{Name: "A", File: "b.yaml"}, {Name: "A", File: "a.yaml"}}, 0},
		"which of the two is not certain": {[]suite{{Name: "A", File: "a.yaml"}, {Name: "A", File: "b.yaml"}}, []suite{{Name: "A", File: "c.yaml"}}, 2},
	} {
		run := func(suites []suite) *result.Run {
			r := &result.Run{Schema: result.Schema, Suites: suites}
			var cases []*result.Case
			for i, s := range suites {
				cases = append(cases, &result.Case{Index: i, File: s.File, Name: "answers", Status: result.Pass})
			}
			r.Cases = result.NewStored(cases...)
			return r
		}
		diff, err := compare.Runs(run(c.before), run(c.after), compare.Options{})
		if err != nil || len(diff.Removed) != c.removed || diff.Regression {
			t.Errorf("%s: %d removed, want %d; regression %v, %v", name, len(diff.Removed), c.removed, diff.Regression, err)
		}
	}
}
