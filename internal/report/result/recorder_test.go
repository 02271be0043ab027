package result_test

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"mcptest/internal/base/secret"
	"mcptest/internal/report/result"
)

const planted = "planted-secret-0123"

// fill puts a value into every field that can be reached, by reflection, so
// that a field added later is covered without a change here.
func fill(v reflect.Value, depth int) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), depth)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range v.NumField() {
			fill(v.Field(i), depth)
		}
	case reflect.Slice:
		if depth > 3 {
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), depth+1)
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("x "+planted), reflect.ValueOf("y "+planted))
	case reflect.String:
		if v.Type() == reflect.TypeFor[result.Status]() {
			v.SetString("pass")
			return
		}
		v.SetString("<" + planted + ">\xff")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(1)
	case reflect.Float64:
		v.SetFloat(1.5)
	}
}

// everyEvent returns one of each kind with every field filled.
func everyEvent() []result.Event {
	var out []result.Event
	for _, e := range []any{
		&result.RunStarted{}, &result.ServerUp{}, &result.ServerDown{}, &result.PhaseFinished{}, &result.CaseStarted{},
		&result.CaseFinished{}, &result.FindingSeen{}, &result.Noted{}, &result.RunFinished{},
	} {
		v := reflect.ValueOf(e).Elem()
		fill(v, 0)
		out = append(out, v.Interface().(result.Event))
	}
	return out
}

// TestNoSecretGetsPast fills every string of every event with a secret.
func TestNoSecretGetsPast(t *testing.T) {
	red := secret.NewRedactor()
	red.Add(planted)
	log, rec := record(t, everyEvent(), result.RecorderOptions{Redactor: red})
	for name, out := range map[string]string{"log": log, "record": rec} {
		if i := strings.Index(out, planted); i >= 0 {
			t.Errorf("%s: …%s", name, out[max(0, i-80):i+20])
		}
		if strings.Contains(out, "\xff") || strings.Contains(out, "\ufffd") {
			t.Errorf("%s: bytes that are not UTF-8 are not shown", name)
		}
	}
	if n := strings.Count(rec, secret.Mask); n < 60 {
		t.Errorf("only %d masks in the record; is everything filled?", n)
	}
}

// TestNoFieldIsLostInFolding fills every field of every event and looks for it in the
// record, also after an event about the same server without the field.
func TestNoFieldIsLostInFolding(t *testing.T) {
	notInRecord := []string{"RunStarted.Total"} // the summary counts the cases
	parts := map[string]string{
		"ServerUp": "Servers", "ServerDown": "Servers", "PhaseFinished": "Phases", "FindingSeen": "Findings",
		"CoverageMeasured": "Coverage", "Noted": "Notes",
	}
	for _, e := range append(everyEvent(), result.CoverageMeasured{Coverage: &result.Coverage{Partial: "why"}}) {
		var run result.Run
		run.Apply(e)
		switch up := e.(type) {
		case result.CaseStarted, result.CaseFinished: // cases are stored apart from the record
			continue
		case result.ServerUp:
			run.Apply(result.ServerDown{Server: result.Server{Name: up.Server.Name, File: up.Server.File}})
		}
		name, of := reflect.TypeOf(e).Name(), reflect.ValueOf(e)
		for i := range of.NumField() {
			field := of.Type().Field(i).Name
			if slices.Contains(notInRecord, name+"."+field) {
				continue
			}
			got := reflect.ValueOf(run).FieldByName(cmp.Or(parts[name], field))
			if !got.IsValid() {
				t.Errorf("%s.%s: the record has no such field; fold it in Run.Apply, and name it here", name, field)
				continue
			}
			if got.Kind() == reflect.Slice && parts[name] != "" && got.Len() == 1 {
				got = got.Index(0)
			}
			if d := gocmp.Diff(of.Field(i).Interface(), got.Interface()); d != "" {
				t.Errorf("%s.%s is lost in Run.Apply: %s", name, field, d)
			}
		}
	}
}

func TestHeadersAreMaskedByName(t *testing.T) {
	shared := map[string]string{"Authorization": "x", "content-type": "text/plain", "X-Api-Key": "k"}
	c := &result.Case{Status: result.Pass, Exchanges: []result.Exchange{{HTTP: &result.HTTPExchange{Headers: shared}}}}
	rec := result.NewRecorder(result.RecorderOptions{})
	defer rec.Close()
	rec.Send(result.CaseFinished{Case: c})
	want := map[string]string{"Authorization": secret.Mask, "content-type": "text/plain", "X-Api-Key": secret.Mask}
	if d := gocmp.Diff(want, c.Exchanges[0].HTTP.Headers); d != "" {
		t.Error(d)
	}
	if shared["Authorization"] != "x" {
		t.Error("a map that others may hold was changed")
	}
}

// TestCutAfterRedaction: a secret that the limit would split is masked before.
func TestCutAfterRedaction(t *testing.T) {
	red := secret.NewRedactor()
	red.Add(planted)
	frame := strings.Repeat("x", 2037) + planted + strings.Repeat("é", 50)
	c := &result.Case{Status: result.Pass, Stderr: planted + strings.Repeat("é", 40_000), Exchanges: []result.Exchange{{Request: frame}}}
	rec := result.NewRecorder(result.RecorderOptions{Redactor: red})
	defer rec.Close()
	rec.Send(result.CaseFinished{Case: c})
	x := c.Exchanges[0]
	if want := strings.Repeat("x", 2037) + "[redacted]… (2047 of 2147 bytes)"; x.Request != want || !x.Truncated {
		t.Errorf("got %q, truncated %v", x.Request, x.Truncated)
	}
	if want := "(the last 65536 of 80010 bytes) …" + strings.Repeat("é", 32_768); c.Stderr != want {
		t.Errorf("got %q", c.Stderr)
	}
}

// TestRecorderIsConcurrent: many senders, one listener at a time, every case once. The race
// detector checks it too.
func TestRecorderIsConcurrent(t *testing.T) {
	const n = 200
	var seen []int
	inside := false
	rec := result.NewRecorder(result.RecorderOptions{Listeners: []result.Listener{listenerFunc(func(e result.Event, r *result.Run) {
		if inside {
			t.Error("called concurrently")
		}
		inside = true
		if f, ok := e.(result.CaseFinished); ok {
			seen = append(seen, f.Case.Index)
			if r.Summary.Total != len(seen) {
				t.Errorf("summary says %d after %d cases", r.Summary.Total, len(seen))
			}
		}
		inside = false
	})}})
	defer rec.Close()
	rec.Send(result.RunStarted{Total: n})
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := w; i < n; i += 4 {
				rec.Send(result.CaseFinished{Case: smallCase(i)})
				rec.Redactor().Add("joined-secret-" + string(rune('a'+i%26)))
			}
		})
	}
	wg.Wait()
	rec.Send(result.CaseFinished{Case: smallCase(7)})
	if rec.Err() == nil || !strings.Contains(rec.Err().Error(), "(index 7) ended twice") {
		t.Errorf("a second case of one index: got %v", rec.Err())
	}
	rec.Send(result.RunFinished{})
	if len(seen) != n || rec.Run().Summary.Total != n || rec.Run().Cases.Len() != n {
		t.Errorf("seen %d, summary %d, stored %d", len(seen), rec.Run().Summary.Total, rec.Run().Cases.Len())
	}
	next := 0
	for c, err := range rec.Run().Cases.All() {
		if err != nil || c.Index != next {
			t.Fatalf("case %d: %v, %v", next, c, err)
		}
		next++
	}
}

type listenerFunc func(result.Event, *result.Run)

func (f listenerFunc) Event(e result.Event, r *result.Run) { f(e, r) }

func TestRollupsAndSummary(t *testing.T) {
	metric := func(name string, v float64) result.Metric { return result.Metric{Name: name, Value: v} }
	cases := []*result.Case{
		{Index: 0, Status: result.Pass, Flaky: true, DerivedMetrics: []result.Metric{metric("b", 1), metric("a", 0.5)}},
		{Index: 1, Status: result.Fail, DerivedMetrics: []result.Metric{metric("a", 1)}, Warnings: []string{"w"}},
		{Index: 2, Status: result.Error, Phases: []result.Phase{{Warnings: []string{"w"}}}},
		{Index: 3, Status: result.Skip},
		{Index: 4, Status: "odd"},
	}
	rec := result.NewRecorder(result.RecorderOptions{})
	defer rec.Close()
	for _, i := range []int{1, 3, 4, 0, 2} {
		rec.Send(result.CaseFinished{Case: cases[i]})
	}
	rec.Send(result.FindingSeen{Finding: result.Finding{Severity: "warning"}})
	rec.Send(result.FindingSeen{Finding: result.Finding{Severity: "error"}})
	rec.Send(result.RunFinished{})
	r := rec.Run()
	if d := gocmp.Diff([]result.Rollup{{Name: "b", Mean: 1, Count: 1}, {Name: "a", Mean: 0.75, Count: 2}}, r.Rollups); d != "" {
		t.Error(d)
	}
	want := result.Summary{Total: 5, Passed: 1, Failed: 1, Errored: 2, Skipped: 1, Flaky: 1, Warnings: 3}
	if d := gocmp.Diff(want, r.Summary); d != "" {
		t.Error(d)
	}
}

// TestPlainSuiteHasNoScores: the record of a suite without scores has no member for them.
func TestPlainSuiteHasNoScores(t *testing.T) {
	_, rec := record(t, []result.Event{result.RunStarted{Total: 1}, result.CaseFinished{Case: smallCase(0)}, result.RunFinished{}}, result.RecorderOptions{})
	for _, name := range []string{"score", "threshold", "weight", "derived_metrics", "metric_rollups", "findings", "phases", "null"} {
		if strings.Contains(rec, name) {
			t.Errorf("%q in %s", name, rec)
		}
	}
}

func TestServersMerge(t *testing.T) {
	rec := result.NewRecorder(result.RecorderOptions{})
	defer rec.Close()
	for _, e := range []result.Event{
		result.ServerUp{Server: result.Server{Name: "z", Transport: "stdio", Target: "z"}},
		result.ServerUp{Server: result.Server{Name: "a", Transport: "stdio", Target: "run a", StartMS: 5, Protocol: "2025-11-25"}},
		result.ServerDown{Server: result.Server{Name: "a", Exit: "exit status 3", Stderr: "boom"}},
		result.ServerUp{Server: result.Server{Name: "a", StartMS: 7}},
		result.RunFinished{},
	} {
		rec.Send(e)
	}
	want := []result.Server{
		{Name: "a", Transport: "stdio", Target: "run a", Protocol: "2025-11-25", StartMS: 5, Starts: 2, Exit: "exit status 3", Stderr: "boom"},
		{Name: "z", Transport: "stdio", Target: "z", Starts: 1},
	}
	if d := gocmp.Diff(want, rec.Run().Servers); d != "" {
		t.Error(d)
	}
}

func BenchmarkSend(b *testing.B) {
	rec := result.NewRecorder(result.RecorderOptions{Spool: result.NewSpool(b.TempDir())})
	defer rec.Close()
	cases := make([]*result.Case, 1000)
	i := 0
	b.ReportAllocs()
	for b.Loop() {
		if i%1000 == 0 {
			b.StopTimer()
			for k := range cases {
				cases[k] = smallCase(i + k)
			}
			b.StartTimer()
		}
		rec.Send(result.CaseFinished{Case: cases[i%1000]})
		i++
	}
}
