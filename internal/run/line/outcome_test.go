package line

import (
	"testing"

	"mcptest/internal/report/result"
)

// An internal error decides the status; a later failure is not worse.
func TestWorstVerdictCounts(t *testing.T) {
	for _, tt := range []struct {
		first, second result.Status
		want          string
	}{
		{result.Fail, result.Fail, "1"},
		{result.Fail, result.Error, "2"},
		{result.Fail, result.Skip, "2"},
		{result.Error, result.Skip, "1"},
		{result.Skip, result.Fail, "1"},
	} {
		o := outcome{c: &result.Case{}}
		o.fail(tt.first, "1\nmore")
		o.fail(tt.second, "2")
		if o.c.Message != tt.want {
			t.Errorf("%s and then %s: %q", tt.first, tt.second, o.c.Message)
		}
	}
	o := outcome{c: &result.Case{}, problems: []string{"a", "b", "c"}}
	if o.decide(); o.c.Status != result.Fail || o.c.Message != "a (and 2 more)" {
		t.Errorf("%s %q", o.c.Status, o.c.Message)
	}
}

// What is known to be wrong is more severe than what could not be decided, and what was
// not observed at all more than both.
func TestSeverityOfOutcomes(t *testing.T) {
	const i, f, e, s = result.Inconclusive, result.Fail, result.Error, result.Skip
	for _, tt := range []struct {
		calls []result.Status
		want  result.Status
	}{
		{nil, result.Pass},
		{[]result.Status{i}, i},
		{[]result.Status{i, f}, f},
		{[]result.Status{f, i}, f},
		{[]result.Status{i, e}, e},
		{[]result.Status{e, i}, e},
		{[]result.Status{i, s}, s},
		{[]result.Status{s, i}, s},
		{[]result.Status{i, i}, i},
	} {
		o := outcome{c: &result.Case{}}
		for _, status := range tt.calls {
			o.fail(status, "why "+string(status))
		}
		o.decide()
		if o.c.Status != tt.want || tt.want != result.Pass && o.c.Message != "why "+string(tt.want) {
			t.Errorf("%v: %s %q, want %s", tt.calls, o.c.Status, o.c.Message, tt.want)
		}
	}
	o := outcome{c: &result.Case{}, problems: []string{"violation"}}
	o.fail(i, "undecided")
	if o.decide(); o.c.Status != f || o.c.Message != "violation" {
		t.Errorf("a violation: %s %q", o.c.Status, o.c.Message)
	}
}
