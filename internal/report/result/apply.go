package result

import (
	"cmp"
	"reflect"
	"slices"

	"mcptest/internal/base/lists"
)

// fold is the state of a Run while it receives events.
type fold struct {
	seen    map[string]int // server key → index in Run.Servers
	metrics map[string][]reported
}

// reported is the value of a metric in one case. The values are kept until the end,
// so that the mean is summed in plan order and does not depend on the order in which
// parallel cases ended.
type reported struct {
	index, place int32
	value        float64
}

// Apply applies one event to the record. It counts cases, but does not store them:
// that is the Recorder's task.
func (r *Run) Apply(e Event) {
	switch e := e.(type) {
	case RunStarted:
		r.Schema = Schema
		r.Tool, r.Suites, r.Started = e.Tool, e.Suites, e.Started
		r.Parallel, r.Command, r.Dir, r.Shard = e.Parallel, e.Command, e.Dir, e.Shard
		r.Origin = e.Origin
	case ServerUp:
		r.addServer(e.Server, true)
	case ServerDown:
		r.addServer(e.Server, false)
	case PhaseFinished:
		r.Phases = append(r.Phases, e.Phase)
		r.Summary.Warnings += len(e.Phase.Warnings)
	case CaseFinished:
		r.count(e.Case)
	case FindingSeen:
		r.Findings = append(r.Findings, e.Finding)
		if e.Finding.Severity == "warning" {
			r.Summary.Warnings++
		}
	case CoverageMeasured:
		r.Coverage = e.Coverage
	case Noted:
		r.Notes = append(r.Notes, e.Note)
	case RunFinished:
		r.Times = e.Times
		r.DurationMS, r.ExitCode, r.Interrupted = e.DurationMS, e.ExitCode, e.Interrupted
		r.finish()
	}
}

// Add counts a case.
func (s *Summary) Add(c *Case) {
	s.Total++
	switch c.Status {
	case Pass:
		s.Passed++
	case Fail:
		s.Failed++
	case Skip:
		s.Skipped++
	case Inconclusive:
		s.Inconclusive++
	default:
		s.Errored++
	}
	if c.Flaky {
		s.Flaky++
	}
	s.Warnings += len(c.Warnings)
	for i := range c.Phases {
		s.Warnings += len(c.Phases[i].Warnings)
	}
}

func (r *Run) count(c *Case) {
	r.Summary.Add(c)
	for i, m := range c.DerivedMetrics {
		if r.fold.metrics == nil {
			r.fold.metrics = map[string][]reported{}
		}
		r.fold.metrics[m.Name] = append(r.fold.metrics[m.Name], reported{int32(c.Index), int32(i), m.Value})
	}
}

// addServer merges the data of an event about a server into its entry. Empty fields do
// not change the entry.
func (r *Run) addServer(s Server, up bool) {
	key := s.File + "\x00" + s.Name
	i, ok := r.fold.seen[key]
	if !ok {
		if r.fold.seen == nil {
			r.fold.seen = map[string]int{}
		}
		i = len(r.Servers)
		r.fold.seen[key] = i
		r.Servers = append(r.Servers, Server{Name: s.Name, File: s.File})
	}
	have := &r.Servers[i]
	before := *have
	from, to := reflect.ValueOf(s), reflect.ValueOf(have).Elem()
	for i := range from.NumField() {
		if !from.Field(i).IsZero() {
			to.Field(i).Set(from.Field(i))
		}
	}
	have.StartMS = cmp.Or(before.StartMS, s.StartMS) // the first start is used for comparisons
	if up && s.Starts == 0 {
		have.Starts++
	}
}

// finish computes the values that depend on all cases, and sorts what parallel
// servers report in any order.
func (r *Run) finish() {
	r.Rollups = computeRollups(r.fold.metrics)
	slices.SortStableFunc(r.Servers, func(a, b Server) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Name, b.Name))
	})
	slices.SortStableFunc(r.Findings, func(a, b Finding) int { return cmp.Compare(a.Server, b.Server) })
	r.fold = fold{}
}

// computeRollups returns the metrics in plan order.
func computeRollups(metrics map[string][]reported) []Rollup {
	type entry struct {
		Rollup
		first reported
	}
	var all []entry
	for name, values := range metrics {
		slices.SortFunc(values, func(a, b reported) int {
			return cmp.Or(cmp.Compare(a.index, b.index), cmp.Compare(a.place, b.place))
		})
		sum := 0.0
		for _, v := range values {
			sum += v.value
		}
		all = append(all, entry{
			Rollup{Name: name, Mean: makeFinite(sum / float64(len(values))), Count: len(values)},
			values[0],
		})
	}
	slices.SortFunc(all, func(a, b entry) int {
		return cmp.Or(
			cmp.Compare(a.first.index, b.first.index),
			cmp.Compare(a.first.place, b.first.place),
			cmp.Compare(a.Name, b.Name),
		)
	})
	return lists.Map(all, func(e entry) Rollup { return e.Rollup })
}

// Close releases the storage of the cases (their file). The record must not be
// read afterwards.
func (r *Run) Close() error {
	if r.Cases == nil {
		return nil
	}
	return r.Cases.Close()
}
