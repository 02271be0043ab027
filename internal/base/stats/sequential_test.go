package stats_test

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"mcptest/internal/base/stats"
)

// rational is a design with exact numbers, for a reference without logarithms: the
// probability of the outcomes with the good share, divided by that with the bad one, is
// compared with the bounds.
type rational struct {
	want, floor, confidence string
	max                     int
}

func (d rational) reference(passes []bool) (verdict stats.Verdict, trials int) {
	num := func(s string) *big.Rat { r, _ := new(big.Rat).SetString(s); return r }
	one := big.NewRat(1, 1)
	want, floor, sure := num(d.want), num(d.floor), num(d.confidence)
	upper := new(big.Rat).Quo(sure, new(big.Rat).Sub(one, sure))
	lower := new(big.Rat).Inv(upper)
	ratio := big.NewRat(1, 1)
	for i, pass := range passes {
		if pass {
			ratio.Mul(ratio, new(big.Rat).Quo(want, floor))
		} else {
			ratio.Mul(ratio, new(big.Rat).Quo(new(big.Rat).Sub(one, want), new(big.Rat).Sub(one, floor)))
		}
		switch {
		case ratio.Cmp(upper) >= 0:
			return stats.Good, i + 1
		case ratio.Cmp(lower) <= 0:
			return stats.Bad, i + 1
		}
	}
	return stats.Undecided, len(passes)
}

func (d rational) design() stats.Sequential {
	f := func(s string) (v float64) { fmt.Sscan(s, &v); return v }
	return stats.Sequential{Want: f(d.want), Floor: f(d.floor), Confidence: f(d.confidence), Max: d.max}
}

// The verdict and the number of trials of every sequence of outcomes up to 12 are those of
// the reference.
func TestSequentialEqualsReference(t *testing.T) {
	for _, d := range []rational{{"0.9", "0.7", "0.95", 60}, {"0.9", "0.5", "0.9", 30}, {"1", "0.8", "0.95", 20}} {
		design := d.design()
		sequences, decided := 0, map[stats.Verdict]int{}
		for length := 1; length <= 12; length++ {
			for bits := range 1 << length {
				passes := make([]bool, length)
				for i := range passes {
					passes[i] = bits>>i&1 == 1
				}
				passed, n, got := 0, 0, stats.Undecided
				for got == stats.Undecided && n < length {
					if passes[n] {
						passed++
					}
					n++
					got = design.Verdict(passed, n-passed)
				}
				want, trials := d.reference(passes)
				if got != want || n != trials {
					t.Fatalf("%v, %v: verdict %d after %d trials, want %d after %d", d, passes, got, n, want, trials)
				}
				sequences++
				decided[got]++
			}
		}
		if sequences != 8190 || decided[stats.Bad] == 0 {
			t.Errorf("%v: %d sequences, %v", d, sequences, decided)
		}
		t.Logf("%v: %v", d, decided)
	}
}

// outcome is the exact distribution of a sequential test at a true share.
type outcome struct{ good, bad, undecided, mean, covered float64 }

// exactly computes it from the number of paths to every pair of passes and failures.
// interval is the one whose coverage is computed.
func exactly(d stats.Sequential, p float64, interval func(k, n int, confidence float64) (float64, float64)) (o outcome) {
	at := map[int]float64{0: 1} // passes → probability of being undecided
	for n := 1; n <= d.Max; n++ {
		next := map[int]float64{}
		for s, q := range at {
			next[s+1] += q * p
			next[s] += q * (1 - p)
		}
		for s, q := range next {
			v := d.Verdict(s, n-s)
			if v == stats.Undecided && n < d.Max {
				continue
			}
			delete(next, s)
			o.mean += q * float64(n)
			switch v {
			case stats.Good:
				o.good += q
			case stats.Bad:
				o.bad += q
			default:
				o.undecided += q
			}
			if low, high := interval(s, n, 0.95); low <= p && p <= high {
				o.covered += q
			}
		}
		at = next
	}
	return o
}

// The exact properties of the designs of the documentation: docs/spec/trials.md has this
// table.
func TestSequentialProperties(t *testing.T) {
	for _, c := range []struct {
		d                                        stats.Sequential
		passAtFloor, failAtWant, undecidedAtWant float64 // percent
		meanFloor, meanWant                      float64
		fixed                                    int
	}{
		{stats.Sequential{Want: 0.9, Floor: 0.7, Confidence: 0.95, Max: 25}, 2.9, 2.6, 34, 16, 19, 41},
		{stats.Sequential{Want: 0.9, Floor: 0.7, Confidence: 0.95, Max: 60}, 4.3, 3.3, 3.8, 20, 24, 41},
		{stats.Sequential{Want: 0.9, Floor: 0.7, Confidence: 0.95, Max: 100}, 4.5, 3.4, 0.2, 20, 25, 41},
		{stats.Sequential{Want: 0.9, Floor: 0.5, Confidence: 0.95, Max: 30}, 3.4, 2.9, -1, 6.5, 8.6, 13},
	} {
		floor, want := exactly(c.d, c.d.Floor, stats.ComputeClopperPearson), exactly(c.d, c.d.Want, stats.ComputeClopperPearson)
		t.Logf("max %3d: pass at floor %.2f %%, fail at want %.2f %%, inconclusive at want %.2f %%, mean %.2f / %.2f / %d, fixed %d, covered %.2f %%",
			c.d.Max, 100*floor.good, 100*want.bad, 100*want.undecided, floor.mean, want.mean, c.d.CountLeast(), c.d.CountFixed(), 100*floor.covered)
		if floor.good > 0.05 || want.bad > 0.05 {
			t.Errorf("max %d: wrong verdicts %.4f and %.4f", c.d.Max, floor.good, want.bad)
		}
		near := func(what string, got, want, by float64) {
			if want >= 0 && math.Abs(got-want) > by {
				t.Errorf("max %d: %s is %.3f, documented %.3f", c.d.Max, what, got, want)
			}
		}
		near("pass at floor", 100*floor.good, c.passAtFloor, 0.051)
		near("fail at want", 100*want.bad, c.failAtWant, 0.051)
		near("inconclusive at want", 100*want.undecided, c.undecidedAtWant, 0.51)
		near("mean at floor", floor.mean, c.meanFloor, 0.51)
		near("mean at want", want.mean, c.meanWant, 0.51)
		if c.d.CountFixed() != c.fixed {
			t.Errorf("fixed size %d, documented %d", c.d.CountFixed(), c.fixed)
		}
		if most := max(floor.mean, want.mean); most > 0.7*float64(c.fixed) {
			t.Errorf("max %d: mean trials %.1f of %d", c.d.Max, most, c.fixed)
		}
		if sum := floor.good + floor.bad + floor.undecided; math.Abs(sum-1) > 1e-9 {
			t.Errorf("probabilities sum to %g", sum)
		}
		if floor.covered < 0.943 {
			t.Errorf("max %d: Clopper–Pearson covers %.3f of the truth at the floor", c.d.Max, floor.covered)
		}
		if wilson := exactly(c.d, c.d.Floor, stats.ComputeWilson); c.d.Floor == 0.7 && wilson.covered > 0.88 {
			t.Errorf("max %d: Wilson covers %.3f, the documentation says it does not", c.d.Max, wilson.covered)
		}
	}
	strict := stats.Sequential{Want: 1, Floor: 0.8, Confidence: 0.95, Max: 20}
	if strict.CountLeast() != 14 || strict.Verdict(13, 0) != stats.Undecided || strict.Verdict(14, 0) != stats.Good || strict.Verdict(13, 1) != stats.Bad || strict.CountFixed() != 14 {
		t.Errorf("want 1: least %d, fixed %d", strict.CountLeast(), strict.CountFixed())
	}
	if close := (stats.Sequential{Want: 0.901, Floor: 0.9, Confidence: 0.999}); close.CountFixed() < 1_000_000 || close.CountLeast() < 1000 {
		t.Errorf("close shares: fixed %d, least %d", close.CountFixed(), close.CountLeast())
	}
}

func TestAllPass(t *testing.T) {
	for _, c := range []struct {
		s, n, k int
		want    float64
	}{{23, 24, 1, 23. / 24}, {23, 24, 3, 21. / 24}, {10, 10, 3, 1}, {2, 10, 3, 0}, {8, 10, 2, 28. / 45}} {
		if got := stats.EstimateAllPass(c.s, c.n, c.k); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("AllPass(%d, %d, %d) = %g, want %g", c.s, c.n, c.k, got, c.want)
		}
	}
}
