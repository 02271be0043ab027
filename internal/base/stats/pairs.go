package stats

import "math"

// ComputeMcNemar returns the probability of a difference at least as large between b pairs of
// which only the first passed and c of which only the second did, if there is none.
func ComputeMcNemar(b, c int) float64 {
	if b == c {
		return 1
	}
	return min(1, 2*computeAtLeast(max(b, c), b+c, 0.5))
}

// ComputePairedDifference returns Newcombe's interval of the share of passes of the second of
// two versions minus that of the first, in pairs: both passed, only the first (b), only
// the second (c), or none.
func ComputePairedDifference(both, b, c, none int, confidence float64) (low, high float64) {
	n := both + b + c + none
	if n == 0 {
		return -1, 1
	}
	first, second := float64(both+b)/float64(n), float64(both+c)/float64(n)
	l1, u1 := ComputeWilson(both+b, n, confidence)
	l2, u2 := ComputeWilson(both+c, n, confidence)
	phi := computeCorrelation(float64(both), float64(b), float64(c), float64(none))
	half := func(x, y float64) float64 { return math.Sqrt(max(0, x*x-2*phi*x*y+y*y)) }
	d := second - first
	return d - half(second-l2, u1-first), d + half(u2-second, first-l1)
}

// computeCorrelation is that of the two outcomes, with the continuity correction of Newcombe's
// method 10.
func computeCorrelation(both, b, c, none float64) float64 {
	margins := (both + b) * (c + none) * (both + c) * (b + none)
	if margins == 0 {
		return 0
	}
	d := both*none - b*c
	if d > 0 {
		d = max(0, d-(both+b+c+none)/2)
	}
	return d / math.Sqrt(margins)
}
