package expect

import "math"

// Reaches is the inclusive comparison of scores with thresholds, for tests,
// sets, metrics and rates. A value may lie below by 1e-9 of the larger one:
// sums like 0.1+0.2 miss the decimal they stand for by less.
func Reaches(value, threshold float64) bool {
	return value >= threshold-1e-9*math.Max(math.Abs(value), math.Abs(threshold))
}

// tally is a weighted pass-fraction in the making.
type tally struct{ passing, total float64 }

func (t *tally) add(pass bool, weight float64) {
	t.total += weight
	if pass {
		t.passing += weight
	}
}

// score is the weight of what passed over all weight, between 0 and 1. Without
// any weight nothing can have passed.
func (t *tally) score() float64 {
	if t.total <= 0 {
		return 0
	}
	return t.passing / t.total
}

// fraction is the weighted pass-fraction of evaluated items.
func fraction(items []Item, results []ItemResult) float64 {
	var t tally
	for i := range items {
		t.add(results[i].Pass, items[i].Weight)
	}
	return t.score()
}

// unit is a pass as a score.
func unit(pass bool) float64 {
	if pass {
		return 1
	}
	return 0
}
