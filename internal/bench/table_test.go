package bench_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// measurement is what one pair of runs tells: ours beside the floor, as one
// number for each part.
type measurement struct {
	name   string
	rounds int
	ours   func() []float64
	floor  func() []float64 // nil: none
	parts  []part
}

// part is one line of the table.
type part struct {
	name, unit string
	aim        aim
}

// aim is what a line should stay within: met or missed by its median. CI fails
// at twice of it, by the better quartile, because noise only adds.
type aim struct {
	ratio float64 // ours / floor
	over  float64 // ours - floor, in the line's unit
	most  float64 // ours, in the line's unit
	// slack multiplies what CI lets pass, where the aim is known to be missed
	// (docs/spec/performance.md says why); 0 is 1.
	slack float64
}

// line is a part that was measured.
type line struct {
	part
	ours, floor, ratio, diff spread
	hasFloor                 bool
}

// spread is a median between its quartiles.
type spread struct{ low, mid, high float64 }

func spreadOf(list []float64) spread {
	return spread{quantile(list, .25), quantile(list, .5), quantile(list, .75)}
}

// take runs the rounds. Who begins alternates too.
func (m measurement) take() []line {
	var ours, floor [][]float64
	for i := range m.rounds {
		if m.floor != nil && i%2 == 1 {
			floor = append(floor, m.floor())
			ours = append(ours, m.ours())
			continue
		}
		ours = append(ours, m.ours())
		if m.floor != nil {
			floor = append(floor, m.floor())
		}
	}
	var out []line
	for p := range m.parts {
		l := line{part: m.parts[p], hasFloor: m.floor != nil}
		l.name = m.name + l.name
		var a, b, ratios, diffs []float64
		for i := range ours {
			a = append(a, ours[i][p])
			if l.hasFloor {
				b = append(b, floor[i][p])
				ratios, diffs = append(ratios, a[i]/b[i]), append(diffs, a[i]-b[i])
			}
		}
		l.ours, l.floor, l.ratio, l.diff = spreadOf(a), spreadOf(b), spreadOf(ratios), spreadOf(diffs)
		out = append(out, l)
	}
	return out
}

// worst is how far the line is from its aims: 1 is just there; 0 without any.
func (l line) worst(of func(spread) float64) float64 {
	out := 0.0
	for _, a := range []struct {
		got  spread
		want float64
	}{{l.ratio, l.aim.ratio}, {l.diff, l.aim.over}, {l.ours, l.aim.most}} {
		if a.want > 0 {
			out = max(out, of(a.got)/a.want)
		}
	}
	return out
}

// met tells whether the line is within its aim; failed, whether CI fails.
func (l line) met() bool { return l.worst(func(s spread) float64 { return s.mid }) <= 1 }

func (l line) failed() bool {
	return l.worst(func(s spread) float64 { return s.low }) >= 2*max(1, l.aim.slack)
}

func (l line) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-58s %9.4g", l.name, l.ours.mid)
	if l.hasFloor {
		fmt.Fprintf(&b, " %9.4g %-4s %6.2f (%.2f-%.2f)", l.floor.mid, l.unit, l.ratio.mid, l.ratio.low, l.ratio.high)
	} else {
		fmt.Fprintf(&b, " %9s %-4s %18s", "", l.unit, "")
	}
	var aims []string
	if l.aim.ratio > 0 {
		aims = append(aims, fmt.Sprintf("≤ %gx", l.aim.ratio))
	}
	if l.aim.over > 0 {
		aims = append(aims, fmt.Sprintf("≤ +%g %s (%+.1f)", l.aim.over, l.unit, l.diff.mid))
	}
	if l.aim.most > 0 {
		aims = append(aims, fmt.Sprintf("≤ %g %s", l.aim.most, l.unit))
	}
	switch {
	case len(aims) == 0:
	case l.failed():
		aims = append(aims, "FAILED")
	case l.met():
		aims = append(aims, "met")
	default:
		aims = append(aims, "MISSED")
	}
	return strings.TrimRight(b.String()+"  "+strings.Join(aims, ", "), " ")
}

// quantile interpolates; NaN of nothing.
func quantile(list []float64, q float64) float64 {
	if len(list) == 0 {
		return math.NaN()
	}
	s := slices.Sorted(slices.Values(list))
	at := q * float64(len(s)-1)
	i := int(at)
	if i+1 == len(s) {
		return s[i]
	}
	return s[i] + (at-float64(i))*(s[i+1]-s[i])
}

func TestQuantile(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		list []float64
		q    float64
		want float64
	}{
		{[]float64{3, 1, 2}, .5, 2}, {[]float64{4, 1, 2, 3}, .5, 2.5}, {[]float64{7}, .25, 7}, {[]float64{0, 10}, .75, 7.5},
	} {
		if got := quantile(tc.list, tc.q); got != tc.want {
			t.Errorf("quantile(%v, %v) = %v, want %v", tc.list, tc.q, got, tc.want)
		}
	}
}

func TestAimOfALine(t *testing.T) {
	t.Parallel()
	fixed := func(v float64) func() []float64 { return func() []float64 { return []float64{v} } }
	for _, tc := range []struct {
		aim         aim
		met, failed bool
	}{
		{aim{}, true, false},
		{aim{ratio: 3}, true, false},
		{aim{ratio: 2}, false, false},
		{aim{ratio: 1.5}, false, true},
		{aim{ratio: 1.5, slack: 2}, false, false},
		{aim{ratio: .5, slack: 2}, false, true},
		{aim{over: 40}, true, false},
		{aim{over: 10}, false, true},
		{aim{most: 15}, false, true},
		{aim{ratio: 3, most: 60}, true, false},
		{aim{ratio: 3, most: 20}, false, false},
	} {
		l := measurement{rounds: 3, ours: fixed(30), floor: fixed(10), parts: []part{{aim: tc.aim}}}.take()[0]
		if l.met() != tc.met || l.failed() != tc.failed {
			t.Errorf("30 beside 10, %+v: met %v, failed %v, want %v, %v", tc.aim, l.met(), l.failed(), tc.met, tc.failed)
		}
	}
}
