package stats

import "math"

// Sequential is a sequential probability ratio test between a good share (at least Want)
// and a bad one (at most Floor). Both wrong verdicts have the probability 1-Confidence.
type Sequential struct {
	Want, Floor, Confidence float64
	Max                     int // trials after which there is no verdict
}

// Verdict is what a test says after some trials.
type Verdict int

// Verdicts.
const (
	Undecided Verdict = iota
	Good
	Bad
)

// Verdict returns what the outcomes so far decide.
func (d Sequential) Verdict(passed, failed int) Verdict {
	ratio := 0.0
	if passed > 0 { // a floor near 0 has the ratio +Inf
		ratio = float64(passed) * math.Log(d.Want/d.Floor)
	}
	if failed > 0 { // if every trial is wanted to pass, one failure has the ratio -Inf
		ratio += float64(failed) * math.Log((1-d.Want)/(1-d.Floor))
	}
	bound := d.bound() - 1e-9
	switch {
	case ratio >= bound:
		return Good
	case ratio <= -bound:
		return Bad
	}
	return Undecided
}

func (d Sequential) bound() float64 { return math.Log(d.Confidence / (1 - d.Confidence)) }

// CountLeast returns the number of passes in a row that decide: with fewer trials the verdict
// can't be [Good].
func (d Sequential) CountLeast() int {
	n := math.Ceil((d.bound() - 1e-9) / math.Log(d.Want/d.Floor))
	return max(1, int(math.Min(n, math.MaxInt32)))
}

// largestFixed is the largest size that is computed exactly; an approximation is near
// enough for larger ones.
const largestFixed = 2000

// CountFixed returns the number of trials that a test of fixed size needs for the same
// probabilities of a wrong verdict.
func (d Sequential) CountFixed() int {
	q := z(2*d.Confidence - 1)
	spread := math.Sqrt(d.Want*(1-d.Want)) + math.Sqrt(d.Floor*(1-d.Floor))
	root := q * spread / (d.Want - d.Floor)
	about := root * root
	if about > largestFixed {
		return int(math.Min(math.Ceil(about), math.MaxInt32))
	}
	for n := max(1, int(about/2)); ; n++ {
		// need is the smallest number of passes that a bad share hardly reaches.
		need := 0
		for need <= n && computeAtLeast(need, n, d.Floor) > 1-d.Confidence {
			need++
		}
		if need <= n && computeAtLeast(need, n, d.Want) >= d.Confidence {
			return n
		}
	}
}

// computeAtLeast is the probability of k or more passes in n trials with the share p.
func computeAtLeast(k, n int, p float64) float64 {
	if k <= 0 {
		return 1
	}
	return computeBeta(p, float64(k), float64(n-k+1))
}

// EstimateAllPass estimates, from s passes in n trials, the probability that k trials all pass:
// C(s,k)/C(n,k).
func EstimateAllPass(s, n, k int) float64 {
	p := 1.0
	for i := range k {
		p *= max(0, float64(s-i)) / float64(n-i)
	}
	return p
}
