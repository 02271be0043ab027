package grading_test

import (
	"strings"
	"testing"

	"mcptest/internal/assert/grading"
	"mcptest/internal/base/source"
	"mcptest/internal/base/testkit"
)

func decode(t *testing.T, text string, models []string) (*grading.Grading, source.Diagnostics) {
	t.Helper()
	n, ds := source.Parse(&source.File{Name: "s.yaml", Data: []byte("llm-judge: " + text + "\n")})
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	var d source.Decoder
	return grading.Decode(n.Get("llm-judge"), "matcher.llm-judge", models, &d), d.Diagnostics()
}

func TestDecode(t *testing.T) {
	for _, c := range []struct {
		text   string
		models []string
		want   string // of the only diagnostic; "" for none
	}{
		{`{rubric: r}`, []string{"large"}, ""},
		{`{rubric: r}`, nil, ""},
		{`{rubric: r, model: large, threshold: 1, votes: 9}`, []string{"large", "small"}, ""},
		{`{rubric: r, model: lagre}`, []string{"large", "small"}, `no model "lagre" (did you mean "large"?)`},
		{`{rubric: r}`, []string{"large", "small"}, `missing key "model"`},
		{`{rubric: r}`, []string{}, "declares no model"},
		{`{rubric: r, model: script}`, []string{"large"}, "grades nothing"},
		{`{rubric: " "}`, []string{"large"}, "rubric is empty"},
		{`{model: large}`, []string{"large"}, `missing key "rubric"`},
		{`{rubric: r, threshold: 0}`, []string{"large"}, "must be over 0"},
		{`{rubric: r, threshold: 70}`, []string{"large"}, "at most 1"},
		{`{rubric: r, votes: 2}`, []string{"large"}, "1, 3, 5, 7 or 9"},
		{`{rubric: r, votes: 0}`, []string{"large"}, "1, 3, 5, 7 or 9"},
		{`{rubric: r, vote: 3}`, []string{"large"}, `unknown key "vote"`},
		{`names the day`, []string{"large"}, "expected a map"},
		{`[a]`, []string{"large"}, "expected a map"},
	} {
		g, ds := decode(t, c.text, c.models)
		switch {
		case c.want == "" && (g == nil || len(ds) > 0):
			t.Errorf("%s: %v", c.text, ds)
		case c.want != "" && (g != nil || len(ds) != 1 || !strings.Contains(ds[0].Msg, c.want)):
			t.Errorf("%s: want one diagnostic with %q, got %v", c.text, c.want, ds)
		}
	}
}

// A grade passes from its threshold on, and the message says what was asked and given.
func TestPasses(t *testing.T) {
	g, _ := decode(t, `{rubric: r, threshold: 0.6, votes: 3}`, []string{"large"})
	pass, why := g.Passes(grading.Grade{Score: 0.6, Reason: "it names it", Votes: []float64{0.6, 0.9, 0.1}})
	testkit.Equal(t, "passes at the threshold", pass, true)
	testkit.Equal(t, "the note", why, "large grades it 0.6, the median of [0.6 0.9 0.1]: it names it")
	pass, why = g.Passes(grading.Grade{Score: 0.59})
	testkit.Equal(t, "passes below it", pass, false)
	testkit.Equal(t, "the message", why, "large grades it 0.59, below the threshold 0.6: without a reason")
	testkit.Equal(t, "votes", g.Ask(), 3)
}
