package leak_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"mcptest/internal/base/testkit"
	"mcptest/internal/run/leak"
)

const (
	kib = 1 << 10
	mib = 1 << 20
)

// heaps are models of how the memory of a clean server moves, in bytes after each session.
// garbage is collected when a heap has grown by a factor or a step, and what was collected
// is given back, or is not.
var heaps = map[string]func(r *rand.Rand) func(i int) float64{
	"Go": func(r *rand.Rand) func(int) float64 { // GOGC: collected at twice the living heap
		used := 0.0
		return func(int) float64 {
			if used += 6 * kib * (0.5 + r.Float64()); used > 8*mib {
				used = 0
			}
			return 14*mib + used
		}
	},
	"Node": func(r *rand.Rand) func(int) float64 { // the heap grows from 46 to 95 MiB in 2,000 sessions
		young := 0.0
		return func(i int) float64 {
			if young += 20 * kib * r.Float64(); young > 2*mib {
				young = 0
			}
			return 46*mib + 49*mib*(1-math.Exp(-float64(i)/600)) + young
		}
	},
	"Node in steps": func(r *rand.Rand) func(int) float64 { // old generation doubles its limit, then a full collection
		base, old := 50.0*mib, 0.0
		return func(i int) float64 {
			if old += 100 * kib * (0.5 + r.Float64()); old > 16*mib {
				old = 0
				base = min(base+3*mib*r.Float64(), 60*mib)
			}
			return base + old
		}
	},
	"Python": func(r *rand.Rand) func(int) float64 { // arenas: flat, with steps at the beginning
		level := 24.0 * mib
		return func(i int) float64 {
			if r.Float64() < 40/float64(i+100)/10 {
				level += 256 * kib
			}
			return level + 128*kib*r.Float64()
		}
	},
	"Node with buffers": func(r *rand.Rand) func(int) float64 { // outside of the heap: collected after 64 MiB
		used, each := 0.0, 30*kib*r.Float64()
		return func(i int) float64 {
			if used += each * (0.9 + 0.2*r.Float64()); used > 64*mib {
				used = 0
			}
			return 30*mib + 8*mib*(1-math.Exp(-float64(i)/300)) + used
		}
	},
	"JVM":              func(r *rand.Rand) func(int) float64 { return teeth(r, 400*kib) },
	"rare collections": func(r *rand.Rand) func(int) float64 { return teeth(r, 60*kib) },
	"cache in steps": func(r *rand.Rand) func(int) float64 { // up to 20 MiB, a table doubles
		return func(i int) float64 {
			size := math.Exp2(math.Floor(math.Log2(float64(i + 1))))
			return 30*mib + min(20*mib, 4*kib*size) + 300*kib*r.Float64()
		}
	},
	"cache": func(r *rand.Rand) func(int) float64 { // linear up to 20 MiB
		full := 1000 + 3000*r.Float64()
		return func(i int) float64 { return 30*mib + 20*mib*min(1, float64(i)/full) + 300*kib*r.Float64() }
	},
	"fragmentation": func(r *rand.Rand) func(int) float64 {
		return func(i int) float64 { return 30*mib + 3*mib*math.Log(float64(i+1)) + 200*kib*r.Float64() }
	},
	"noise": func(r *rand.Rand) func(int) float64 {
		return func(int) float64 { return 80*mib + 12*mib*r.Float64() + 4*mib*r.NormFloat64() }
	},
}

// teeth is a heap that is collected when it has grown by 64 MiB.
func teeth(r *rand.Rand, garbage float64) func(int) float64 {
	used := 0.0
	return func(int) float64 {
		if used += garbage * (0.5 + r.Float64()); used > 64*mib {
			used = 6 * mib * r.Float64()
		}
		return 120*mib + used
	}
}

// decide takes samples as a run does: twice as many until the verdict is clear.
func decide(next func(int) float64, b leak.Bounds, most int) (leak.Estimated, int) {
	var samples []float64
	for n := leak.First; ; n *= 2 {
		for len(samples) < min(n, most) {
			samples = append(samples, next(len(samples)))
		}
		if e := leak.Estimate(samples, b); e.Verdict != leak.Inconclusive || n >= most {
			return e, len(samples)
		}
	}
}

// No clean heap is accused, and a leak of 10 KiB a session on top of it is found by 8,000
// sessions. A run that its time limit ends at any number of sessions accuses none either.
func TestHeaps(t *testing.T) {
	t.Parallel()
	t.Run("counts", counts)
	rounds := testkit.Count(60, 600)
	for name, heap := range heaps {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			verdicts, late := map[leak.Verdict]int{}, 0
			for seed := range rounds {
				e, n := decide(heap(rand.New(rand.NewPCG(1, uint64(seed)))), leak.MemoryBounds(kib), 16_000)
				if verdicts[e.Verdict]++; e.Verdict == leak.Leaks {
					t.Errorf("seed %d: a clean heap is accused after %d sessions: %+v", seed, n, e)
				}
				r := rand.New(rand.NewPCG(2, uint64(seed)))
				if e, n := decide(heap(r), leak.MemoryBounds(kib), 600+r.IntN(15_000)); e.Verdict == leak.Leaks {
					t.Errorf("seed %d: a clean heap is accused after %d sessions: %+v", seed, n, e)
				}
				clean := heap(rand.New(rand.NewPCG(3, uint64(seed))))
				e, n = decide(func(i int) float64 { return clean(i) + 10*kib*float64(i) }, leak.MemoryBounds(kib), 16_000)
				if name == "rare collections" || name == "Node with buffers" { // a part of a window may have no trough
					continue
				}
				if n > 8000 {
					late++
				}
				if e.Verdict != leak.Leaks {
					t.Errorf("seed %d: a leak of 10 KiB is %s after %d sessions: %+v", seed, e.Verdict, n, e)
				}
			}
			if late > rounds/100 {
				t.Errorf("%d of %d leaks of 10 KiB are found after more than 8,000 sessions", late, rounds)
			}
			t.Log(verdicts)
		})
	}
}

// pools are models of how descriptors, threads and processes of clean servers move.
var pools = map[string]func(r *rand.Rand) func(i int) float64{
	"pool": func(r *rand.Rand) func(int) float64 { // one more with each unit, up to its size
		size := 4 + r.IntN(253)
		return func(i int) float64 { return 12 + float64(min(i, size)) }
	},
	"pool that fills by chance": func(r *rand.Rand) func(int) float64 {
		open, size := 0.0, float64(4+r.IntN(253))
		return func(int) float64 {
			if r.Float64() > open/size {
				open++
			}
			return 12 + open + float64(r.IntN(3))
		}
	},
	"kept alive": func(r *rand.Rand) func(int) float64 { // a connection closes some units later
		units := 10 + r.IntN(240)
		return func(i int) float64 { return 12 + float64(min(i, units)) + float64(r.IntN(3)) }
	},
	"closed by the collector": func(r *rand.Rand) func(int) float64 {
		open := 0.0
		return func(int) float64 {
			if open++; r.Float64() < 0.025 {
				open = 0
			}
			return 12 + open
		}
	},
	"closed now and then": func(r *rand.Rand) func(int) float64 {
		open, every := 0.0, 20+180*r.Float64()
		return func(int) float64 {
			if open++; open > every*(0.8+0.4*r.Float64()) {
				open = 0
			}
			return 12 + open
		}
	},
	"threads": func(r *rand.Rand) func(int) float64 { // a runtime starts more, ever less often
		n := 8.0
		return func(i int) float64 {
			if r.Float64() < 6/float64(i+20) {
				n++
			}
			return n
		}
	},
}

// Of 600 runs of a clean server at most one is accused by what is counted, however long the
// run is. What is added by each unit is found by 300 units, and what some units add by 500.
func counts(t *testing.T) {
	t.Parallel()
	for name, pool := range pools {
		accused := 0
		for seed := range testkit.Count(600, 6000) {
			r := rand.New(rand.NewPCG(4, uint64(seed)))
			if e, n := decide(pool(r), leak.Count(), 48+r.IntN(1500)); e.Verdict == leak.Leaks {
				accused++
				t.Logf("%s, seed %d: a clean server is accused after %d units: %+v", name, seed, n, e)
			}
		}
		if accused > testkit.Count(600, 6000)/600 {
			t.Errorf("%s: %d clean servers are accused", name, accused)
		}
	}
	for seed := range testkit.Count(600, 6000) {
		r := rand.New(rand.NewPCG(5, uint64(seed)))
		each := []float64{1, 2, 5}[seed%3]
		leaks := func(i int) float64 { return 12 + math.Floor(each*float64(i)) + float64(r.IntN(3)) }
		n := 300 + r.IntN(200)
		if e, _ := decide(leaks, leak.Count(), n); e.Verdict != leak.Leaks || math.Abs(e.Later.Value-each) > 0.05*each {
			t.Errorf("seed %d: %g a unit is %s after %d units: %+v", seed, each, e.Verdict, n, e)
		}
		if e, _ := decide(func(i int) float64 { return 12 + math.Floor(0.15*float64(i)) + float64(r.IntN(3)) }, leak.Count(), 500); e.Verdict != leak.Leaks {
			t.Errorf("seed %d: 0.15 a unit is %s: %+v", seed, e.Verdict, e)
		}
	}
}

// Exact growth gives the exact slope, and nothing but the bounds decides.
func TestEstimate(t *testing.T) {
	t.Parallel()
	line := func(n int, from, slope float64) (out []float64) {
		for i := range n {
			out = append(out, from+slope*float64(i))
		}
		return out
	}
	for _, tt := range []struct {
		name    string
		samples []float64
		b       leak.Bounds
		want    leak.Verdict
	}{
		{"too few", line(47, 0, 1e9), leak.MemoryBounds(kib), leak.Inconclusive},
		{"one descriptor each", line(500, 12, 1), leak.Count(), leak.Leaks},
		{"a descriptor for ten sessions", line(500, 12, 0.1), leak.Count(), leak.Leaks},
		{"no descriptor", line(500, 12, 0), leak.Count(), leak.NoneShown},
		{"a count, earlier than the first estimate", line(499, 12, 0), leak.Count(), leak.Inconclusive},
		{"one descriptor each, in a short run", line(300, 12, 1), leak.Count(), leak.Leaks},
		{"one descriptor each, in a run too short", line(299, 12, 1), leak.Count(), leak.Inconclusive},
		{"a pool of 250 threads, in a short run", slices.Concat(line(250, 12, 1), line(60, 262, 0)), leak.Count(), leak.Inconclusive},
		{"one descriptor each, after a start with many", slices.Concat(line(10, 400, 0), line(490, 12, 1)), leak.Count(), leak.Leaks},
		{"few descriptors in all", line(500, 12, 0.04), leak.Count(), leak.NoneShown},
		{"memory, too early", line(2000, 0, 10*kib), leak.MemoryBounds(kib), leak.Inconclusive},
		{"memory, too small a rise", line(4000, 0, 10*kib), leak.MemoryBounds(kib), leak.Inconclusive},
		{"memory", line(8000, 0, 10*kib), leak.MemoryBounds(kib), leak.Leaks},
		{"memory, steep", line(500, 0, mib), leak.MemoryBounds(kib), leak.Leaks},
		{"half of the least", line(64_000, 0, 512), leak.MemoryBounds(kib), leak.NoneShown},
		{"falling", line(4000, 1e9, -kib), leak.MemoryBounds(kib), leak.NoneShown},
		{"slower and slower", slices.Concat(line(2000, 0, 40*kib), line(2000, 2000*40*kib, 20*kib), line(4000, 2000*60*kib, 6*kib)), leak.MemoryBounds(kib), leak.Inconclusive},
	} {
		e := leak.Estimate(tt.samples, tt.b)
		testkit.Equal(t, tt.name, e.Verdict, tt.want)
	}
	exact := func(s leak.Slope) leak.Slope {
		return leak.Slope{Value: 10 * kib, Level: s.Level, Low: 10 * kib, High: 10 * kib}
	}
	e := leak.Estimate(line(8000, 5*mib, 10*kib), leak.MemoryBounds(kib))
	testkit.Equal(t, "the slope", fmt.Sprint(e.Later, e.Earlier), fmt.Sprint(exact(e.Later), exact(e.Earlier)))
	small := leak.MemoryBounds(kib)
	half := leak.Estimate(line(4000, 0, 10*kib), small)
	if n := half.CountEnough(4000, small); leak.Estimate(line(n, 0, 10*kib), small).Verdict != leak.Leaks {
		t.Errorf("%d sessions do not decide", n)
	}
	slow := leak.Estimate(line(4000, 0, 2*kib), small)
	if n := slow.CountEnough(4000, small); n < 30_000 || n > 40_000 || leak.Estimate(line(n, 0, 2*kib), small).Verdict != leak.Leaks {
		t.Errorf("%d sessions do not decide", n)
	}
}

// What an estimate must not depend on: the level, the unit, and the order of luck.
func TestEstimateProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(leak.First, 6000).Draw(t, "n")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 7))
		slope := rapid.Float64Range(-20*kib, 20*kib).Draw(t, "slope")
		noise := rapid.Float64Range(0, 8*mib).Draw(t, "noise")
		samples := make([]float64, n)
		for i := range samples {
			samples[i] = math.Round(100*mib + slope*float64(i) + noise*r.Float64())
		}
		b := leak.MemoryBounds(kib)
		e := leak.Estimate(samples, b)
		for _, s := range []leak.Slope{e.Earlier, e.Later} {
			if s.Low > s.Value || s.Value > s.High {
				t.Fatalf("the slope is outside its interval: %+v", s)
			}
		}
		if e.Verdict == leak.Leaks && e.Later.High <= b.Least/2 || e.Verdict == leak.NoneShown && e.Later.Low >= b.Least {
			t.Fatalf("the verdict contradicts the interval: %+v", e)
		}
		higher := slices.Clone(samples)
		for i := range higher {
			higher[i] += 1 << 30
		}
		if up := leak.Estimate(higher, b); up.Verdict != e.Verdict || math.Abs(up.Later.Value-e.Later.Value) > 1 {
			t.Fatalf("the level changes the estimate: %+v, %+v", e, up)
		}
		if again := leak.Estimate(samples, b); again != e {
			t.Fatalf("another estimate of the same samples: %+v, %+v", e, again)
		}
		if enough := e.CountEnough(n, b); enough < 2*n || enough < b.Clear {
			t.Fatalf("%d are enough after %d", enough, n)
		}
	})
}
