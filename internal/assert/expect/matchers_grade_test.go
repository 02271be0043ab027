package expect_test

import (
	"strings"
	"testing"

	"mcptest/internal/base/testkit"
)

// The score of llm-judge is the grade, also if the assertion fails or is negated.
func TestGradedTexts(t *testing.T) {
	for _, c := range []struct {
		matcher, value string
		pass           bool
		score          float64
	}{
		{"llm-judge: {rubric: r}", `"good"`, true, 0.9},
		{"llm-judge: {rubric: r, threshold: 0.95}", `"good"`, false, 0.9},
		{"llm-judge: {rubric: r, threshold: 0.2}", `"bad"`, true, 0.2},
		{"llm-judge: {rubric: r}", `"bad"`, false, 0.2},
		{"llm-judge: {rubric: r}", `["good"]`, false, 0},
		{"not: {llm-judge: {rubric: r}}", `["good"]`, false, 0},
		{"not: {llm-judge: {rubric: r}}", `"good"`, false, 0},
		{"not: {llm-judge: {rubric: r}}", `"bad"`, true, 1},
	} {
		got := judge(t, c.matcher, c.value)
		testkit.Equal(t, c.matcher+" of "+c.value+": pass", got.Pass, c.pass)
		testkit.Equal(t, c.matcher+" of "+c.value+": score", got.Score, c.score)
	}
	if got := judge(t, "llm-judge: {rubric: r}", `"good"`); len(got.Notes) != 1 || !strings.Contains(got.Notes[0], "a reason") {
		t.Errorf("a pass does not say why: %q", got.Notes)
	}
}
