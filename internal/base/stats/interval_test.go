package stats_test

import (
	"math"
	"testing"

	"mcptest/internal/base/stats"
)

// The references were computed with exact binomial sums and, for Wilson, its closed form.
func TestShares(t *testing.T) {
	for _, c := range []struct {
		k, n                                  int
		confidence                            float64
		exactLow, exactHigh, wilLow, wilsHigh float64
	}{
		{0, 10, 0.95, 0.000000000, 0.308497108, 0.000000000, 0.277532800},
		{1, 10, 0.95, 0.002528579, 0.445016117, 0.017876213, 0.404150027},
		{5, 10, 0.95, 0.187086028, 0.812913972, 0.236593091, 0.763406909},
		{10, 10, 0.95, 0.691502892, 1.000000000, 0.722467200, 1.000000000},
		{3, 50, 0.9, 0.016551859, 0.147837176, 0.024231257, 0.140941946},
		{9, 100, 0.99, 0.032117617, 0.189152280, 0.039703761, 0.191317203},
		{2, 1000, 0.95, 0.000242301, 0.007205839, 0.000548644, 0.007262808},
	} {
		low, high := stats.ComputeClopperPearson(c.k, c.n, c.confidence)
		if math.Abs(low-c.exactLow) > 2e-9 || math.Abs(high-c.exactHigh) > 2e-9 {
			t.Errorf("ClopperPearson(%d, %d, %g) = %.9f, %.9f, want %.9f, %.9f", c.k, c.n, c.confidence, low, high, c.exactLow, c.exactHigh)
		}
		low, high = stats.ComputeWilson(c.k, c.n, c.confidence)
		if math.Abs(low-c.wilLow) > 2e-9 || math.Abs(high-c.wilsHigh) > 2e-9 {
			t.Errorf("Wilson(%d, %d, %g) = %.9f, %.9f, want %.9f, %.9f", c.k, c.n, c.confidence, low, high, c.wilLow, c.wilsHigh)
		}
	}
	for _, f := range []func(int, int, float64) (float64, float64){stats.ComputeClopperPearson, stats.ComputeWilson} {
		if low, high := f(0, 0, 0.95); low != 0 || high != 1 {
			t.Errorf("nothing observed: %g to %g, want 0 to 1", low, high)
		}
		for _, k := range []int{0, 1, 500_000, 999_999, 1_000_000} {
			low, high := f(k, 1_000_000, 0.95)
			if p := float64(k) / 1e6; !(low <= p && p <= high && high-low < 0.0021) {
				t.Errorf("%d of 1,000,000: %g to %g", k, low, high)
			}
		}
	}
}

func TestRanks(t *testing.T) {
	for _, c := range []struct {
		n         int
		q         float64
		low, high int
	}{
		{100, 0.5, 40, 61}, {1000, 0.99, 983, 998}, {100, 0.99, 97, 102}, {1, 0.5, 1, 3},
	} {
		if low, high := stats.ComputeRanks(c.n, c.q, 0.95); low != c.low || high != c.high {
			t.Errorf("Ranks(%d, %g) = %d, %d, want %d, %d", c.n, c.q, low, high, c.low, c.high)
		}
	}
	for _, c := range []struct {
		n    int
		q    float64
		want int
	}{{20, 0.95, 19}, {100, 0.95, 95}, {21, 0.5, 11}, {20, 0.5, 10}, {1, 0.99, 1}} {
		if got := stats.Nearest(c.n, c.q); got != c.want {
			t.Errorf("Nearest(%d, %g) = %d, want %d", c.n, c.q, got, c.want)
		}
	}
}
