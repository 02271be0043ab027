package compare_test

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"mcptest/internal/report/compare"
	"mcptest/internal/report/render"
	"mcptest/internal/report/result"
)

// trials returns a case with one attempt for each letter: passed, failed, error.
func trials(name, outcomes string) *result.Case {
	c := &result.Case{Name: name, Status: result.Pass, Trials: &result.Trials{}}
	for _, r := range outcomes {
		c.Attempts = append(c.Attempts, result.Attempt{Status: map[rune]result.Status{'p': result.Pass, 'f': result.Fail, 'e': result.Error}[r]})
	}
	return c
}

func TestPairs(t *testing.T) {
	run := func(cases ...*result.Case) *result.Run {
		for i, c := range cases {
			c.Index, c.File = i, "s.yaml"
		}
		return &result.Run{Schema: result.Schema, Cases: result.NewStored(cases...)}
	}
	// A repeated test has runs, and one with retries only has none that could be paired.
	retried := trials("retried", "fp")
	retried.Trials = nil
	repeated := trials("repeated", "ppff")
	repeated.Trials, repeated.Repeat = nil, &result.Repeat{Times: 4}
	same := strings.Repeat("pppf", 10)
	before := run(trials("same", same), trials("worse", strings.Repeat("p", 20)), trials("better", strings.Repeat("f", 12)),
		trials("short", strings.Repeat("p", 30)), trials("errors", "pepf"), trials("unpaired", "eee"), trials("gone", "ppp"), repeated, retried)
	after := run(trials("same", same), trials("worse", strings.Repeat("pf", 10)), trials("better", strings.Repeat("p", 12)),
		trials("short", "ppp"), trials("errors", "pfep"), trials("unpaired", "ppp"), trials("new", "ppp"), repeated, retried)
	c, err := compare.Runs(before, after, compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	type want struct {
		n, before, after, b, c int
		p                      float64
		shown, worse           bool
	}
	wants := map[string]want{
		"same":     {40, 30, 30, 0, 0, 1, false, false},
		"worse":    {20, 20, 10, 10, 0, 0.00195, true, true},
		"better":   {12, 0, 12, 0, 12, 0.00049, true, false},
		"short":    {3, 3, 3, 0, 0, 1, false, false},
		"errors":   {2, 1, 2, 0, 1, 1, false, false},
		"repeated": {4, 2, 2, 0, 0, 1, false, false},
	}
	for _, p := range c.Pairs {
		w := wants[p.Name]
		delete(wants, p.Name)
		if p.N != w.n || p.Before != w.before || p.After != w.after || p.OnlyBefore != w.b || p.OnlyAfter != w.c || math.Abs(p.P-w.p) > 1e-5 || p.Shown != w.shown || p.Worse() != w.worse {
			t.Errorf("%+v, want %+v", p, w)
		}
		if p.Low > p.Difference || p.High < p.Difference || p.File != "s.yaml" {
			t.Errorf("%+v", p)
		}
	}
	if len(wants) > 0 || c.Regression {
		t.Errorf("not compared: %v; regression %v", wants, c.Regression)
	}
	var b bytes.Buffer
	if err := c.WriteText(&b, render.Options{}); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"Trials of 6 tests compared in pairs",
		"= same  30 of 40 → 30 of 40 passed, difference +0.00 (-0.06 to +0.06), p = 1.000: no difference shown (n = 40)",
		"▼ worse  20 of 20 → 10 of 20 passed, difference -0.50 (-0.70 to -0.24), p = 0.002: a difference (n = 20)",
		"▲ better  0 of 12 → 12 of 12 passed, difference +1.00 (+0.66 to +1.00), p = less than 0.001: a difference (n = 12)",
	} {
		if !strings.Contains(b.String(), line) {
			t.Errorf("no line %q in\n%s", line, b.String())
		}
	}
}
