package expect_test

import (
	"math"
	"testing"

	"mcptest/internal/assert/expect"
	"mcptest/internal/assert/target"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
)

// The examples of the page on suite composition, with the numbers it gives.

func near(a, b float64) bool { return math.Abs(a-b) < 1e-12 }

func TestPageWeights(t *testing.T) {
	const suite = `
threshold: 0.7
expect:
  - target: result.isError
    matcher: { exact: false }
    weight: 3.0
  - target: result.content[0].text
    matcher: { contains: "rust" }
    weight: 1.0
`
	v := evaluate(t, suite, textResult("go"))
	if !v.Pass || !v.Scored || !near(*v.Score, 0.75) {
		t.Errorf("%+v", v)
	}
	failing := textResult("rust")
	failing.Result = failing.Result.With("isError", jsonv.Bool(true))
	v = evaluate(t, suite, failing)
	if v.Pass || !near(*v.Score, 0.25) {
		t.Errorf("%+v", v)
	}
	wantMatch(t, v, false, "the score 0.25 is below the threshold 0.7: result.isError: expected false, got true")
}

func TestPageSet(t *testing.T) {
	const suite = `
expect:
  - assert-set:
      name: keyword-coverage
      threshold: 0.6
      weight: 1.0
      assertions:
        - target: result.content[0].text
          matcher: { icontains: "rollback" }
        - target: result.content[0].text
          matcher: { icontains: "canary" }
        - target: result.content[0].text
          matcher: { icontains: "bluegreen" }
`
	v := evaluate(t, suite, textResult("Rollback of a CANARY"))
	if !v.Pass || v.Scored || v.Score != nil || !near(v.Items[0].Score, 2.0/3) || !v.Items[0].Set {
		t.Errorf("%+v", v)
	}
	v = evaluate(t, suite, textResult("Rollback"))
	wantMatch(t, v, false, `the set "keyword-coverage" scored 0.333, below 0.6: 2 of 3 failed`)
}

func TestPageThreshold(t *testing.T) {
	const suite = `
threshold: 0.75
expect:
  - target: result.name
    matcher: { schema: { type: string } }
  - target: result.email
    matcher: { regex: "@" }
  - target: result.age
    matcher: { exact: 30 }
  - target: result.country
    matcher: { exact: "US" }
`
	// The page's result.name works with servers that return it in either form.
	for _, o := range []*target.Observation{
		textResult(`{"name": "Ada", "email": "ada@example.com", "age": 30.0, "country": "GB"}`),
		result(t, `{"content": [], "structuredContent": {"name": "Ada", "email": "ada@example.com", "age": 30, "country": "GB"}}`),
		result(t, `{"name": "Ada", "email": "ada@example.com", "age": 30, "country": "GB"}`),
	} {
		v := evaluate(t, suite, o)
		if !v.Pass || !near(*v.Score, 0.75) {
			t.Errorf("%+v", v)
		}
	}
	v := evaluate(t, suite, textResult(`{"name": "Ada", "email": "ada", "age": 30, "country": "GB"}`))
	wantMatch(t, v, false, "the score 0.5 is below the threshold 0.75: 2 of 4 failed, the first: result.email: does not match /@/")
}

func TestPageDefaultTest(t *testing.T) {
	const baseline = `
defaultTest:
  threshold: 0.8
  expect:
    - target: result.isError
      matcher: { exact: false }
`
	inherits := tree(t, `
expect:
  - target: result.items
    matcher: { schema: { type: array } }
`+baseline)
	if len(inherits.Items) != 2 || *inherits.Threshold != 0.8 || inherits.Items[0].Assertion.Target.String() != "result.items" {
		t.Errorf("%+v", inherits)
	}
	overrides := tree(t, `
threshold: 0.5
expect:
  - target: result.items
    matcher: { schema: { type: array } }
`+baseline)
	if len(overrides.Items) != 2 || *overrides.Threshold != 0.5 {
		t.Errorf("%+v", overrides)
	}
	o := func() *target.Observation { return result(t, `{"content": [], "structuredContent": {"items": 3}}`) }
	if v := inherits.Evaluate(t.Context(), o(), nil); v.Pass || *v.Score != 0.5 {
		t.Errorf("%+v", v)
	}
	if v := overrides.Evaluate(t.Context(), o(), nil); !v.Pass {
		t.Errorf("%+v", v)
	}
}

const metricSuite = `
threshold: 0.5
expect:
  - target: result.content[0].text
    matcher: { icontains: "sources" }
    name: cites_sources
  - target: result.content[0].text
    matcher: { regex: "^[A-Z]" }
    name: well_formed
derivedMetrics:
  - name: quality
    threshold: 0.7
    value:
      weighted_average:
        - { ref: cites_sources, weight: 2.0 }
        - { ref: well_formed, weight: 1.0 }
`

func TestPageMetric(t *testing.T) {
	v := evaluate(t, metricSuite, textResult("no sources"))
	if v.Pass || !near(*v.Score, 0.5) || !near(v.Metrics[0].Value, 2.0/3) || *v.Metrics[0].Passed {
		t.Errorf("%+v", v)
	}
	wantMatch(t, v, false, `the metric "quality" is 0.667, below its threshold 0.7`)
	wantMatch(t, evaluate(t, metricSuite, textResult("All sources")), true, "")
}

func TestMetrics(t *testing.T) {
	v := evaluate(t, `
expect:
  - {target: text, matcher: {contains: a}, name: a}
  - assert-set:
      name: set
      threshold: 0.5
      assertions:
        - {target: text, matcher: {contains: a}, weight: 3}
        - {target: text, matcher: {contains: b}, name: inner}
derivedMetrics:
  - {name: sum, value: {weighted_sum: [{ref: a, weight: 2}, {ref: set}, {ref: inner}]}, threshold: 2.75}
  - {name: chained, value: {weighted_average: [{ref: sum}, {ref: a, weight: 0}]}}
  - {name: typo, value: {weighted_sum: [{ref: sett}, {ref: a}]}}
`, textResult("a"))
	if !v.Pass {
		t.Error(v.Message)
	}
	for i, want := range []float64{2.75, 2.75, 1} {
		if !near(v.Metrics[i].Value, want) {
			t.Errorf("%s = %v, want %v", v.Metrics[i].Name, v.Metrics[i].Value, want)
		}
	}
	if v.Metrics[1].Passed != nil || v.Metrics[1].Threshold != nil || !*v.Metrics[0].Passed {
		t.Errorf("%+v", v.Metrics)
	}
	const note = `no assertion, set or earlier metric is named "sett": it counts as 0 (did you mean "set"?)`
	if len(v.Metrics[2].Notes) != 1 || v.Metrics[2].Notes[0] != note || len(v.Notes) != 1 || v.Notes[0] != `metric "typo": `+note {
		t.Errorf("%q %q", v.Metrics[2].Notes, v.Notes)
	}
}

func TestMerge(t *testing.T) {
	n := node(t, `
expect:
  assertions:
    - {target: text, matcher: {contains: a}, name: own}
  max_duration_ms: 10
derivedMetrics:
  - {name: shared, value: {weighted_sum: [{ref: own}]}}
  - {name: mine, value: {weighted_sum: [{ref: own}]}}
defaultTest:
  threshold: 0.3
  expect:
    assertions:
      - {target: text, matcher: {contains: b}, name: base}
    max_duration_ms: 5
  derivedMetrics:
    - {name: first, value: {weighted_sum: [{ref: mine}, {ref: elsewhere}]}}
    - {name: shared, value: {weighted_sum: [{ref: base}]}}
    - {name: last, value: {weighted_sum: [{ref: first}]}}
`)
	var d source.Decoder
	own, base := parts(n, "", &d), parts(n.Get("defaultTest"), "defaultTest.", &d)
	tr := expect.Merge(own, base)
	tr.Check("", &d)
	// elsewhere is no warning: other tests may have an item of that name.
	if ds := d.Diagnostics(); len(ds) > 0 {
		t.Errorf("%v", ds)
	}
	var names string
	for _, m := range tr.Metrics {
		names += m.Name + " "
	}
	if names != "shared mine first last " || tr.MaxDuration.MaxMS != 10 || len(tr.Items) != 2 || *tr.Threshold != 0.3 {
		t.Errorf("%s %+v", names, tr)
	}
	if alone := expect.Merge(expect.Parts{}, base); len(alone.Items) != 1 || alone.MaxDuration.MaxMS != 5 || len(alone.Metrics) != 3 {
		t.Errorf("%+v", alone)
	}
	// All tests share the parts of the baseline: merging must not change them.
	other := expect.Merge(own, base)
	other.Items = append(other.Items, expect.Item{Name: "x"})
	if again := expect.Merge(own, base); len(again.Items) != 2 || again.Items[1].Name != "base" {
		t.Error("merging shares memory")
	}
}

// TestOwnMetricSeesNoBaselineMetric: baseline metrics are computed later.
func TestOwnMetricSeesNoBaselineMetric(t *testing.T) {
	ds := diagnose(t, `
expect: [{target: text, matcher: {contains: a}, name: a}]
derivedMetrics: [{name: mine, value: {weighted_sum: [{ref: base}]}}]
defaultTest:
  derivedMetrics: [{name: base, value: {weighted_sum: [{ref: a}]}}]
`)
	if len(ds) != 1 || ds[0].Msg != `the metric "base" is declared later: metrics can refer only to earlier ones` || len(ds[0].Related) != 1 {
		t.Errorf("%v", ds)
	}
}

// TestClashWithBaseline: names only conflict after merging.
func TestClashWithBaseline(t *testing.T) {
	ds := diagnose(t, `
expect: [{target: text, matcher: {contains: a}, name: a}]
derivedMetrics: [{name: m, value: {weighted_sum: [{ref: a}]}}]
defaultTest:
  expect: [{target: text, matcher: {contains: b}, name: a}]
`)
	if len(ds) != 1 || ds[0].Msg != `"a" is the name of 2 items` || len(ds[0].Related) != 2 {
		t.Errorf("%v", ds)
	}
}
