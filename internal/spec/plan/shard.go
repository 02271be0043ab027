package plan

import (
	"cmp"
	"slices"
	"time"
)

// MaxShards is the largest number of shards.
const MaxShards = 1000

// Costs are the durations of the last run of a file's cases.
type Costs struct {
	// SetupAndTeardown is the duration of the file's own hooks and fixture steps.
	SetupAndTeardown time.Duration
	// Cases are the durations by case name. A missing case is assumed to take the
	// average of the others.
	Cases map[string]time.Duration
}

// least is the overhead of a case. It prevents all cases with a duration of zero
// from going to the same shard.
const least = 50 * time.Microsecond

// unit is one case, or all cases of a file that must not be split.
type unit struct {
	first, cases int // in refs
	cost         time.Duration
}

// Shard keeps the cases of one of total shards and returns their indexes in the
// original plan, in ascending order. index counts from 1; 1 of 1 keeps everything.
// costs has the indexes of Files; it is nil if nothing is known.
//
// The split depends only on the plan and the costs, so every shard computes the
// same one from the same data, and each case is in exactly one shard. The most
// expensive cases are assigned first, each to the shard with the lowest total;
// without costs they are assigned in turn. A file that is Bound is not split.
func (p *Plan) Shard(index, total int, costs []Costs) []int {
	units := p.listUnits(costs)
	slices.SortStableFunc(units, func(a, b unit) int { return cmp.Compare(b.cost, a.cost) })
	load := make([]time.Duration, total)
	var places []int
	for _, u := range units {
		to := 0
		for i := range load {
			if load[i] < load[to] {
				to = i
			}
		}
		load[to] += u.cost
		if to == index-1 {
			for i := range u.cases {
				places = append(places, u.first+i)
			}
		}
	}
	slices.Sort(places)
	p.Arrange(places)
	return places
}

// listUnits returns the units to assign, in plan order.
func (p *Plan) listUnits(costs []Costs) []unit {
	cost := p.costs(costs)
	var out []unit
	whole := map[int]int{} // file → its index in out
	for i := range p.refs {
		n := p.FileOf(i)
		if at, begun := whole[n]; begun {
			out[at].cases++
			out[at].cost += cost[i]
			continue
		}
		u := unit{first: i, cases: 1, cost: cost[i]}
		if p.Files[n].Bound() {
			whole[n] = len(out)
			if n < len(costs) {
				u.cost += costs[n].SetupAndTeardown
			}
		}
		out = append(out, u)
	}
	return out
}

// costs returns the costs of the cases in plan order; they are all equal if no
// duration is known.
func (p *Plan) costs(known []Costs) []time.Duration {
	out := make([]time.Duration, len(p.refs))
	var sum time.Duration
	var missing []int
	for i := range p.refs {
		if n := p.FileOf(i); n < len(known) && len(known[n].Cases) > 0 {
			if took, ok := known[n].Cases[p.Name(i)]; ok {
				out[i] = max(took, least)
				sum += out[i]
				continue
			}
		}
		missing = append(missing, i)
	}
	average := least
	if n := len(p.refs) - len(missing); n > 0 {
		average = sum / time.Duration(n)
	}
	for _, i := range missing {
		out[i] = average
	}
	return out
}

// Bound reports whether all cases of the file belong in one shard. That is the case
// if the suite runs the file as a whole (parallel: false), and if the file has
// beforeAll, setup, teardown or afterAll, which may prepare state that all cases
// share. A suite with parallel: n promises that its cases are independent: they are
// split, and each shard runs the file's setup. Flags have no influence.
func (f *File) Bound() bool {
	if f.Options.Whole {
		return true
	}
	if o := f.Suite.Options.Parallel; o != nil && !o.Auto && o.N > 1 {
		return false
	}
	return len(f.BeforeAll)+len(f.AfterAll)+len(f.Setup)+len(f.Teardown) > 0
}
