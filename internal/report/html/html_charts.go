package html

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/term"
	"mcptest/internal/report/explain"
	"mcptest/internal/report/render"
	"mcptest/internal/report/result"
)

// figure is a card with a drawing: inline SVG, styled by the page's style sheet.
type figure struct {
	Title         string
	Wide          bool
	Width, Height float64
	Role, Label   string // for screen readers
	Shapes        []shape
	Key           []keyEntry
}

type keyEntry struct{ Swatch, Text string }

// coordinate is a length formatted with one decimal.
type coordinate float64

func (c coordinate) String() string { return fmt.Sprintf("%.1f", float64(c)) }

// shape is an element of a drawing. Its text must be escaped for display.
type shape struct {
	Kind       string // rect, text, line, area, dot, link or group
	Class      string
	X, Y, W, H coordinate
	Text       string // of a text; the path of a line or an area; the label of a link or a group
	Anchor     string // of a text: start, middle or end
	Title      string // of a link or a group, shown as a tooltip
	Test       int    // that a link leads to
	Children   []shape
}

func newRect(class string, x, y, w, h float64) shape {
	return shape{Kind: "rect", Class: class, X: coordinate(x), Y: coordinate(y), W: coordinate(w), H: coordinate(h)}
}

func newText(class string, x, y float64, anchor, text string) shape {
	return shape{Kind: "text", Class: class, X: coordinate(x), Y: coordinate(y), Anchor: anchor, Text: text}
}

func newLine(class string, x1, y1, x2, y2 float64) shape {
	return shape{Kind: "line", Class: class, Text: fmt.Sprintf("M%.1f %.1fL%.1f %.1f", x1, y1, x2, y2)}
}

func (f *figure) add(shapes ...shape) { f.Shapes = append(f.Shapes, shapes...) }

// Figures returns the charts for which the run has data. Those of times and scores say
// nothing if the tests are few; the means of the metrics are nowhere else.
func (p *htmlPage) Figures() []*figure {
	if m := p.stats.chartMetrics(); m != nil && p.Run.Summary.Total < chartsFrom {
		return []*figure{m}
	}
	all := []*figure{
		p.stats.chartDurations(),
		p.stats.chartSlowestTests(),
		p.stats.scoreChart(),
		p.stats.chartMetrics(),
		p.timeline(),
	}
	return slices.DeleteFunc(all, func(f *figure) bool { return f == nil })
}

const (
	chartWidth  = 480.0
	chartHeight = 170.0
)

// chartDurations returns a histogram with steps of 1, 2 and 5.
func (s *stats) chartDurations() *figure {
	if len(s.bars) == 0 {
		return nil
	}
	var all []float64
	for _, b := range s.bars {
		all = append(all, b.ms)
	}
	slices.Sort(all)
	edges := listSteps(all[0], all[len(all)-1])
	counts := make([]int, len(edges)-1)
	at := 0
	for _, ms := range all {
		for at < len(counts)-1 && ms >= edges[at+1] {
			at++
		}
		counts[at]++
	}
	median := render.Duration(findQuantile(all, 0.5))
	p95 := render.Duration(findQuantile(all, 0.95))
	most := render.Duration(all[len(all)-1])
	var labels []string
	for _, e := range edges {
		labels = append(labels, formatShort(e))
	}
	return &figure{
		Title: "Durations", Width: chartWidth, Height: chartHeight, Role: "img",
		Label:  fmt.Sprintf("Histogram of the durations of %s: median %s, 95th percentile %s, longest %s", display.Count(len(all), "test"), median, p95, most),
		Shapes: drawHistogram(labels, []string{"bar"}, counts),
		Key:    []keyEntry{{"", "median " + median}, {"", "95th percentile " + p95}, {"", "longest " + most}},
	}
}

// listSteps returns the edges 1, 2, 5, 10, … around a range, at most a dozen.
func listSteps(low, high float64) []float64 {
	edge := func(i int) float64 {
		return []float64{1, 2, 5}[(i%3+3)%3] * math.Pow(10, math.Floor(float64(i)/3))
	}
	first := -3
	for edge(first+1) <= low && first < 24 {
		first++
	}
	last := first + 1
	for ; edge(last) <= high && last < 27; last++ {
	}
	var out []float64
	for i := first; i <= last; i++ {
		out = append(out, edge(i))
	}
	for len(out) > 13 { // merge the shortest
		out = append(out[:1], out[2:]...)
	}
	return out
}

func formatShort(ms float64) string {
	if ms >= 1000 {
		return render.Number(ms/1000) + " s"
	}
	return render.Number(ms) + " ms"
}

func findQuantile(sorted []float64, q float64) float64 {
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}

// drawHistogram draws bars between labeled edges, with the classes stacked.
func drawHistogram(labels, classes []string, counts ...[]int) (out []shape) {
	totals, most := make([]int, len(counts[0])), 1
	for _, c := range counts {
		for i, n := range c {
			totals[i] += n
			most = max(most, totals[i])
		}
	}
	const base, top = chartHeight - 22, 18.0
	width := chartWidth / float64(len(totals))
	for i, total := range totals {
		x, y := float64(i)*width, base
		for k, c := range counts {
			if c[i] > 0 {
				h := (base - top) * float64(c[i]) / float64(most)
				y -= h
				out = append(out, newRect(classes[k], x+2, y, width-4, h))
			}
		}
		if total > 0 {
			out = append(out, newText("lab", x+width/2, y-5, "middle", fmt.Sprint(total)))
		}
	}
	out = append(out, newLine("axis", 0, base+.5, chartWidth, base+.5))
	every := (len(labels) + 7) / 8
	for i, l := range labels {
		switch {
		case i == 0:
			out = append(out, newText("", 0, chartHeight-6, "start", l))
		case i == len(labels)-1:
			out = append(out, newText("", chartWidth, chartHeight-6, "end", l))
		case i%every == 0 && len(labels)-1-i >= every:
			out = append(out, newText("", float64(i)*width, chartHeight-6, "middle", l))
		}
	}
	return out
}

// chartSlowestTests returns a list of bars that are links.
func (s *stats) chartSlowestTests() *figure {
	if len(s.slowest) < 2 {
		return nil
	}
	const row, left = 20.0, 250.0
	f := &figure{Title: "Slowest tests", Width: chartWidth, Height: row * float64(len(s.slowest)), Role: "group", Label: "The slowest tests"}
	for i, t := range s.slowest {
		y := row * float64(i)
		w := max((chartWidth-left-62)*t.ms/s.slowest[0].ms, 2)
		f.add(shape{Kind: "link", Test: t.index, Children: []shape{
			newText("lab", 0, y+14, "start", display.Truncate(term.Escape(t.name), 38)),
			newRect("bar", left, y+4, w, 12),
			newText("", left+w+6, y+14, "start", render.Duration(t.ms)),
		}})
	}
	return f
}

// scoreChart returns a histogram of the scores from 0 to 1.
func (s *stats) scoreChart() *figure {
	if s.scored == 0 {
		return nil
	}
	labels := make([]string, 11)
	for i := range labels {
		labels[i] = render.Number(float64(i) / 10)
	}
	mean := render.Number(s.scoreSum / float64(s.scored))
	return &figure{
		Title: "Scores", Width: chartWidth, Height: chartHeight, Role: "img",
		Label:  fmt.Sprintf("Histogram of the scores of %s, mean %s", display.Count(s.scored, "test"), mean),
		Shapes: drawHistogram(labels, []string{"pass", "fail"}, s.goodScores[:], s.badScores[:]),
		Key:    []keyEntry{{"pass", "passed"}, {"fail", "did not pass"}, {"", "mean " + mean}},
	}
}

// dotsMost limits the values of a metric that are drawn.
const dotsMost = 300

// chartMetrics draws the values of each metric, their mean and the highest
// threshold, and gives mean and count as text.
func (s *stats) chartMetrics() *figure {
	if len(s.metrics) == 0 {
		return nil
	}
	const row = 42.0
	f := &figure{
		Title: "Metric rollups", Width: chartWidth, Height: row * float64(len(s.metrics)), Role: "group", Label: "Values and means of the metrics",
		Key: []keyEntry{{"", "dots: tests"}, {"", "line: mean"}, {"", "dashed: threshold"}},
	}
	for i, m := range s.metrics {
		f.add(m.draw(row*float64(i) + 20))
	}
	return f
}

// draw draws a metric around the height y.
func (m *metricRow) draw(y float64) shape {
	const left, right = 130.0, 92.0
	low, high := min(0, slices.Min(m.values)), max(1, slices.Max(m.values))
	width := chartWidth - left - right
	at := func(v float64) float64 { return left + width*(v-low)/(high-low) }
	n := display.Count(len(m.values), "test")
	shapes := []shape{
		newText("lab", 0, y+4, "start", display.Truncate(term.Escape(m.name), 19)),
		newRect("track", left, y-3, width, 6),
	}
	for j := 0; j < len(m.values); j += max(1, len(m.values)/dotsMost) {
		shapes = append(shapes, shape{Kind: "dot", Class: "dot", X: coordinate(at(m.values[j])), Y: coordinate(y)})
	}
	if m.needs != nil && *m.needs >= low && *m.needs <= high {
		shapes = append(shapes, newLine("need", at(*m.needs), y-11, at(*m.needs), y+11))
	}
	shapes = append(shapes,
		newLine("mean", at(m.mean), y-8, at(m.mean), y+8),
		newText("lab", chartWidth, y+1, "end", "mean "+render.Number(m.mean)),
		newText("", chartWidth, y+13, "end", n))
	return shape{
		Kind:     "group",
		Text:     fmt.Sprintf("%s: mean %s over %s", term.Escape(m.name), render.Number(m.mean), n),
		Children: shapes,
	}
}

// lanesMost limits the lanes of one server.
const lanesMost = 16

// lane is a row of the timeline.
type lane struct {
	server int
	first  bool
	bars   []timeBar
}

// listLanes assigns concurrent tests to different rows.
func (s *stats) listLanes() []lane {
	bars := slices.Clone(s.bars)
	slices.SortStableFunc(bars, func(a, b timeBar) int {
		return cmp.Or(cmp.Compare(a.server, b.server), cmp.Compare(a.start, b.start))
	})
	var out []lane
	var ends []float64 // of this server's lanes
	for _, b := range bars {
		if len(out) == 0 || out[len(out)-1].server != b.server {
			ends = ends[:0]
		}
		at := slices.IndexFunc(ends, func(end float64) bool { return end <= b.start+0.001 })
		switch {
		case at >= 0:
		case len(ends) < lanesMost:
			at = len(ends)
			ends = append(ends, 0)
			out = append(out, lane{server: b.server, first: at == 0})
		default:
			at = lanesMost - 1
		}
		ends[at] = max(ends[at], b.start+b.ms)
		row := &out[len(out)-len(ends)+at]
		row.bars = append(row.bars, b)
	}
	return out
}

// timeline draws the time of each test, with a group of lanes for each server.
func (p *htmlPage) timeline() *figure {
	if len(p.stats.bars) == 0 {
		return nil
	}
	lanes := p.stats.listLanes()
	const width, left, row, top = 1060.0, 130.0, 18.0, 22.0
	end := max(p.Run.DurationMS, 0.001)
	for _, b := range p.stats.bars {
		end = max(end, b.start+b.ms)
	}
	at := func(ms float64) float64 { return left + (width-left-12)*ms/end }
	rows := len(lanes)
	if len(p.Run.Phases) > 0 {
		rows++
	}
	f := &figure{
		Title: "Timeline", Wide: true, Width: width, Height: top + row*float64(rows) + 4, Role: "group",
		Label: fmt.Sprintf("When each test ran: %s in %s", display.Count(len(p.stats.bars), "test"), display.Count(len(lanes), "lane")),
		Key:   []keyEntry{{"pass", "passed"}, {"fail", "failed"}, {"error", "no response"}},
	}
	if p.Run.Summary.Inconclusive > 0 {
		f.Key = append(f.Key, keyEntry{"inconclusive", "inconclusive"})
	}
	for _, ms := range list5Ticks(end) {
		anchor := "middle"
		if ms == 0 {
			anchor = "start"
		}
		f.add(newLine("axis", at(ms), top-4, at(ms), top+row*float64(rows)))
		f.add(newText("", at(ms), 11, anchor, formatShort(ms)))
	}
	y := top
	if len(p.Run.Phases) > 0 {
		f.Key = append(f.Key, keyEntry{"phase", "hook or step"})
		f.add(newText("lab", 0, y+13, "start", "hooks and steps"))
		for i := range p.Run.Phases {
			f.add(drawPhase(&p.Run.Phases[i], y+3, row-6, at))
		}
		y += row
	}
	for i := range lanes {
		if lanes[i].first {
			if y > top {
				f.add(newLine("sep", 0, y, width, y))
			}
			name := cmp.Or(term.Escape(p.stats.servers[lanes[i].server]), "(no server)")
			f.add(newText("lab", 0, y+13, "start", display.Truncate(name, 19)))
		}
		f.add(lanes[i].draw(y+3, row-6, at)...)
		y += row
	}
	return f
}

func drawPhase(ph *result.Phase, y, h float64, at func(float64) float64) shape {
	class := "phase"
	if explain.Failed(ph.Status) {
		class = statusClass(ph.Status)
	}
	x := at(ph.StartMS)
	return shape{
		Kind: "group", Title: term.Escape(ph.Phase+": "+ph.Name) + ", " + render.Duration(ph.DurationMS),
		Children: []shape{newRect(class, x, y, max(at(ph.StartMS+ph.DurationMS)-x, 1.5), h)},
	}
}

// draw draws the tests of a lane: as links if the run has few tests, and as one
// shape for each status if it has many.
func (l *lane) draw(y, h float64, at func(float64) float64) (out []shape) {
	paths := map[string]*strings.Builder{"pass": {}, "fail": {}, "error": {}, "inconclusive": {}}
	for _, b := range l.bars {
		if b.status == result.Skip {
			continue
		}
		x := at(b.start)
		w := max(at(b.start+b.ms)-x-.5, 1.5)
		class := statusClass(b.status)
		if b.name == "" {
			fmt.Fprintf(paths[class], "M%.1f %.1fh%.1fv%.1fh-%.1fz", x, y, w, h, w)
			continue
		}
		name := term.Escape(b.name) + ", " + render.Duration(b.ms)
		out = append(out, shape{
			Kind:     "link",
			Test:     b.index,
			Text:     name,
			Title:    name,
			Children: []shape{newRect(class, x, y, w, h)},
		})
	}
	for _, class := range []string{"pass", "inconclusive", "fail", "error"} { // failures are drawn over passed tests
		if paths[class].Len() > 0 {
			out = append(out, shape{Kind: "area", Class: class, Text: paths[class].String()})
		}
	}
	return out
}

// list5Ticks returns four to ten round times from 0 to end.
func list5Ticks(end float64) []float64 {
	step := math.Pow(10, math.Floor(math.Log10(end)))
	for _, f := range []float64{0.1, 0.2, 0.5, 1} {
		if end/(step*f) <= 9 {
			step *= f
			break
		}
	}
	var out []float64
	for i := 0; float64(i)*step <= end && i < 12; i++ {
		out = append(out, float64(i)*step)
	}
	return out
}
