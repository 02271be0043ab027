package expect_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"mcptest/internal/assert/expect"
	"mcptest/internal/assert/match"
	"mcptest/internal/assert/target"
	"mcptest/internal/base/jsonv"
)

// level is a random list of assertions: which pass, and their weights.
type level struct {
	pass    []bool
	weights []float64
}

func drawLevel(rt *rapid.T) level {
	n := rapid.IntRange(1, 6).Draw(rt, "n")
	l := level{}
	total := 0.0
	for range n {
		l.pass = append(l.pass, rapid.Bool().Draw(rt, "pass"))
		w := float64(rapid.IntRange(0, 50).Draw(rt, "weight")) / 10
		l.weights = append(l.weights, w)
		total += w
	}
	if total == 0 {
		l.weights[0] = 1
	}
	return l
}

func (l level) fraction() float64 {
	passing, total := 0.0, 0.0
	for i, w := range l.weights {
		total += w
		if l.pass[i] {
			passing += w
		}
	}
	return passing / total
}

// yaml writes the level as flow maps, weights scaled.
func (l level) yaml(scale float64) string {
	var items []string
	for i, pass := range l.pass {
		matcher := "{contains: yes-there}"
		if !pass {
			matcher = "{contains: not-there}"
		}
		items = append(items, fmt.Sprintf("{target: text, matcher: %s, weight: %v, name: a%d}", matcher, l.weights[i]*scale, i))
	}
	return "[" + strings.Join(items, ", ") + "]"
}

func (l level) judge(t *testing.T, format string, args ...any) expect.Verdict {
	t.Helper()
	return evaluate(t, fmt.Sprintf(format, args...), textResult("yes-there"))
}

func TestScoreProperties(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		l := drawLevel(rt)
		threshold := float64(rapid.IntRange(0, 100).Draw(rt, "threshold")) / 100
		v := l.judge(t, "threshold: %v\nexpect: %s", threshold, l.yaml(1))
		if *v.Score < 0 || *v.Score > 1 || math.Abs(*v.Score-l.fraction()) > 1e-12 {
			rt.Fatalf("score %v of %+v", *v.Score, l)
		}
		if v.Pass != (l.fraction() >= threshold-1e-9) {
			rt.Fatalf("pass %v with %v at %v", v.Pass, l.fraction(), threshold)
		}
		// Only the ratio of weights counts.
		scaled := l.judge(t, "threshold: %v\nexpect: %s", threshold, l.yaml(8))
		if math.Abs(*scaled.Score-*v.Score) > 1e-12 || scaled.Pass != v.Pass {
			rt.Fatalf("scaled: %v %v", *scaled.Score, *v.Score)
		}
		// One more passing item never lowers the score or the status.
		better := level{append([]bool(nil), l.pass...), l.weights}
		better.pass[rapid.IntRange(0, len(l.pass)-1).Draw(rt, "flip")] = true
		up := better.judge(t, "threshold: %v\nexpect: %s", threshold, better.yaml(1))
		if *up.Score < *v.Score || v.Pass && !up.Pass {
			rt.Fatalf("passing more lowers %v to %v", *v.Score, *up.Score)
		}
	})
}

func TestNoThresholdMeansAll(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		l := drawLevel(rt)
		all := true
		for _, p := range l.pass {
			all = all && p
		}
		v := l.judge(t, "expect: %s", l.yaml(1))
		if v.Pass != all || v.Score != nil || v.Scored {
			rt.Fatalf("%+v: %+v", l, v)
		}
		// Without a threshold, weights do not change the status, even if all are zero.
		zero := l.judge(t, "expect: %s", l.yaml(0))
		if zero.Pass != v.Pass || zero.Message != v.Message {
			rt.Fatalf("weights are not inert: %s / %s", zero.Message, v.Message)
		}
	})
}

func TestSetProperties(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		l := drawLevel(rt)
		threshold := float64(rapid.IntRange(0, 100).Draw(rt, "threshold")) / 100
		v := l.judge(t, "expect: [{assert-set: {name: s, threshold: %v, assertions: %s}}]\n"+
			"derivedMetrics: [{name: m, value: {weighted_sum: [{ref: s, weight: 2}, {ref: a0}]}}]", threshold, l.yaml(1))
		reaches := l.fraction() >= threshold-1e-9
		if v.Pass != reaches || v.Items[0].Pass != reaches || math.Abs(v.Items[0].Score-l.fraction()) > 1e-12 {
			rt.Fatalf("%+v: %+v", l, v)
		}
		want := 2 * l.fraction()
		if l.pass[0] {
			want++
		}
		if math.Abs(v.Metrics[0].Value-want) > 1e-12 {
			rt.Fatalf("metric %v, want %v", v.Metrics[0].Value, want)
		}
		// A set counts as one item of its test, regardless of its scores.
		unit := l.judge(t, "threshold: 0.5\nexpect: [{assert-set: {threshold: %v, weight: 3, assertions: %s}}, {target: text, matcher: {contains: not-there}}]", threshold, l.yaml(1))
		if want := map[bool]float64{true: 0.75}[reaches]; *unit.Score != want {
			rt.Fatalf("score %v, want %v", *unit.Score, want)
		}
	})
}

// TestSetOfOne: it is the assertion.
func TestSetOfOne(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		l := level{pass: []bool{rapid.Bool().Draw(rt, "pass")}, weights: []float64{rapid.SampledFrom([]float64{0.1, 1, 7}).Draw(rt, "weight")}}
		alone := l.judge(t, "threshold: 0.4\nexpect: %s", l.yaml(1))
		set := l.judge(t, "threshold: 0.4\nexpect: [{assert-set: {weight: %v, assertions: %s}}]", l.weights[0], l.yaml(1))
		if alone.Pass != set.Pass || *alone.Score != *set.Score {
			rt.Fatalf("%+v %+v", alone, set)
		}
	})
}

// TestInclusiveBound: sums that are inexact in binary still reach the threshold.
func TestInclusiveBound(t *testing.T) {
	for _, c := range []struct {
		weights   []float64 // all but the last pass
		threshold string
		pass      bool
	}{
		{[]float64{0.1, 0.2, 0.7}, "0.3", true},
		{[]float64{0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.3}, "0.7", true},
		{[]float64{1, 1, 1}, "0.6666666667", true},
		{[]float64{1, 1, 1}, "0.66666667", false},
		{[]float64{1, 1, 1}, "0.66", true},
	} {
		l := level{weights: c.weights}
		for i := range c.weights {
			l.pass = append(l.pass, i < len(c.weights)-1)
		}
		if v := l.judge(t, "threshold: %s\nexpect: %s", c.threshold, l.yaml(1)); v.Pass != c.pass {
			t.Errorf("%v at %s: %v", c.weights, c.threshold, *v.Score)
		}
		set := l.judge(t, "expect: [{assert-set: {threshold: %s, assertions: %s}}]", c.threshold, l.yaml(1))
		if set.Pass != c.pass {
			t.Errorf("a set of %v at %s: %v", c.weights, c.threshold, set.Items[0].Score)
		}
	}
	v := evaluate(t, `
expect: [{target: text, matcher: {contains: a}, name: a}]
derivedMetrics: [{name: m, threshold: 0.3, value: {weighted_sum: [{ref: a, weight: 0.1}, {ref: a, weight: 0.1}, {ref: a, weight: 0.1}]}}]
`, textResult("a"))
	if !v.Pass || !*v.Metrics[0].Passed {
		t.Errorf("%+v", v.Metrics)
	}
}

// TestEvaluateBounds: for any response, evaluation is fast and its result is small.
func TestEvaluateBounds(t *testing.T) {
	long := strings.Repeat("long line of text\n", 40_000)
	many := make([]jsonv.Value, 5_000)
	for i := range many {
		many[i] = jsonv.Object(jsonv.Member{Key: fmt.Sprint("key", i), Value: jsonv.String(strings.Repeat("x", 50))})
	}
	o := &target.Observation{Result: jsonv.Object(
		jsonv.Member{Key: "content", Value: jsonv.Array(jsonv.Object(jsonv.Member{Key: "type", Value: jsonv.String("text")}, jsonv.Member{Key: "text", Value: jsonv.String(long)}))},
		jsonv.Member{Key: strings.Repeat("k", 100_000), Value: jsonv.Array(many...)},
		jsonv.Member{Key: "list", Value: jsonv.Array(many...)},
		jsonv.Member{Key: "merged", Value: many[0]},
	)}
	var suite strings.Builder
	suite.WriteString("expect:\n")
	for _, row := range match.Matchers() {
		for _, target := range []string{"text", "result", "result.list", "result.list[*].nope", "result.nope"} {
			fmt.Fprintf(&suite, "  - {target: '%s', matcher: {%s}}\n", target, row.Example)
			if row.Name != "snapshot" { // which can't be inside of another matcher
				fmt.Fprintf(&suite, "  - {target: '%s', matcher: {not: {%s}}}\n", target, row.Example)
			}
		}
	}
	fmt.Fprintf(&suite, "  - {target: text, matcher: {exact: %q}}\n", strings.Replace(long, "long", "short", 3))
	v := evaluate(t, suite.String(), o)
	if v.Pass || len(v.Message) > 4000 {
		t.Errorf("the message has %d bytes", len(v.Message))
	}
	for _, item := range v.Items {
		size := len(item.Message) + len(item.Expected) + len(item.Actual)
		for _, line := range append(item.Diff, item.Notes...) {
			size += len(line)
		}
		if size > 32<<10 {
			t.Errorf("%s %s takes %d bytes", item.Target, item.Matcher, size)
		}
	}
}
