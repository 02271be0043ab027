package leak

import (
	"math"
	"slices"
)

// Verdict is what the samples show.
type Verdict string

// Verdicts.
const (
	Leaks        Verdict = "leaks"
	NoneShown    Verdict = "none shown"
	Inconclusive Verdict = "inconclusive"
)

// Bounds say what counts as a leak.
type Bounds struct {
	Least float64 `json:"least"` // growth per unit that matters
	Rise  float64 `json:"rise"`  // by which it must have risen in all
	From  int     `json:"from"`  // units before a leak is called one
	Clear int     `json:"clear"` // units before nothing is called clean
	Steep float64 `json:"-"`     // a rise that is a leak after fewer units
	Exact int     `json:"-"`     // units before the same growth in each of them is called a leak; 0: From
}

// MemoryBounds are the bounds of memory in bytes: heaps grow by tens of megabytes before they
// settle. Node.js collects what is outside of its heap only after 64 MiB, of which the
// estimate sees 64 %: a leak rises by more.
func MemoryBounds(least float64) Bounds {
	return Bounds{Least: least, Rise: 44 << 20, From: 4000, Clear: 2000, Steep: 256 << 20}
}

// Count are the bounds of what is counted.
func Count() Bounds {
	return Bounds{Least: 0.05, Rise: 20, From: First, Clear: First, Steep: math.Inf(1), Exact: 300}
}

// First is the number of units before the first estimate; each further one has twice as
// many.
const First = 500

// parts is the number of parts of a window. The minimum of a part is a trough between two
// collections of garbage.
const parts = 12

// keeps is the share of its slope that a leak keeps; what saturates loses more.
const keeps = 0.6

// exactly is the share in which the bounds of a slope agree if each unit adds the same.
const exactly = 0.7

// Slope is the growth per unit in a window, with its interval at 99 %.
type Slope struct {
	Value float64 `json:"value"`
	Level float64 `json:"level"` // in the middle of the window
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// exact reports whether the bounds of the slope agree.
func (s Slope) exact() bool { return s.Low >= exactly*s.High }

// Estimated is the result of an estimate.
type Estimated struct {
	Verdict Verdict `json:"verdict"`
	Earlier Slope   `json:"earlier"` // of the second quarter of the samples
	Later   Slope   `json:"later"`   // of their second half
	From    float64 `json:"from"`    // the level at the beginning of the second quarter
	To      float64 `json:"to"`      // and at the end
}

// Rise is by how much the samples rose from the second quarter to the end.
func (e Estimated) Rise() float64 { return e.To - e.From }

// Estimate decides whether samples, one after each unit, grow without end. It compares the
// troughs of two windows, because slopes over a whole run take the growth of a heap that
// settles for a leak.
func Estimate(samples []float64, b Bounds) Estimated {
	n := len(samples)
	if n < 4*parts {
		return Estimated{Verdict: Inconclusive}
	}
	earlier, later := findTroughs(samples[n/4:n/2]), findTroughs(samples[n/2:])
	e := Estimated{
		Verdict: Inconclusive, Earlier: fitSlope(earlier, n/2-n/4), Later: fitSlope(later, n-n/2),
		From: findMedian(earlier[:3]), To: findMedian(later[parts-3:]),
	}
	keep := keeps
	if b.Exact > 0 { // what each unit adds is the same, unlike the memory of a heap
		keep = 0.8
	}
	isHigh := e.Earlier.Low > 0 && e.Later.Low > 0 && e.Later.Low > b.Least/2
	grows := isHigh && e.Later.Value >= keep*e.Earlier.Value
	if b.Exact > 0 && hasReleased(samples[n/4:], b.Rise) {
		grows = false
	}
	isExact := e.Earlier.exact() && e.Later.exact() && e.Later.Value <= e.Earlier.Value/exactly
	early := b.Exact > 0 && n >= b.Exact && isExact
	switch {
	case grows && ((n >= b.From || early) && e.Rise() >= b.Rise || e.Rise() >= b.Steep):
		e.Verdict = Leaks
	case n >= b.Clear && e.Later.High < b.Least && e.Rise() < b.Rise:
		e.Verdict = NoneShown
	}
	return e
}

// hasReleased reports whether what had risen has once been given back by half: a collection
// or a time does so, and will again.
func hasReleased(samples []float64, rise float64) bool {
	least, most := samples[0], samples[0]
	for _, v := range samples {
		least, most = min(least, v), max(most, v)
		if most-least >= rise && v-least < (most-least)/2 {
			return true
		}
	}
	return false
}

// CountEnough estimates how many units would decide if the growth goes on as it is.
func (e Estimated) CountEnough(n int, b Bounds) int {
	enough := max(2*n, b.From, b.Clear)
	if e.Later.Low > b.Least/2 { // between the troughs whose levels are compared are 64 % of the units
		enough = max(enough, int(b.Rise/(0.64*e.Later.Value)))
	}
	return (enough + First - 1) / First * First
}

// findTroughs returns the minimum of each part of a window.
func findTroughs(window []float64) []float64 {
	low := make([]float64, parts)
	for i := range low {
		low[i] = slices.Min(window[i*len(window)/parts : (i+1)*len(window)/parts])
	}
	return low
}

// fitSlope is the median of the slopes between all pairs of troughs (Theil and Sen), with
// Sen's interval: ranks among those slopes.
func fitSlope(low []float64, window int) Slope {
	var all []float64
	for i := range low {
		for j := range i {
			all = append(all, (low[i]-low[j])/float64(i*window/parts-j*window/parts))
		}
	}
	slices.Sort(all)
	const m, z99 = parts, 2.576
	n := float64(len(all))
	half := z99 * math.Sqrt(m*(m-1)*(2*m+5)/18.0)
	first, last := int((n-half)/2)-1, int(math.Ceil((n+half)/2))
	return Slope{findMedian(all), findMedian(low), all[first], all[last]}
}

// findMedian returns the median, of an even number the mean of the middle two.
func findMedian(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
