package expect

import "math"

// Reaches compares scores with thresholds (inclusive) for tests, sets, metrics and
// rates. The value may be below the threshold by 1e-9 of the larger one, to allow for
// the rounding errors of sums like 0.1+0.2.
func Reaches(value, threshold float64) bool {
	return value >= threshold-1e-9*math.Max(math.Abs(value), math.Abs(threshold))
}

// fraction returns the weighted pass-fraction of evaluated items, between 0 and 1. It
// is 0 if the weights add up to 0.
func fraction(items []Item, results []ItemResult) float64 {
	passing, total := 0.0, 0.0
	for i := range items {
		total += items[i].Weight
		if results[i].Pass {
			passing += items[i].Weight
		}
	}
	if total <= 0 {
		return 0
	}
	return passing / total
}
