package stats_test

import (
	"math"
	"testing"

	"mcptest/internal/base/stats"
)

// The first row is published (M. W. Fagerland, S. Lydersen, P. Laake: Recommended tests
// and confidence intervals for paired binomial proportions, 2014). The others were
// computed from the formulas by another program.
func TestPairs(t *testing.T) {
	for _, c := range []struct {
		both, b, c, none int
		p, low, high     float64
	}{
		{1, 1, 7, 12, 0.0703, 0.026, 0.507},
		{36, 12, 2, 0, 0.01294, -0.34043, -0.05693},
		{36, 0, 0, 14, 1.00000, -0.04912, 0.04912},
		{20, 0, 0, 4, 1.00000, -0.11921, 0.11921},
		{0, 0, 24, 0, 0.00000, 0.80487, 1.00000},
		{18, 4, 1, 1, 0.37500, -0.32860, 0.08201},
		{40, 12, 3, 5, 0.03516, -0.27531, -0.02266},
		{7, 25, 25, 68, 1.00000, -0.11017, 0.11017},
	} {
		p := stats.ComputeMcNemar(c.b, c.c)
		low, high := stats.ComputePairedDifference(c.both, c.b, c.c, c.none, 0.95)
		if math.Abs(p-c.p) > 1e-3 || math.Abs(low-c.low) > 1e-3 || math.Abs(high-c.high) > 1e-3 {
			t.Errorf("%v: p = %.4f, %.4f to %.4f", c, p, low, high)
		}
		if d := float64(c.c-c.b) / float64(c.both+c.b+c.c+c.none); low > d || high < d {
			t.Errorf("%v: the difference %.4f is not between %.4f and %.4f", c, d, low, high)
		}
		back, forth := stats.ComputePairedDifference(c.both, c.c, c.b, c.none, 0.95)
		if math.Abs(back+high) > 1e-12 || math.Abs(forth+low) > 1e-12 || stats.ComputeMcNemar(c.c, c.b) != p {
			t.Errorf("%v: not symmetric", c)
		}
	}
	if low, high := stats.ComputePairedDifference(0, 0, 0, 0, 0.95); low != -1 || high != 1 || stats.ComputeMcNemar(0, 0) != 1 {
		t.Errorf("nothing compared: %g to %g", low, high)
	}
}
