package repeat_test

import (
	"testing"

	"mcptest/internal/base/source"
	"mcptest/internal/base/stats"
	"mcptest/internal/spec/repeat"
)

// Every valid design ends, after 10,000 trials at most.
func TestDesignsEnd(t *testing.T) {
	for _, c := range []struct {
		want, floor float64
		valid       bool
	}{
		{0.9, 0.7, true},
		{0.99, 0.98, true},
		{0.9, 1e-320, true},
		{0.5, 1e-9, true},
		{1, 0.9997, true},
		{0.999, 0.9989, false},
		{1, 0.9999999, false},
		{0.9, 0.8999999999999999, false},
	} {
		design := repeat.Trials{Want: c.want, Floor: c.floor}
		var d source.Decoder
		n := node(t, `trials: {want: 1, floor: 0.5}`)
		repeat.Check(nil, &design, nil, n, "tools[0]", &d)
		if valid := d.Count() == 0; valid != c.valid {
			t.Errorf("%v and %v: %v", c.want, c.floor, d.Diagnostics())
		}
		test := design.Design()
		if test.Max > 10_000 || test.Max < 1 {
			t.Errorf("%v and %v: at most %d trials", c.want, c.floor, test.Max)
		}
		if c.valid && test.Verdict(0, 10_000) != stats.Bad {
			t.Errorf("%v and %v: 10,000 failures decide nothing", c.want, c.floor)
		}
	}
}

func node(t *testing.T, text string) *source.Node {
	t.Helper()
	n, diags := source.Parse(&source.File{Name: "suite.yaml", Data: []byte(text)})
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	return n
}
