package html

import (
	"cmp"
	"slices"

	"mcptest/internal/base/display"
	"mcptest/internal/report/explain"
	"mcptest/internal/report/render"
	"mcptest/internal/report/result"
)

// stats are the data of the page's charts and its list of failures, a few bytes
// for each case.
type stats struct {
	bars                  []timeBar
	servers               []string // in order of appearance
	metrics               []*metricRow
	slowest               []timeBar // with their names
	scored                int
	scoreSum              float64
	goodScores, badScores [10]int // scores of tests that passed and that did not, by tenths
	failures              []failureLink
	dropped               int
}

type timeBar struct {
	index     int
	start, ms float64
	status    result.Status
	server    int
	name      string // only kept while there are few
}

// metricRow is a metric with its values in the order of the plan.
type metricRow struct {
	name   string
	values []float64
	needs  *float64
	mean   float64
}

type failureLink struct {
	Index                   int
	Name, Message, Location string
	Status                  result.Status
	Others                  int
	Rows                    bool     // the other failures are rows of the same test
	Servers                 []string // servers with the same failure, if several; at most serversMost
	repeated                bool     // repeated on one of the servers, or there may be more of them
	server                  string
}

// OthersText says how many other tests failed for the same reason, "" if none did.
func (f failureLink) OthersText() string {
	switch {
	case f.Others == 0:
		return ""
	case f.OnEach():
		return " · and on " + display.Count(f.Others, "other server")
	case f.Rows:
		return " · and " + display.Count(f.Others, "other row") + " in the same way"
	}
	return " · and " + display.Count(f.Others, "other test") + " for the same reason"
}

// OnEach reports whether the other failures are the same test on different servers.
func (f failureLink) OnEach() bool { return f.Rows && !f.repeated }

const (
	slowestMost = 8
	causesMost  = 25  // failures listed at the top; the list of tests contains all
	serversMost = 12  // listed with a failure
	chartsFrom  = 20  // tests with charts of times and scores
	namedBars   = 600 // up to this number of tests, the bars of the timeline are links
)

func survey(r *result.Run) (*stats, error) {
	s := &stats{}
	servers := map[string]int{}
	metrics := map[string]*metricRow{}
	all, links := explain.Causes{}, map[*explain.Cause]int{}
	few := r.Cases.Len() <= namedBars
	for c, err := range r.Cases.All() {
		if err != nil {
			return nil, err
		}
		s.addTime(c, servers, few)
		if c.Score != nil {
			s.score(c)
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
		if explain.Failed(c.Status) {
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

func (s *stats) score(c *result.Case) {
	bins := &s.badScores
	if c.Status == result.Pass {
		bins = &s.goodScores
	}
	bins[min(9, max(0, int(*c.Score*10+1e-9)))]++
	s.scored++
	s.scoreSum += *c.Score
}

func (s *stats) addTime(c *result.Case, servers map[string]int, few bool) {
	at, ok := servers[c.Server]
	if !ok {
		at = len(s.servers)
		servers[c.Server] = at
		s.servers = append(s.servers, c.Server)
	}
	if c.DurationMS <= 0 {
		return
	}
	bar := timeBar{c.Index, c.StartMS, c.DurationMS, c.Status, at, c.Name}
	if n := len(s.slowest); n < slowestMost || bar.ms > s.slowest[n-1].ms {
		s.slowest = append(s.slowest, bar)
		slices.SortStableFunc(s.slowest, func(a, b timeBar) int { return cmp.Compare(b.ms, a.ms) })
		s.slowest = s.slowest[:min(len(s.slowest), slowestMost)]
	}
	if !few {
		bar.name = ""
	}
	s.bars = append(s.bars, bar)
}

func (s *stats) fail(c *result.Case, all *explain.Causes, links map[*explain.Cause]int) {
	why, first := all.Find(c)
	if i, ok := links[why]; ok && !first {
		s.failures[i].add(c.Server)
		return
	}
	if len(s.failures) == causesMost {
		s.dropped++
		return
	}
	if why != nil {
		links[why] = len(s.failures)
	}
	file, line, column := explain.FindLocation(c)
	hinted := *c
	hinted.Message, _ = explain.Hint(c.Message)
	s.failures = append(s.failures, failureLink{c.Index, c.Name, explain.Reason(&hinted), render.Place(file, line, column), c.Status, 0, why != nil && why.Rows, nil, false, c.Server})
}

// add adds another test that failed for the same reason.
func (f *failureLink) add(server string) {
	f.Others++
	switch {
	case server == f.server && f.Servers == nil || slices.Contains(f.Servers, server) || len(f.Servers) >= serversMost:
		f.repeated = true
	case f.Servers == nil:
		f.Servers = []string{f.server, server}
	default:
		f.Servers = append(f.Servers, server)
	}
}

// htmlPage is the data of the page's templates.
type htmlPage struct {
	Run       *result.Run
	Variants  []*explain.Variant
	HasCharts bool
	InSuite   bool // the list is in a group of tests
	Folded    bool // the rows of the group are in a noscript element
	Earlier   string
	Changed   string
	Changes   map[int]string
	stats     *stats
	printer   *render.Printer // for its wording
}

// Many reports whether the page has so many tests that it uses fewer elements, to
// open quickly.
func (p *htmlPage) Many() bool { return p.Run.Summary.Total > 500 }

func statusGlyph(st result.Status) string {
	_, glyph := render.StyleVerdict(st)
	return glyph
}

// statusWord says in one or two words how a test or step ended.
func statusWord(st result.Status) string {
	switch st {
	case result.Pass:
		return "passed"
	case result.Fail:
		return "failed"
	case result.Skip:
		return "skipped"
	case result.Inconclusive:
		return "inconclusive"
	}
	return "no response"
}

func statusClass(st result.Status) string {
	switch st {
	case result.Pass, result.Fail, result.Skip, result.Inconclusive:
		return string(st)
	}
	return "error"
}
