package load

import (
	"maps"
	"math/bits"
	"slices"
	"time"

	"mcptest/internal/base/stats"
)

// Each power of two of microseconds is divided into 128 steps, so that a value read from a
// histogram differs by at most 0.4 % from the one that was added (or by 1 µs).
const (
	stepBits = 7
	longest  = 100 * time.Second // longer values count as this long; the maximum is exact
)

// Histogram counts durations. The zero value is empty.
type Histogram struct {
	Max    int64       `json:"max_us"`
	Counts map[int]int `json:"counts,omitempty"` // by index of the step
}

// place returns the index of the step that contains a number of microseconds.
func place(us int64) int {
	shift := max(0, bits.Len64(uint64(us))-stepBits-1)
	return shift<<stepBits + int(us>>shift)
}

// computeEdge returns the lower edge of a step in milliseconds; the upper one is that of the next.
func computeEdge(i int) float64 {
	shift := max(0, i>>stepBits-1)
	return float64((i-shift<<stepBits)<<shift) / 1000
}

// Add counts a duration.
func (h *Histogram) Add(d time.Duration) {
	if h.Counts == nil {
		h.Counts = map[int]int{}
	}
	counted := min(max(d, 0), longest)
	h.Counts[place(counted.Microseconds())]++
	h.Max = max(h.Max, d.Microseconds())
}

// Merge adds the counts of another histogram.
func (h *Histogram) Merge(o Histogram) {
	if h.Counts == nil {
		h.Counts = map[int]int{}
	}
	for i, n := range o.Counts {
		h.Counts[i] += n
	}
	h.Max = max(h.Max, o.Max)
}

// isSound reports whether the counts are those of at most so many durations.
func (h *Histogram) isSound(most int) bool {
	for i, n := range h.Counts {
		most -= n
		if i < 0 || i > place(longest.Microseconds()) || n < 0 || most < 0 {
			return false
		}
	}
	return h.Max >= 0
}

// mergeWith returns the histogram with some durations that are longer than any other.
func (h *Histogram) mergeWith(slower int) *Histogram {
	out := &Histogram{}
	out.Merge(*h)
	out.Merge(Histogram{Max: longest.Microseconds(), Counts: map[int]int{place(longest.Microseconds()): slower}})
	return out
}

// Len returns the number of durations.
func (h *Histogram) Len() (n int) {
	for _, c := range h.Counts {
		n += c
	}
	return n
}

// Quantile is a percentile and the interval that contains that of the server with 95 %
// confidence, in milliseconds.
type Quantile struct {
	Value float64  `json:"value_ms"`
	Low   float64  `json:"low_ms"`
	High  *float64 `json:"high_ms"` // null: too few calls for an upper bound
}

// Quantile returns the quantile q, which is 0 if the histogram is empty.
func (h *Histogram) Quantile(q float64) (out Quantile) {
	n, steps := h.Len(), slices.Sorted(maps.Keys(h.Counts))
	if n < 1 {
		return out
	}
	step := func(rank int) int {
		for _, i := range steps {
			if rank -= h.Counts[i]; rank <= 0 {
				return i
			}
		}
		return steps[len(steps)-1]
	}
	most := func(ms float64) float64 { return min(ms, h.longest()) }
	at := step(stats.Nearest(n, q))
	low, high := stats.ComputeRanks(n, q, 0.95)
	out = Quantile{Value: most((computeEdge(at) + computeEdge(at+1)) / 2), Low: most(computeEdge(step(low)))}
	if high <= n {
		out.High = new(most(computeEdge(step(high) + 1)))
	}
	return out
}

// longest returns the maximum in milliseconds.
func (h *Histogram) longest() float64 { return float64(h.Max) / 1000 }
