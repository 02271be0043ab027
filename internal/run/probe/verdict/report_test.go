package verdict_test

import (
	"strings"
	"testing"

	"mcptest/internal/base/term"
	"mcptest/internal/offer/ruleset"
	"mcptest/internal/run/probe/verdict"
)

// A failed rule of practice fails the command at no level.
func TestPracticeFailsNothing(t *testing.T) {
	t.Parallel()
	for level, want := range map[ruleset.Level][2]bool{ruleset.Must: {true, true}, ruleset.Should: {false, true}, ruleset.Practice: {false, false}} {
		rep := verdict.Report{Results: []verdict.Result{{Rule: "r", Level: level, Verdict: verdict.Fail, Failures: []verdict.Failure{{Message: "broken"}}}}}
		for i, on := range []ruleset.Level{ruleset.Must, ruleset.Should} {
			if got := rep.Fails(on); got != want[i] {
				t.Errorf("a failed rule of level %s fails on %s: %t, want %t", level, on, got, want[i])
			}
			var out strings.Builder
			if err := rep.Document(ruleset.Rules{}, on, term.Palette{}, "1").Write(&out, "github"); err != nil {
				t.Fatal(err)
			}
			if got := strings.Contains(out.String(), "::error"); got != want[i] {
				t.Errorf("level %s, fail on %s: %s", level, on, out.String())
			}
		}
	}
}
