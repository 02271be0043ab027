package report

import (
	"cmp"
	"slices"

	"mcptest/internal/result"
)

// stats are what the page's charts and its list of failures need from every
// case, in a few bytes each.
type stats struct {
	bars     []timeBar
	servers  []string // in order of appearance
	scores   []scoreDot
	metrics  []*metricRow
	slowest  []slowTest
	failures []failureLink
	dropped  int
}

type timeBar struct {
	index     int
	start, ms float64
	status    result.Status
	server    int
	name      string // kept while there are few
}

type scoreDot struct {
	value float64
	pass  bool
}

// metricRow is a metric with its values in the order of the plan.
type metricRow struct {
	name   string
	values []float64
	needs  *float64
	mean   float64
}

type slowTest struct {
	index int
	name  string
	ms    float64
}

type failureLink struct {
	index             int
	name, message, at string
	status            result.Status
	others            int
	rows              bool // the others are rows of the same test
}

const (
	slowestMost = 8
	causesMost  = 25  // failures listed at the top; the list of tests has them all
	namedBars   = 600 // up to so many tests a bar of the timeline is a link
)

func survey(r *result.Run) (*stats, error) {
	s := &stats{}
	if r.Cases == nil {
		return s, nil
	}
	servers := map[string]int{}
	metrics := map[string]*metricRow{}
	all, links := causes{}, map[*cause]int{}
	few := r.Cases.Len() <= namedBars
	for c, err := range r.Cases.All() {
		if err != nil {
			return nil, err
		}
		s.time(c, servers, few)
		if c.Score != nil {
			s.scores = append(s.scores, scoreDot{*c.Score, c.Status == result.Pass})
		}
		for _, m := range c.DerivedMetrics {
			row := metrics[m.Name]
			if row == nil {
				row = &metricRow{name: m.Name}
				metrics[m.Name] = row
				s.metrics = append(s.metrics, row)
			}
			row.values = append(row.values, m.Value)
			if m.Threshold != nil {
				row.needs = m.Threshold
			}
		}
		if broke(c.Status) {
			s.fail(c, &all, links)
		}
	}
	for _, m := range r.Rollups {
		if row := metrics[m.Name]; row != nil {
			row.mean = m.Mean
		}
	}
	return s, nil
}

func (s *stats) time(c *result.Case, servers map[string]int, few bool) {
	at, ok := servers[c.Server]
	if !ok {
		at = len(s.servers)
		servers[c.Server] = at
		s.servers = append(s.servers, c.Server)
	}
	bar := timeBar{index: c.Index, start: c.StartMS, ms: c.DurationMS, status: c.Status, server: at}
	if few {
		bar.name = c.Name
	}
	if c.DurationMS > 0 {
		s.bars = append(s.bars, bar)
	}
	if n := len(s.slowest); c.DurationMS > 0 && (n < slowestMost || c.DurationMS > s.slowest[n-1].ms) {
		s.slowest = append(s.slowest, slowTest{c.Index, c.Name, c.DurationMS})
		slices.SortStableFunc(s.slowest, func(a, b slowTest) int { return cmp.Compare(b.ms, a.ms) })
		s.slowest = s.slowest[:min(len(s.slowest), slowestMost)]
	}
}

func (s *stats) fail(c *result.Case, all *causes, links map[*cause]int) {
	why, explain := all.of(c)
	if i, ok := links[why]; ok && !explain {
		s.failures[i].others++
		return
	}
	if len(s.failures) == causesMost {
		s.dropped++
		return
	}
	if why != nil {
		links[why] = len(s.failures)
	}
	file, line, column := spot(c)
	s.failures = append(s.failures, failureLink{index: c.Index, name: c.Name, message: reason(c), at: place(file, line, column), status: c.Status, rows: why != nil && why.rows})
}
