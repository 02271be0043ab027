package load

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"mcptest/internal/base/jsonv"
)

// Schema names the JSON form of a report.
const Schema = "mcptest.load/v1"

// Report is what a load test measured.
type Report struct {
	Schema      string    `json:"schema"`
	Version     string    `json:"mcptest"`  // of the program
	Protocol    string    `json:"protocol"` // of the sessions
	Settings    Settings  `json:"settings"`
	Shard       *Shard    `json:"shard,omitempty"` // nil: the whole load
	Start       time.Time `json:"start"`           // when the first call was due
	MeasuredMS  int64     `json:"measured_ms"`     // without the warm-up
	Interrupted bool      `json:"interrupted,omitempty"`
	Ended       string    `json:"ended,omitempty"` // why the load ended before its time
	Generator   Generator `json:"generator"`
	// AnsweredRate is how many responses a second came, until the last one.
	AnsweredRate float64   `json:"answered_rate,omitempty"`
	Total        Series    `json:"total"`
	Tools        []*Series `json:"tools"`
	StepMS       int64     `json:"step_ms"` // of the timeline
	Timeline     []Moment  `json:"timeline"`
	Budgets      []Judged  `json:"budgets,omitempty"`
	Verdict      Verdict   `json:"verdict,omitempty"` // of the budgets
}

// Settings are what the shards of one load have in common.
type Settings struct {
	Server     string  `json:"server" name:"server"`
	Calls      string  `json:"calls" name:"calls (digest of --tool and --args, or of the tests)"`
	Rate       float64 `json:"rate" name:"--rate"` // calls per second, of all shards
	DurationMS int64   `json:"duration_ms" name:"--duration in ms"`
	WarmUpMS   int64   `json:"warm_up_ms" name:"--warm-up in ms"`
	TimeoutMS  int64   `json:"timeout_ms" name:"--timeout in ms"`
	Sessions   int     `json:"sessions" name:"--sessions"`   // of each shard
	InFlight   int     `json:"in_flight" name:"--in-flight"` // at most, in each shard
}

// Shard is the part of a load that one process sends: every Total-th call.
type Shard struct {
	Index int `json:"index"` // from 1
	Total int `json:"total"`
}

// Generator is how well the load was generated.
type Generator struct {
	LateP50    float64   `json:"late_p50_ms"` // between when a call was due and when it was sent
	LateP99    float64   `json:"late_p99_ms"`
	Late       Histogram `json:"late"`
	CPU        float64   `json:"cpu_share"` // of all processors; 0: not measured
	Processors int       `json:"processors"`
	Limit      bool      `json:"limit"` // it was too late, so the load was not what was asked for
}

// Series is what was measured of the calls of one tool. Calls that failed are not in the
// latencies, except those that took too long (timeout, dropped): how long is known at least.
// The latencies of errors that the server returned are counted apart.
type Series struct {
	Tool         string              `json:"tool"`
	Count        int                 `json:"count"`
	Rate         float64             `json:"rate"` // sent calls per second
	Failed       int                 `json:"failed"`
	Errors       []Problem           `json:"errors"`
	Percentiles  map[string]Quantile `json:"percentiles"` // p50, p90, p95, p99
	Examined     int                 `json:"examined"`    // responses that were checked like those of tests
	Wrong        int                 `json:"wrong"`       // of them, did not pass
	Why          string              `json:"why,omitempty"`
	Latency      Histogram           `json:"latency"`
	ErrorLatency *Histogram          `json:"error_latency,omitempty"`
}

// Problem is one kind of error.
type Problem struct {
	Kind    string `json:"kind"`
	Count   int    `json:"count"`
	Example string `json:"example,omitempty"` // the first
}

// Moment is a part of the time in which calls were due.
type Moment struct {
	Count   int       `json:"count"`
	Failed  int       `json:"failed"`
	Latency Histogram `json:"latency"`
}

func (s *Series) fail(e Problem) {
	s.Failed += e.Count
	at := slices.IndexFunc(s.Errors, func(o Problem) bool { return o.Kind == e.Kind })
	if at < 0 {
		s.Errors = append(s.Errors, e)
	} else {
		s.Errors[at].Count += e.Count
	}
}

func (s *Series) merge(o *Series) {
	s.Count += o.Count
	for _, e := range o.Errors {
		s.fail(e)
	}
	s.Examined += o.Examined
	s.Wrong += o.Wrong
	s.Why = cmp.Or(s.Why, o.Why)
	s.Latency.Merge(o.Latency)
	if o.ErrorLatency != nil {
		s.computeErrorLatency().Merge(*o.ErrorLatency)
	}
}

func (s *Series) computeErrorLatency() *Histogram {
	if s.ErrorLatency == nil {
		s.ErrorLatency = new(Histogram)
	}
	return s.ErrorLatency
}

// countLost returns the number of failed calls that are not in the latencies.
func (s *Series) countLost() int {
	n := s.Failed
	for _, e := range s.Errors {
		if isTimed(e.Kind) {
			n -= e.Count
		}
	}
	return n
}

// findSeries returns the series of a tool.
func (r *Report) findSeries(tool string) *Series {
	for _, s := range r.Tools {
		if s.Tool == tool {
			return s
		}
	}
	s := &Series{Tool: tool, Errors: []Problem{}}
	r.Tools = append(r.Tools, s)
	return s
}

// parsePercentile returns the quantile of a percentile such as p99, 0 if there is none.
func parsePercentile(name string) float64 {
	return map[string]float64{"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99}[name]
}

// percentiles are the names of the percentiles.
func percentiles() []string { return []string{"p50", "p90", "p95", "p99"} }

// finish computes what follows from the counts.
func (r *Report) finish() {
	r.Total = Series{Tool: "all", Errors: []Problem{}}
	for _, s := range r.Tools {
		r.Total.merge(s)
	}
	for _, s := range append([]*Series{&r.Total}, r.Tools...) {
		slices.SortStableFunc(s.Errors, func(a, b Problem) int {
			return cmp.Or(b.Count-a.Count, cmp.Compare(a.Kind, b.Kind))
		})
		sent := s.Count
		for _, e := range s.Errors {
			if e.Kind == dropped {
				sent -= e.Count
			}
		}
		s.Rate = float64(sent) / max(0.001, float64(r.MeasuredMS)/1000)
		s.Percentiles = map[string]Quantile{}
		for _, name := range percentiles() {
			s.Percentiles[name] = s.Latency.Quantile(parsePercentile(name))
		}
	}
	g := &r.Generator
	g.LateP50, g.LateP99 = g.Late.Quantile(0.5).Value, g.Late.Quantile(0.99).Value
	g.Limit = r.isLate() && g.LateP99 > 1000/r.Settings.Rate // as long as each call is sent before the next one is due, the load is that which was asked for
}

// Read parses the JSON form of a report.
func Read(data []byte) (*Report, error) {
	const other, damaged = "the file is not a report of mcptest load -f json: ", "the report is damaged: "
	r := &Report{}
	err := json.Unmarshal(data, r)
	syntax, broken := errors.AsType[*json.SyntaxError](err)
	wrong, mistyped := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case len(bytes.TrimSpace(data)) == 0:
		return nil, errors.New("the file is empty: the shard has not written its report")
	case jsonv.DetectEncoding(data) != "":
		return nil, fmt.Errorf("the file is encoded in %s, not UTF-8; %s", jsonv.DetectEncoding(data), jsonv.SaveAsUTF8)
	case broken && syntax.Offset >= int64(len(data)):
		return nil, errors.New(damaged + "it was not written to its end")
	case broken:
		return nil, errors.New(other + "it is not JSON")
	case mistyped && wrong.Field == "":
		return nil, errors.New(other + "it contains a JSON " + wrong.Value)
	case strings.HasPrefix(r.Schema, "mcptest.run/"):
		return nil, errors.New(other + "it is a record of mcptest run, which mcptest merge adds")
	case r.Schema != Schema:
		return nil, fmt.Errorf(other+"its schema is %q, not %q", r.Schema, Schema)
	case mistyped:
		return nil, errors.New(damaged + wrong.Field + " is a " + wrong.Value)
	case !r.isSound():
		return nil, errors.New(damaged + "its counts contradict each other")
	}
	return r, nil
}

// isSound reports whether the counts can be those of a load: a sum of others would be wrong
// without a sign of it.
func (r *Report) isSound() bool {
	const most = 1 << 40 // calls; sums of all shards do not overflow
	calls := 0
	for _, s := range r.Tools {
		if s == nil || s.Count < 0 || s.Count > most {
			return false
		}
		if s.Wrong < 0 || s.Wrong > s.Examined || s.Examined > s.Count || !s.Latency.isSound(s.Count) {
			return false
		}
		if s.ErrorLatency != nil && !s.ErrorLatency.isSound(s.Count) {
			return false
		}
		failed := 0
		for _, e := range s.Errors {
			failed += e.Count
			if e.Count < 0 || failed > s.Count {
				return false
			}
		}
		calls += s.Count
	}
	for _, m := range r.Timeline {
		if m.Count < 0 || m.Failed < 0 || m.Failed > m.Count || !m.Latency.isSound(m.Count) {
			return false
		}
		calls -= m.Count
	}
	return calls == 0 && r.Generator.Late.isSound(most)
}

// Merge adds the reports of all shards of a load; names are those of their files.
func Merge(names []string, parts []*Report) (*Report, error) {
	first := parts[0]
	out := *first
	out.AnsweredRate = 0
	out.Shard = nil
	out.Tools = nil
	out.Timeline = make([]Moment, len(first.Timeline))
	out.Generator = Generator{Processors: first.Generator.Processors}
	seen, starts := map[int]string{}, []time.Time{}
	for at, p := range parts {
		if why := fits(p, first); why != "" {
			return nil, fmt.Errorf("%s %s", names[at], why)
		}
		i := p.Shard.Index
		if seen[i] != "" {
			return nil, fmt.Errorf("%s and %s are both shard %d", seen[i], names[at], i)
		}
		seen[i] = names[at]
		starts = append(starts, p.Start)
		out.add(p)
	}
	for i := 1; i <= first.Shard.Total; i++ {
		if seen[i] == "" {
			return nil, fmt.Errorf("shard %d of %d is missing", i, first.Shard.Total)
		}
	}
	slices.SortFunc(starts, time.Time.Compare)
	out.Start = starts[0]
	if apart := starts[len(starts)-1].Sub(out.Start); apart > time.Second {
		return nil, fmt.Errorf("the shards started %v apart, so they were no common load: --start-at starts them together", apart.Round(time.Millisecond))
	}
	out.finish()
	return &out, nil
}

// fits returns why a report is not of the same load as another one, "" if it is.
func fits(r, first *Report) string {
	switch {
	case r.Shard == nil || first.Shard == nil:
		return "is the report of a whole load, not of a shard"
	case r.Shard.Index < 1 || r.Shard.Index > r.Shard.Total || r.Shard.Total != first.Shard.Total:
		return fmt.Sprintf("is shard %d of %d; the first one is of %d", r.Shard.Index, r.Shard.Total, first.Shard.Total)
	case r.Settings != first.Settings:
		return "has other settings than the first one: " + r.Settings.describeDifferences(first.Settings)
	case len(r.Timeline) != len(first.Timeline):
		return "is damaged: its timeline has another length"
	case r.Protocol != first.Protocol:
		return fmt.Sprintf("has MCP %s; the first one has %s", r.Protocol, first.Protocol)
	case r.Interrupted || r.Ended != "":
		return "was not sent to its end"
	}
	return ""
}

// describeDifferences names the settings that are not those of o.
func (s Settings) describeDifferences(o Settings) string {
	var out []string
	this, first := reflect.ValueOf(s), reflect.ValueOf(o)
	for i := range this.NumField() {
		if a, b := this.Field(i).Interface(), first.Field(i).Interface(); a != b {
			out = append(out, fmt.Sprintf("%s %v, not %v", this.Type().Field(i).Tag.Get("name"), a, b))
		}
	}
	return strings.Join(out, "; ")
}

// add adds the counts of a shard.
func (r *Report) add(o *Report) {
	for _, s := range o.Tools {
		r.findSeries(s.Tool).merge(s)
	}
	for i, m := range o.Timeline {
		r.Timeline[i].Count += m.Count
		r.Timeline[i].Failed += m.Failed
		r.Timeline[i].Latency.Merge(m.Latency)
	}
	r.AnsweredRate += o.AnsweredRate
	r.Generator.Late.Merge(o.Generator.Late)
	r.Generator.CPU = max(r.Generator.CPU, o.Generator.CPU)
}
