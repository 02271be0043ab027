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

// A page of a probe that judged nothing has neither a share below zero nor a table without rows.
func TestPageOfNothingJudged(t *testing.T) {
	t.Parallel()
	rep := verdict.Report{Server: "s 1", Revisions: []string{"2025-11-25"}, Results: []verdict.Result{
		{Rule: "r", Level: ruleset.Must, Revision: "2025-11-25", Verdict: verdict.NotApplicable},
	}}
	var out strings.Builder
	if err := rep.Document(ruleset.Rules{}, ruleset.Must, term.Palette{}, "1").Write(&out, "html"); err != nil {
		t.Fatal(err)
	}
	page := out.String()
	for _, want := range []string{`<span class="v warn">Inconclusive</span>`, "2025-11-25: no rule of level must or should applies"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %q", want)
		}
	}
	for _, bad := range []string{"-1 %", ">family</th>"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
}
