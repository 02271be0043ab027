package bench_test

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
)

// measurement returns the cost of mcptest and of the floor in one round, as one
// number for each part.
type measurement struct {
	name   string
	rounds int
	ours   func() []float64
	floor  func() []float64 // nil if there is none
	base   func() []float64 // an earlier build of mcptest; nil if none is compared
	parts  []part
}

// part is one line of the table.
type part struct {
	name, unit string
	aim, gate  limits
	// share is the aim of what mcptest adds to the floor, divided by what the earlier
	// build adds; 0 is none.
	share float64
}

// limits of a line. An aim is met if the median is within it. A gate fails CI only if
// the better quartile exceeds all limits that are set, because noise only adds time:
// a floor that is fast by chance makes a large ratio, a busy machine a large
// difference, and only a regression makes both.
type limits struct {
	ratio float64 // mcptest / floor
	over  float64 // mcptest - floor, in the line's unit
	most  float64 // mcptest, in the line's unit
}

// line is a part with its results.
type line struct {
	part
	ours, floor, ratio, diff spread
	hasFloor                 bool
	// base is the earlier build's figure, added the part of the earlier build's addition
	// to the floor that mcptest still adds.
	base, added spread
	hasBase     bool
}

// spread is a median with its quartiles.
type spread struct{ low, mid, high float64 }

func spreadOf(list []float64) spread {
	return spread{quantile(list, .25), quantile(list, .5), quantile(list, .75)}
}

// take runs the rounds and alternates the order of the programs.
func (m measurement) take() []line {
	programs := []func() []float64{m.ours, m.floor, m.base}
	took := make([][][]float64, len(programs))
	for round := range m.rounds {
		for i := range programs {
			i = (i + round) % len(programs)
			if programs[i] != nil {
				took[i] = append(took[i], programs[i]())
			}
		}
	}
	var out []line
	for p := range m.parts {
		out = append(out, m.line(p, took[0], took[1], took[2]))
	}
	return out
}

// line builds one line of the table from the figures of all rounds.
func (m measurement) line(p int, ours, floor, base [][]float64) line {
	l := line{part: m.parts[p], hasFloor: m.floor != nil, hasBase: m.floor != nil && m.base != nil}
	l.name = m.name + l.name
	var a, b, ratios, diffs, c, added []float64
	for i := range ours {
		a = append(a, ours[i][p])
		if l.hasFloor {
			b = append(b, floor[i][p])
			ratios, diffs = append(ratios, a[i]/b[i]), append(diffs, a[i]-b[i])
		}
		if l.hasBase {
			c = append(c, base[i][p])
			added = append(added, (a[i]-b[i])/(c[i]-b[i]))
		}
	}
	l.ours, l.floor, l.ratio, l.diff = spreadOf(a), spreadOf(b), spreadOf(ratios), spreadOf(diffs)
	l.base, l.added = spreadOf(c), spreadOf(added)
	return l
}

// gate takes the measurement, prints its lines, and returns those that fail: a line
// that exceeds its gate is measured again up to two times, and fails if it exceeds
// the gate each time.
func (m measurement) gate(out io.Writer) []line {
	var failing []line
	for try := range 3 {
		var still []line
		for i, l := range m.take() {
			fmt.Fprintln(out, l)
			before := slices.ContainsFunc(failing, func(f line) bool { return f.name == l.name })
			if (try == 0 || before) && l.failed() {
				still = append(still, l)
			} else if before {
				fmt.Fprintf(out, "FLAKY figure %s: beyond its gate at first, and not when measured again\n", m.name+m.parts[i].name)
			}
		}
		if failing = still; len(failing) == 0 {
			break
		}
	}
	return failing
}

// beyond returns the ratio of a figure to each limit that is set: 1 is exactly the
// limit.
func (l line) beyond(of func(spread) float64, at limits) []float64 {
	var out []float64
	for _, a := range []struct {
		got  spread
		want float64
	}{{l.ratio, at.ratio}, {l.diff, at.over}, {l.ours, at.most}} {
		if a.want > 0 {
			out = append(out, of(a.got)/a.want)
		}
	}
	return out
}

// met reports whether the line is within its aim, failed whether it exceeds its gate.
func (l line) met() bool {
	far := l.beyond(func(s spread) float64 { return s.mid }, l.aim)
	if l.hasBase && l.share > 0 {
		far = append(far, l.added.mid/l.share)
	}
	return len(far) == 0 || slices.Max(far) <= 1
}

func (l line) failed() bool {
	far := l.beyond(func(s spread) float64 { return s.low }, l.gate)
	return len(far) > 0 && slices.Min(far) >= 1
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
	if l.hasBase {
		text := fmt.Sprintf("base %.4g, adds %.2f (%.2f-%.2f) of what it adds", l.base.mid, l.added.mid, l.added.low, l.added.high)
		if l.share > 0 {
			text += fmt.Sprintf(", aim %g", l.share)
		}
		aims = append(aims, text)
	}
	switch {
	case l.failed():
		aims = append(aims, "FAILED")
	case len(aims) == 0:
	case l.met():
		aims = append(aims, "met")
	default:
		aims = append(aims, "MISSED")
	}
	return strings.TrimRight(b.String()+"  "+strings.Join(aims, ", "), " ")
}

// quantile interpolates; it returns NaN for an empty list.
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

func TestTargetAndLimitOfALine(t *testing.T) {
	t.Parallel()
	fixed := func(v float64) func() []float64 { return func() []float64 { return []float64{v} } }
	for _, tc := range []struct {
		limits      limits
		met, failed bool
	}{
		{limits{}, true, false},
		{limits{ratio: 3}, true, true}, // exactly at the limit
		{limits{ratio: 3.1}, true, false},
		{limits{ratio: 2}, false, true},
		{limits{over: 40}, true, false},
		{limits{over: 10}, false, true},
		{limits{most: 31}, true, false},
		{limits{most: 15}, false, true},
		{limits{ratio: 3.1, most: 60}, true, false},
		{limits{ratio: 2, most: 60}, false, false}, // one limit alone is missed, which is not a failure
		{limits{ratio: 4, over: 10}, false, false},
		{limits{ratio: 2, over: 10}, false, true},
	} {
		l := measurement{rounds: 3, ours: fixed(30), floor: fixed(10), parts: []part{{aim: tc.limits, gate: tc.limits}}}.take()[0]
		if l.met() != tc.met || l.failed() != tc.failed {
			t.Errorf("30 against 10, %+v: met %v, failed %v, want %v, %v", tc.limits, l.met(), l.failed(), tc.met, tc.failed)
		}
		if strings.HasSuffix(l.String(), "FAILED") != tc.failed {
			t.Errorf("%+v: %s", tc.limits, l)
		}
	}
}

// What mcptest adds to the floor is compared with what an earlier build adds.
func TestShareOfAnEarlierBuild(t *testing.T) {
	t.Parallel()
	fixed := func(v float64) func() []float64 { return func() []float64 { return []float64{v} } }
	for _, tc := range []struct {
		share float64
		met   bool
	}{{0.6, true}, {0.5, true}, {0.4, false}} {
		m := measurement{rounds: 3, ours: fixed(20), floor: fixed(10), base: fixed(30), parts: []part{{share: tc.share}}}
		l := m.take()[0]
		if l.added.mid != 0.5 || l.met() != tc.met || strings.HasSuffix(l.String(), "MISSED") == tc.met {
			t.Errorf("half of what the build adds, aim %g: met %v: %s", tc.share, l.met(), l)
		}
	}
}

// A line that exceeds its gate is measured again, twice at most, and fails if it
// exceeds it each time.
func TestMeasuredAgain(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		took         []float64 // first part: only values over 10 exceed the gate
		failed       bool
		measurements int
	}{
		{[]float64{9}, false, 1}, {[]float64{20, 9}, false, 2}, {[]float64{20, 20, 9}, false, 3}, {[]float64{20, 20, 20}, true, 3},
	} {
		n := 0
		m := measurement{rounds: 1, parts: []part{{name: "a", gate: limits{most: 10}}, {name: "b"}}, ours: func() []float64 {
			n++
			return []float64{tc.took[n-1], 1}
		}}
		var out strings.Builder
		failed := m.gate(&out)
		if (len(failed) > 0) != tc.failed || n != tc.measurements {
			t.Errorf("%v: failed %v after %d measurements", tc.took, failed, n)
		}
		if got := strings.Count(out.String(), "FAILED"); tc.failed && got != 3 || strings.Contains(out.String(), "FLAKY") != (!tc.failed && n > 1) {
			t.Errorf("%v: printed\n%s", tc.took, &out)
		}
	}
}
