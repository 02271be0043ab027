package report

import (
	"cmp"
	"fmt"
	"html"
	"math"
	"slices"
	"strings"

	"mcptest/internal/result"
	"mcptest/internal/term"
)

// charts writes the drawings: inline SVG, styled by the page's style sheet.
func (p *page) charts() {
	if !p.hasCharts() {
		return
	}
	p.put("<section aria-labelledby=\"overview\">\n<h2 id=\"overview\">Overview</h2>\n<div class=\"grid\">\n")
	p.durations()
	p.slowest()
	p.scoreChart()
	p.metricChart()
	p.timeline()
	p.put("</div>\n</section>\n")
}

// figure starts a card; the title is what a screen reader says for it.
func (p *page) figure(class, title string) {
	p.put(`<div class="card`, class, `"><h3>`, html.EscapeString(title), "</h3>\n")
}

func (p *page) svg(width, height float64, role, title string) {
	p.put(fmt.Sprintf(`<svg viewBox="0 0 %.0f %.0f" role="%s" aria-label="%s">`, width, height, role, html.EscapeString(title)))
}

func (p *page) rect(class string, x, y, w, h float64) {
	p.put(fmt.Sprintf(`<rect class="%s" x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="2"/>`, class, x, y, w, h))
}

// label writes text; anchor is start, middle or end.
func (p *page) label(class string, x, y float64, anchor, text string) {
	if class != "" {
		class = ` class="` + class + `"`
	}
	p.put(fmt.Sprintf(`<text%s x="%.1f" y="%.1f" text-anchor="%s">%s</text>`, class, x, y, anchor, html.EscapeString(text)))
}

func (p *page) rule(class string, x1, y1, x2, y2 float64) {
	p.put(fmt.Sprintf(`<path class="%s" d="M%.1f %.1fL%.1f %.1f" fill="none"/>`, class, x1, y1, x2, y2))
}

const (
	chartWidth  = 480.0
	chartHeight = 170.0
)

// durations is a histogram over steps of 1, 2 and 5.
func (p *page) durations() {
	if len(p.stats.bars) == 0 {
		return
	}
	var all []float64
	for _, b := range p.stats.bars {
		all = append(all, b.ms)
	}
	slices.Sort(all)
	edges := steps(all[0], all[len(all)-1])
	counts := make([]int, len(edges)-1)
	at := 0
	for _, ms := range all {
		for at < len(counts)-1 && ms >= edges[at+1] {
			at++
		}
		counts[at]++
	}
	p.figure("", "Durations")
	p.svg(chartWidth, chartHeight, "img", fmt.Sprintf("Histogram of the durations of %s: median %s, 95th percentile %s, longest %s",
		count(len(all), "test"), duration(quantile(all, 0.5)), duration(quantile(all, 0.95)), duration(all[len(all)-1])))
	var labels []string
	for _, e := range edges {
		labels = append(labels, short(e))
	}
	p.histogram(counts, nil, labels)
	p.put("</svg>\n<ul class=\"key\"><li>median ", duration(quantile(all, 0.5)), "</li><li>95th percentile ", duration(quantile(all, 0.95)),
		"</li><li>longest ", duration(all[len(all)-1]), "</li></ul>\n</div>\n")
}

// steps are the edges 1, 2, 5, 10, … around a range, at most a dozen.
func steps(low, high float64) []float64 {
	edge := func(i int) float64 { return []float64{1, 2, 5}[(i%3+3)%3] * math.Pow(10, math.Floor(float64(i)/3)) }
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
	for len(out) > 13 { // the shortest are told together
		out = append(out[:1], out[2:]...)
	}
	return out
}

func short(ms float64) string {
	if ms >= 1000 {
		return number(ms/1000) + " s"
	}
	return number(ms) + " ms"
}

func quantile(sorted []float64, q float64) float64 {
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}

// histogram draws bars between labelled edges; those of bad are stacked on
// top of counts.
func (p *page) histogram(counts, bad []int, labels []string) {
	most := 1
	for i, n := range counts {
		if bad != nil {
			n += bad[i]
		}
		most = max(most, n)
	}
	base, top := chartHeight-22, 18.0
	width := chartWidth / float64(len(counts))
	for i, n := range counts {
		x := float64(i) * width
		h := (base - top) * float64(n) / float64(most)
		y := base - h
		if n > 0 {
			p.rect(map[bool]string{true: "bar", false: "pass"}[bad == nil], x+2, y, width-4, h)
		}
		total := n
		if bad != nil && bad[i] > 0 {
			b := (base - top) * float64(bad[i]) / float64(most)
			y -= b
			p.rect("fail", x+2, y, width-4, b)
			total += bad[i]
		}
		if total > 0 {
			p.label("lab", x+width/2, y-5, "middle", fmt.Sprint(total))
		}
	}
	p.rule("axis", 0, base+.5, chartWidth, base+.5)
	every := (len(labels) + 7) / 8
	for i, l := range labels {
		switch {
		case i == 0:
			p.label("", 0, chartHeight-6, "start", l)
		case i == len(labels)-1:
			p.label("", chartWidth, chartHeight-6, "end", l)
		case i%every == 0 && len(labels)-1-i >= every:
			p.label("", float64(i)*width, chartHeight-6, "middle", l)
		}
	}
}

// slowest is a list of bars that are links.
func (p *page) slowest() {
	if len(p.stats.slowest) < 2 {
		return
	}
	p.figure("", "Slowest tests")
	row, left := 20.0, 250.0
	p.svg(chartWidth, row*float64(len(p.stats.slowest)), "group", "The slowest tests")
	longest := p.stats.slowest[0].ms
	for i, s := range p.stats.slowest {
		y := row * float64(i)
		name := term.Truncate(term.Escape(s.name), 38)
		p.put(fmt.Sprintf(`<a href="#t%d" aria-label="%s, %s">`, s.index, esc(s.name), duration(s.ms)))
		p.label("lab", 0, y+14, "start", name)
		w := (chartWidth - left - 62) * s.ms / longest
		p.rect("bar", left, y+4, max(w, 2), 12)
		p.label("", left+max(w, 2)+6, y+14, "start", duration(s.ms))
		p.put("</a>")
	}
	p.put("</svg>\n</div>\n")
}

// scoreChart is a histogram of the scores from 0 to 1.
func (p *page) scoreChart() {
	if len(p.stats.scores) == 0 {
		return
	}
	good, bad := make([]int, 10), make([]int, 10)
	sum := 0.0
	for _, s := range p.stats.scores {
		i := min(9, max(0, int(s.value*10+1e-9)))
		if s.pass {
			good[i]++
		} else {
			bad[i]++
		}
		sum += s.value
	}
	mean := number(sum / float64(len(p.stats.scores)))
	p.figure("", "Scores")
	p.svg(chartWidth, chartHeight, "img", fmt.Sprintf("Histogram of the scores of %s, mean %s", count(len(p.stats.scores), "test"), mean))
	labels := make([]string, 11)
	for i := range labels {
		labels[i] = number(float64(i) / 10)
	}
	p.histogram(good, bad, labels)
	p.put("</svg>\n<ul class=\"key\"><li><i class=\"k-pass\"></i>passed</li><li><i class=\"k-fail\"></i>did not pass</li><li>mean ", mean, "</li></ul>\n</div>\n")
}

// dotsMost is how many values of a metric are drawn.
const dotsMost = 300

// metricChart draws the values of each metric, their mean and the highest
// threshold, and says mean and count in words.
func (p *page) metricChart() {
	if len(p.stats.metrics) == 0 {
		return
	}
	p.figure("", "Metric rollups")
	row, left, right := 42.0, 130.0, 92.0
	p.svg(chartWidth, row*float64(len(p.stats.metrics)), "group", "Values and means of the metrics")
	for i, m := range p.stats.metrics {
		y := row*float64(i) + 20
		low, high := min(0, slices.Min(m.values)), max(1, slices.Max(m.values))
		width := chartWidth - left - right
		at := func(v float64) float64 { return left + width*(v-low)/(high-low) }
		p.put(fmt.Sprintf(`<g role="img" aria-label="%s: mean %s over %s">`, esc(m.name), number(m.mean), count(len(m.values), "test")))
		p.label("lab", 0, y+4, "start", term.Truncate(term.Escape(m.name), 19))
		p.rect("track", left, y-3, width, 6)
		step := max(1, len(m.values)/dotsMost)
		for j := 0; j < len(m.values); j += step {
			p.put(fmt.Sprintf(`<circle class="dot" cx="%.1f" cy="%.1f" r="4"/>`, at(m.values[j]), y))
		}
		if m.needs != nil && *m.needs >= low && *m.needs <= high {
			p.rule("need", at(*m.needs), y-11, at(*m.needs), y+11)
		}
		p.rule("mean", at(m.mean), y-8, at(m.mean), y+8)
		p.label("lab", chartWidth, y+1, "end", "mean "+number(m.mean))
		p.label("", chartWidth, y+13, "end", count(len(m.values), "test"))
		p.put("</g>")
	}
	p.put("</svg>\n<ul class=\"key\"><li>dots: tests</li><li>line: mean</li><li>dashed: threshold</li></ul>\n</div>\n")
}

// lanesMost bounds the lanes of one server.
const lanesMost = 16

// lane is a row of the timeline.
type lane struct {
	server int
	first  bool
	bars   []timeBar
}

// lanes puts tests that ran side by side into rows of their own.
func (s *stats) lanes() []lane {
	bars := slices.Clone(s.bars)
	slices.SortStableFunc(bars, func(a, b timeBar) int { return cmp.Or(cmp.Compare(a.server, b.server), cmp.Compare(a.start, b.start)) })
	var out []lane
	var ends []float64 // of this server's lanes
	for _, b := range bars {
		if len(out) == 0 || out[len(out)-1].server != b.server {
			ends = ends[:0]
		}
		at := -1
		for i, e := range ends {
			if e <= b.start+0.001 {
				at = i
				break
			}
		}
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

// timeline draws when each test ran, a group of lanes for each server.
func (p *page) timeline() {
	if len(p.stats.bars) == 0 {
		return
	}
	lanes := p.stats.lanes()
	const width, left, row, top = 1060.0, 130.0, 18.0, 22.0
	end := max(p.run.DurationMS, 0.001)
	for _, b := range p.stats.bars {
		end = max(end, b.start+b.ms)
	}
	at := func(ms float64) float64 { return left + (width-left-12)*ms/end }
	rows := len(lanes)
	if len(p.run.Phases) > 0 {
		rows++
	}
	p.figure(" wide", "Timeline")
	p.put(`<div class="scroll">`)
	p.svg(width, top+row*float64(rows)+4, "group", fmt.Sprintf("When each test ran: %s in %s", count(len(p.stats.bars), "test"), count(len(lanes), "lane")))
	for _, ms := range ticks5(end) {
		p.rule("axis", at(ms), top-4, at(ms), top+row*float64(rows))
		p.label("", at(ms), 11, map[bool]string{true: "start", false: "middle"}[ms == 0], short(ms))
	}
	y := top
	if len(p.run.Phases) > 0 {
		p.label("lab", 0, y+13, "start", "hooks and steps")
		for i := range p.run.Phases {
			ph := &p.run.Phases[i]
			class := "phase"
			if broke(ph.Status) {
				class = statusClass(ph.Status)
			}
			p.put("<g>", `<title>`, esc(ph.Phase+": "+ph.Name), ", ", duration(ph.DurationMS), "</title>")
			p.rect(class, at(ph.StartMS), y+3, max(at(ph.StartMS+ph.DurationMS)-at(ph.StartMS), 1.5), row-6)
			p.put("</g>")
		}
		y += row
	}
	for i := range lanes {
		if lanes[i].first {
			if y > top {
				p.rule("sep", 0, y, width, y)
			}
			p.label("lab", 0, y+13, "start", term.Truncate(orElse(term.Escape(p.stats.servers[lanes[i].server]), "(no server)"), 19))
		}
		p.lane(&lanes[i], y+3, row-6, at)
		y += row
	}
	p.put("</svg></div>\n<ul class=\"key\"><li><i class=\"k-pass\"></i>passed</li><li><i class=\"k-fail\"></i>failed</li><li><i class=\"k-error\"></i>no answer</li>")
	if len(p.run.Phases) > 0 {
		p.put("<li><i class=\"k-phase\"></i>hook or step</li>")
	}
	p.put("</ul>\n</div>\n")
}

// lane draws the tests of a lane: as links while there are few in the whole
// run, and as one shape a status when there are many.
func (p *page) lane(l *lane, y, h float64, at func(float64) float64) {
	shapes := map[string]*strings.Builder{}
	for _, b := range l.bars {
		x := at(b.start)
		w := max(at(b.start+b.ms)-x-.5, 1.5)
		if b.status == result.Skip {
			continue
		}
		class := statusClass(b.status)
		if b.name != "" {
			p.put(fmt.Sprintf(`<a href="#t%d" tabindex="-1" aria-label="%s"><title>%s, %s</title>`, b.index, esc(b.name), esc(b.name), duration(b.ms)))
			p.rect(class, x, y, w, h)
			p.put("</a>")
			continue
		}
		if shapes[class] == nil {
			shapes[class] = &strings.Builder{}
		}
		fmt.Fprintf(shapes[class], "M%.1f %.1fh%.1fv%.1fh-%.1fz", x, y, w, h, w)
	}
	for _, class := range []string{"pass", "fail", "error"} { // what failed is drawn over what passed
		if s := shapes[class]; s != nil {
			p.put(`<path class="`, class, `" d="`, s.String(), `"/>`)
		}
	}
}

// ticks5 are four to ten round times from 0 to end.
func ticks5(end float64) []float64 {
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
