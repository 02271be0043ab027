package load_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"mcptest/internal/base/term"
	"mcptest/internal/run/load"
)

func budgets(t *testing.T, texts ...string) []load.Budget {
	t.Helper()
	out, err := load.ParseBudgets(texts)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// shards runs n shards of a load at once, and returns their reports as read from files.
func shards(t *testing.T, n int, o func() load.Options) (parts []*load.Report) {
	t.Helper()
	all := make(chan *load.Report)
	for i := 1; i <= n; i++ {
		go func() {
			o := o()
			o.Shard = load.Shard{Index: i, Total: n}
			data, err := load.Run(t.Context(), o).Show("json", term.Palette{})
			if err != nil {
				t.Error(err)
			}
			r, err := load.Read(data)
			if err != nil {
				t.Error(err)
			}
			all <- r
		}()
	}
	for range n {
		parts = append(parts, <-all)
	}
	return parts
}

// merge names the parts part1, part2 and so on.
func merge(parts []*load.Report) (*load.Report, error) {
	names := make([]string, len(parts))
	for i := range names {
		names[i] = fmt.Sprint("part", i+1)
	}
	return load.Merge(names, parts)
}

// Four shards make the same calls as one process, and their sum is the same report.
func TestShardsAddUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		o := func() load.Options {
			s := &fake{takes: func(at time.Time) time.Duration { // depends on when the call was due only
				return time.Duration(at.Sub(start).Milliseconds()*7919%977+1) * time.Millisecond / 10
			}}
			o := options(400, 20*time.Second, s)
			o.Calls = append(o.Calls, load.Call{Tool: "list"}, load.Call{Tool: "get"})
			o.Start, o.WarmUpMS = start.Add(time.Minute), 1000
			return o
		}
		whole := make(chan *load.Report)
		go func() { whole <- load.Run(t.Context(), o()) }()
		parts := shards(t, 4, o)
		want := <-whole
		sum, err := merge(parts)
		if err != nil {
			t.Fatal(err)
		}
		if sum.Total.Count != 8000 || want.Total.Count != 8000 || sum.Shard != nil {
			t.Fatalf("%d and %d calls", sum.Total.Count, want.Total.Count)
		}
		near(t, "rate", sum.Total.Rate, want.Total.Rate, 0.01*want.Total.Rate)
		for _, tool := range want.Tools {
			at := 0
			for at < len(sum.Tools)-1 && sum.Tools[at].Tool != tool.Tool {
				at++
			}
			got := sum.Tools[at]
			if got.Count != tool.Count {
				t.Errorf("%s: %d calls, want %d", tool.Tool, got.Count, tool.Count)
			}
			for _, p := range []string{"p50", "p99"} {
				g, w := got.Percentiles[p], tool.Percentiles[p]
				near(t, tool.Tool+" "+p, g.Value, w.Value, 0.01*w.Value)
				near(t, tool.Tool+" "+p, *g.High, *w.High, 0.01**w.High)
			}
		}
		for i := range want.Timeline {
			if sum.Timeline[i].Count != want.Timeline[i].Count {
				t.Errorf("moment %d: %d calls, want %d", i, sum.Timeline[i].Count, want.Timeline[i].Count)
			}
		}
		sum.Judge(budgets(t, "p99=1s", "errors=0.1%"))
		if sum.Verdict != load.Pass {
			t.Errorf("%+v", sum.Budgets)
		}
	})
}

func TestMergeRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now().Add(time.Second)
		three := func() []*load.Report {
			parts := shards(t, 3, func() load.Options {
				o := options(10, time.Second, &fake{takes: fixed(0)})
				o.Start = start
				return o
			})
			start = time.Now().Add(time.Second)
			for i := range parts { // by index
				for parts[i].Shard.Index != i+1 {
					at := parts[i].Shard.Index - 1
					parts[i], parts[at] = parts[at], parts[i]
				}
			}
			return parts
		}
		for _, c := range []struct {
			change func(p []*load.Report) []*load.Report
			want   string
		}{
			{func(p []*load.Report) []*load.Report { return p[:2] }, "shard 3 of 3 is missing"},
			{func(p []*load.Report) []*load.Report { return append(p, p[1]) }, "part2 and part4 are both shard 2"},
			{func(p []*load.Report) []*load.Report { p[1].Shard.Total = 4; return p }, "part2 is shard 2 of 4; the first one is of 3"},
			{func(p []*load.Report) []*load.Report { p[1].Shard.Index = 7; return p }, "part2 is shard 7 of 3"},
			{func(p []*load.Report) []*load.Report { p[2].Shard = nil; return p }, "part3 is the report of a whole load"},
			{func(p []*load.Report) []*load.Report { p[2].Settings.Rate = 11; return p }, "part3 has other settings than the first one"},
			{func(p []*load.Report) []*load.Report { p[2].Settings.Calls = "x"; return p }, "has other settings than the first one: calls (digest of --tool and --args, or of the tests) x, not "},
			{func(p []*load.Report) []*load.Report { p[1].Interrupted = true; return p }, "part2 was not sent to its end"},
			{func(p []*load.Report) []*load.Report {
				p[1].Start, p[2].Start = p[1].Start.Add(600*time.Millisecond), p[2].Start.Add(-600*time.Millisecond)
				return p
			}, "the shards started 1.2s apart"},
		} {
			if _, err := merge(c.change(three())); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		}
		late := three()
		late[1].Start = late[1].Start.Add(time.Second)
		if _, err := merge(late); err != nil {
			t.Error(err)
		}
		for _, text := range []string{`{}`, `[]`, `{"schema":"mcptest.run/v1"}`, `{"schema":"mcptest.load/v1","tools":7}`} {
			if _, err := load.Read([]byte(text)); err == nil {
				t.Errorf("%s is a report", text)
			}
		}
		// Damaged counts are no reason to crash.
		damaged := three()
		damaged[0].Tools[0].Latency.Counts = map[int]int{-5: -7, 1 << 40: 3}
		if r, err := merge(damaged); err != nil {
			t.Error(err)
		} else {
			r.Judge(budgets(t, "p99=1s", "errors=1%"))
		}
	})
}

func TestBudgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		run := func(seconds int, takes time.Duration) *load.Report {
			return load.Run(t.Context(), options(100, time.Duration(seconds)*time.Second, &fake{takes: fixed(takes)}))
		}
		long, short := run(60, 20*time.Millisecond), run(2, 20*time.Millisecond)
		for _, c := range []struct {
			r      *load.Report
			budget string
			want   load.Verdict
			reason string
		}{
			{long, "p99=21ms", load.Pass, ""},
			{long, "p99=19ms", load.Fail, ""},
			{long, "p50=20.1ms", load.Pass, ""},
			{short, "p99=21ms", load.Inconclusive, "not enough calls for p99: about 563 are needed, here are 200"},
			{short, "p99=19ms", load.Fail, ""}, // enough to fail
			{short, "p90=21ms", load.Pass, ""},
			{long, "errors=0.1%", load.Pass, ""},
			{short, "errors=0.1%", load.Inconclusive, "about 3688 are needed at least, here are 200"},
			{long, "wrong=1%", load.Inconclusive, "about 368 are needed at least, here are 0"},
		} {
			c.r.Judge(budgets(t, c.budget))
			if c.r.Verdict != c.want || c.r.Budgets[0].Reason != c.reason {
				t.Errorf("%s of %d calls: %s (%s), want %s (%s)", c.budget, c.r.Total.Count, c.r.Verdict, c.r.Budgets[0].Reason, c.want, c.reason)
			}
		}
		long.Judge(budgets(t, "p99=19ms", "p50=1s", "wrong=1%"))
		if long.Verdict != load.Fail {
			t.Errorf("the worst verdict counts: %s", long.Verdict)
		}
	})
	for _, text := range []string{"", "p98=1s", "p99", "p99=0", "p99=-1s", "p99=250", "errors=0%", "errors=0.1", "errors=100%", "errors=x%", "max=1s"} {
		if _, err := load.ParseBudgets([]string{text}); err == nil {
			t.Errorf("%q is a budget", text)
		}
	}
	if _, err := load.ParseBudgets([]string{"p99=1s", "p99=2s"}); err == nil {
		t.Error("two budgets of p99")
	}
}

// Any values: a percentile differs by at most 0.4 % (or 1 µs) from the exact one, and
// adding histograms, also after writing and reading them, is the same as one histogram.
func TestHistogram(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		micros := rapid.SliceOfN(rapid.OneOf(rapid.Int64Range(0, 1000), rapid.Int64Range(0, 99_999_999), rapid.Int64Range(200_000, 210_000)), 1, 300).Draw(t, "values")
		var one load.Histogram
		parts := make([]load.Histogram, 3)
		sorted := make([]float64, 0, len(micros))
		for i, us := range micros {
			one.Add(time.Duration(us) * time.Microsecond)
			parts[i%3].Add(time.Duration(us) * time.Microsecond)
			sorted = append(sorted, float64(us)/1000)
		}
		for i := range sorted { // insertion sort: few values
			for j := i; j > 0 && sorted[j] < sorted[j-1]; j-- {
				sorted[j], sorted[j-1] = sorted[j-1], sorted[j]
			}
		}
		for _, q := range []float64{0.01, 0.5, 0.9, 0.99, 1} {
			exact := sorted[max(0, int(math.Ceil(q*float64(len(sorted))-1e-9))-1)]
			got := one.Quantile(q)
			if math.Abs(got.Value-exact) > max(0.001, 0.004*exact) {
				t.Fatalf("quantile %g is %g, exact %g", q, got.Value, exact)
			}
			if got.Low > exact || got.High != nil && *got.High < exact-0.001 {
				t.Fatalf("quantile %g: %g is outside %g to %g", q, exact, got.Low, *got.High)
			}
		}
		var sum load.Histogram
		for i := range parts {
			data, err := json.Marshal(parts[i])
			if err != nil {
				t.Fatal(err)
			}
			var read load.Histogram
			if err := json.Unmarshal(data, &read); err != nil {
				t.Fatal(err)
			}
			sum.Merge(read)
		}
		a, _ := json.Marshal(one)
		b, _ := json.Marshal(sum)
		if !bytes.Equal(a, b) {
			t.Fatalf("the sum differs: %s and %s", b, a)
		}
	})
	var h load.Histogram
	h.Add(time.Hour)
	h.Add(-time.Second)
	if q := h.Quantile(1); h.Len() != 2 || math.Abs(q.Value-100_000) > 400 {
		t.Errorf("an hour and less than nothing: %+v", q)
	}
}

// TestDamagedReports: counts that no load can have are an error, not a sum or a panic.
func TestDamagedReports(t *testing.T) {
	const whole = `{"schema":"mcptest.load/v1","generator":{"late":{"max_us":9}},"timeline":[{"count":5}],"tools":[{"tool":"a","count":5,"examined":1,"errors":[{"kind":"timeout","count":1}],"latency":{"max_us":9,"counts":{"9":5}}}]}`
	if _, err := load.Read([]byte(whole)); err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]string{
		{`"tools":[{`, `"tools":[null,{`},
		{`"tools":[`, `"tools":[],"other":[`},
		{`"count":5,`, `"count":-5,`},
		{`"count":5,`, `"count":9223372036854775807,`},
		{`"examined":1`, `"examined":6`},
		{`"examined":1`, `"examined":-1`},
		{`"examined":1`, `"examined":1,"wrong":2`},
		{`"timeout","count":1`, `"timeout","count":6`},
		{`"timeout","count":1`, `"timeout","count":-1`},
		{`"9":5`, `"9":6`},
		{`"9":5`, `"9":-5`},
		{`"9":5`, `"-9":5`},
		{`"9":5`, `"9223372036854775807":5`},
		{`"9":5`, `"9":9223372036854775807,"8":9223372036854775807`},
		{`[{"count":5}]`, `[{"count":5,"failed":6}]`},
		{`[{"count":5}]`, `[{"count":4}]`},
		{`{"late":{"max_us":9`, `{"late":{"max_us":-9`},
	} {
		damaged := strings.Replace(whole, c[0], c[1], 1)
		if _, err := load.Read([]byte(damaged)); damaged == whole || err == nil || !strings.Contains(err.Error(), "damaged") {
			t.Errorf("%s: error %v", damaged, err)
		}
	}
}

// TestNoLatency: a server that refused every call over HTTP was not fast.
func TestNoLatency(t *testing.T) {
	r, err := load.Read([]byte(`{"schema":"mcptest.load/v1","timeline":[{"count":5}],"tools":[{"tool":"a","count":5,"errors":[{"kind":"HTTP 503","count":5}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	text, err := r.Show("text", term.Palette{})
	if err != nil || strings.Contains(string(text), "p50") || !strings.Contains(string(text), "\n  no latency was measured") {
		t.Errorf("error %v, report %s", err, text)
	}
}
