package expect

import "math"

// Reaches compares scores with thresholds (inclusive) for tests, sets, metrics and
// rates. The value may be below the threshold by 1e-9 of the larger one, to allow for
// the rounding errors of sums like 0.1+0.2.
func Reaches(value, threshold float64) bool {
	return value >= threshold-1e-9*math.Max(math.Abs(value), math.Abs(threshold))
}

// tally accumulates a weighted pass-fraction.
type tally struct{ passing, total float64 }

func (t *tally) add(pass bool, weight float64) {
	t.total += weight
	if pass {
		t.passing += weight
	}
}

// score returns the passing weight divided by the total weight, between 0 and 1. It
// is 0 if the total is 0.
func (t *tally) score() float64 {
	if t.total <= 0 {
		return 0
	}
	return t.passing / t.total
}

// fraction returns the weighted pass-fraction of evaluated items.
func fraction(items []Item, results []ItemResult) float64 {
	var t tally
	for i := range items {
		t.add(results[i].Pass, items[i].Weight)
	}
	return t.score()
}

// unit returns the score of a pass or failure.
func unit(pass bool) float64 {
	if pass {
		return 1
	}
	return 0
}
