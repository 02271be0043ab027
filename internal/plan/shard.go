package plan

import (
	"cmp"
	"slices"
	"time"
)

// MaxShards is the largest number of shards that a plan is split into.
const MaxShards = 1000

// Costs are what the cases of a file took when they last ran.
type Costs struct {
	// Around is the time of the file's own bracket.
	Around time.Duration
	// Cases are the times by case name. A name that is missing is taken to
	// cost what the known ones do on average.
	Cases map[string]time.Duration
}

// least is what a case costs in addition to its calls. It keeps cases that take no
// time at all from all going to the same shard.
const least = 50 * time.Microsecond

// unit is what is never split: one case, or all cases of a file that has to
// stay whole.
type unit struct {
	first, cases int // in refs
	cost         time.Duration
}

// Shard keeps the cases of one of total shards and returns their places in the
// plan as it was, ascending. Index counts from 1; 1 of 1 keeps everything.
// Costs are by the index of the file in Files; nil when nothing is known.
//
// The split depends on nothing but the plan and the costs, so every shard that
// computes it from the same data gets the same: each case is in exactly one.
// The cases that cost most are dealt out first, each to the shard that has
// least to do; with nothing known that is dealing in turn. A file that is
// Bound stays whole.
func (p *Plan) Shard(index, total int, costs []Costs) []int {
	units := p.units(costs)
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

// units are what is dealt out, in plan order.
func (p *Plan) units(costs []Costs) []unit {
	cost := p.costs(costs)
	var out []unit
	whole := map[int]int{} // file → its place in out
	for i := range p.refs {
		n := p.FileOf(i)
		at, begun := whole[n]
		if begun {
			out[at].cases++
			out[at].cost += cost[i]
			continue
		}
		u := unit{first: i, cases: 1, cost: cost[i]}
		if p.Files[n].Bound() {
			whole[n] = len(out)
			if n < len(costs) {
				u.cost += costs[n].Around
			}
		}
		out = append(out, u)
	}
	return out
}

// costs are the costs of the cases, in plan order; all the same when nothing
// is known of any.
func (p *Plan) costs(known []Costs) []time.Duration {
	out := make([]time.Duration, len(p.refs))
	var sum time.Duration
	var missing []int
	for i := range p.refs {
		n := p.FileOf(i)
		if n < len(known) && len(known[n].Cases) > 0 {
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

// Bound reports whether the file's cases belong into one shard. They do when
// the suite says that the file runs as a whole (parallel: false), and when the
// file has a bracket of its own (beforeAll, setup, teardown, afterAll), which
// may stand for one state of the world that all its cases share. A suite that
// says parallel: n promises that its cases are independent: they are split, and
// each shard opens the bracket for itself. Flags don't matter here.
func (f *File) Bound() bool {
	if f.Options.Whole {
		return true
	}
	if o := f.Suite.Options.Parallel; o != nil && !o.Auto && o.N > 1 {
		return false
	}
	return len(f.BeforeAll)+len(f.AfterAll)+len(f.Setup)+len(f.Teardown) > 0
}
