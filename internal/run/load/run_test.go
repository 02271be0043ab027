package load_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"mcptest/internal/base/term"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/wire"
	"mcptest/internal/run/load"
)

// fake is a session whose responses take as long as takes says, which knows when the
// request was read.
type fake struct {
	takes func(at time.Time) time.Duration
	fails func(x *mcp.Exchange, n int64) // changes the n-th response; may be nil
	calls atomic.Int64
	dead  atomic.Bool
}

func (f *fake) Alive() bool      { return !f.dead.Load() }
func (f *fake) Protocol() string { return "2025-11-25" }

func (f *fake) Do(ctx context.Context, c mcp.Call) *mcp.Exchange {
	n := f.calls.Add(1)
	x := &mcp.Exchange{Method: c.Method, Start: time.Now(), Response: []byte("{}"), Result: []byte("{}")}
	select {
	case <-time.After(f.takes(x.Start)):
	case <-ctx.Done():
		x.Cause = &mcp.CancelledError{}
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			x.Cause = &mcp.TimeoutError{}
		}
	}
	x.Elapsed = time.Since(x.Start)
	if f.fails != nil && x.Cause == nil {
		f.fails(x, n)
	}
	return x
}

func fixed(d time.Duration) func(time.Time) time.Duration {
	return func(time.Time) time.Duration { return d }
}

func options(rate float64, duration time.Duration, sessions ...load.Session) load.Options {
	return load.Options{
		Settings: load.Settings{Rate: rate, DurationMS: duration.Milliseconds(), TimeoutMS: 10_000, Sessions: len(sessions), InFlight: 1000},
		Calls:    []load.Call{{Tool: "search"}}, Sessions: sessions, Pause: time.Sleep,
	}
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.Abs(got-want) > tolerance {
		t.Errorf("%s is %g, want %g ± %g", what, got, want, tolerance)
	}
}

// A server that stops for 300 ms in every 2 s: every call that is due in the pause waits
// for its end. A loop that waits for each response would see one such call in a pause.
func TestPausesAreSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		pausing := &fake{takes: func(at time.Time) time.Duration {
			if into := at.Sub(start) % (2 * time.Second); into < 300*time.Millisecond {
				return 300*time.Millisecond - into + 5*time.Millisecond
			}
			return 5 * time.Millisecond
		}}
		r := load.Run(t.Context(), options(100, 20*time.Second, pausing))
		if r.Total.Percentiles["p99"].Value < 250 {
			t.Errorf("p99 is %g ms: the pause is hidden", r.Total.Percentiles["p99"].Value)
		}
		near(t, "p50", r.Total.Percentiles["p50"].Value, 5, 1.1)
		near(t, "rate", r.Total.Rate, 100, 2)
		// One worker can't have calls in flight together, so calls wait for earlier ones.
		o := options(100, 20*time.Second, pausing)
		o.InFlight = 1
		near(t, "p99 with one place", load.Run(t.Context(), o).Total.Percentiles["p99"].Value, 305, 150)
	})
}

// Percentiles of a server with known latencies, the rate, the warm-up and the turns.
func TestKnownLatency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n atomic.Int64
		takes := func(time.Time) time.Duration { // 1 to 100 ms, evenly
			return time.Duration(n.Add(37)%100+1) * time.Millisecond
		}
		a, b := &fake{takes: takes}, &fake{takes: takes}
		o := options(100, 60*time.Second, a, b)
		o.WarmUpMS = 2000
		r := load.Run(t.Context(), o)
		if r.Total.Count != 6000 || a.calls.Load() != 3100 || b.calls.Load() != 3100 || r.MeasuredMS != 60_000 {
			t.Errorf("%d calls counted, %d and %d sent", r.Total.Count, a.calls.Load(), b.calls.Load())
		}
		near(t, "rate", r.Total.Rate, 100, 0.01)
		near(t, "p50", r.Total.Percentiles["p50"].Value, 50, 1+1)
		near(t, "p99", r.Total.Percentiles["p99"].Value, 99, 2+1)
		near(t, "max", float64(r.Total.Latency.Max)/1000, 100, 1)
		if q := r.Total.Percentiles["p99"]; q.High == nil || !(q.Low <= 99 && 99 <= *q.High) || *q.High-q.Low > 3 {
			t.Errorf("the interval of p99 is %+v", q)
		}
		if r.Generator.Limit || r.Generator.Late.Max > 1 || len(r.Timeline) != 60 || r.Timeline[59].Count != 100 {
			t.Errorf("generator %+v, %d moments", r.Generator, len(r.Timeline))
		}
	})
}

// Without a place in flight a call waits, which is not the generator's lateness, and is
// dropped 1 s after its time.
func TestDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := options(10, 10*time.Second, &fake{takes: fixed(3 * time.Second)})
		o.InFlight = 5
		r := load.Run(t.Context(), o)
		if r.Total.Count != 100 || len(r.Total.Errors) != 1 || r.Total.Errors[0].Kind != "dropped" {
			t.Fatalf("%d calls, errors %+v", r.Total.Count, r.Total.Errors)
		}
		sent := 100 - r.Total.Errors[0].Count
		if sent < 15 || sent > 25 {
			t.Errorf("%d calls were sent: 5 in flight for 3 s each, in 10 s", sent)
		}
		near(t, "rate", r.Total.Rate, float64(sent)/10, 0.01)
		if r.Generator.Limit || r.Generator.Late.Max > 1000 {
			t.Errorf("the generator is blamed: %+v", r.Generator)
		}
		if r.Total.Percentiles["p50"].Value < 1000 {
			t.Errorf("p50 is %g ms, although most calls waited 1 s without being sent", r.Total.Percentiles["p50"].Value)
		}
	})
}

func TestErrorsByKind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &fake{takes: fixed(time.Millisecond), fails: func(x *mcp.Exchange, n int64) {
			switch n % 10 {
			case 1:
				x.Result = []byte(`{"content":[{"type":"text","text":"no"}],"isError":true}`)
			case 2:
				x.Result, x.Error = nil, []byte(`{"code":-32602,"message":"bad"}`)
			case 3:
				x.Cause = &wire.HTTPError{Info: &wire.HTTPInfo{Status: http.StatusServiceUnavailable}}
			case 4:
				x.Cause = &wire.ClosedError{Reason: "gone"}
			case 5:
				x.Cause = &wire.ProtocolError{Method: "tools/call", Msg: "odd"}
			}
		}}
		slow := &fake{takes: fixed(time.Minute)}
		o := options(10, 10*time.Second, s, slow)
		o.TimeoutMS = 2000
		r := load.Run(t.Context(), o)
		got := map[string]int{}
		for _, e := range r.Total.Errors {
			got[e.Kind] = e.Count
		}
		want := map[string]int{"tool error": 5, "JSON-RPC -32602": 5, "HTTP 503": 5, "connection": 5, "unusable response": 5, "timeout": 50}
		if fmt.Sprint(got) != fmt.Sprint(want) || r.Total.Failed != 75 || r.Total.Count != 100 {
			t.Errorf("%d of %d failed: %v, want %v", r.Total.Failed, r.Total.Count, got, want)
		}
		if n := r.Total.Latency.Len(); n != 75 {
			t.Errorf("%d latencies, want those of 25 results and 50 timeouts", n)
		}
		if n := r.Total.ErrorLatency.Len(); n != 10 {
			t.Errorf("%d latencies of errors, want those of 10 that the server returned", n)
		}
		near(t, "p90", r.Total.Percentiles["p90"].Value, 2000, 9)
	})
}

// A server that refuses quickly is not fast: without a budget of errors, failed calls count as
// slower than any other, and more than 1 % of them fail the load.
func TestQuickErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		run := func(failing int64) *load.Report {
			s := &fake{takes: fixed(time.Millisecond), fails: func(x *mcp.Exchange, n int64) {
				if n%100 < failing {
					x.Result = []byte(`{"content":[],"isError":true}`)
				}
			}}
			return load.Run(t.Context(), options(100, 30*time.Second, s))
		}
		for _, c := range []struct {
			failing int64
			budget  string
			want    load.Verdict
		}{
			{95, "p50=50ms", load.Fail},
			{60, "p95=50ms", load.Fail},
			{4, "p50=50ms", load.Fail},
			{0, "p50=50ms", load.Pass},
			{95, "p50=50ms errors=97%", load.Pass},
			{4, "p50=50ms errors=10%", load.Pass},
			{4, "p50=50ms errors=1%", load.Fail},
		} {
			r := run(c.failing)
			if r.Judge(budgets(t, strings.Fields(c.budget)...)); r.Verdict != c.want {
				t.Errorf("%d %% of errors, %s: %s, %+v", c.failing, c.budget, r.Verdict, r.Budgets)
			}
		}
	})
}

// A server that answers fewer calls than are offered is said to be behind, also without an error.
func TestBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var queue atomic.Int64 // 20 ms for each call, one after the other
		start := time.Now()
		s := &fake{takes: func(at time.Time) time.Duration {
			return start.Add(time.Duration(queue.Add(1)) * 20 * time.Millisecond).Sub(at)
		}}
		o := options(200, 5*time.Second, s)
		o.TimeoutMS = 60_000
		r := load.Run(t.Context(), o)
		near(t, "answered", r.AnsweredRate, 50, 1)
		text, err := r.Show("text", term.Palette{})
		if want := "the server did not keep up: 200 calls/s were offered, and 50"; err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%v, %s", err, text)
		}
	})
}

// The first response of each call is examined, and every 100th after it.
func TestExamination(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := options(100, 10*time.Second, &fake{takes: fixed(time.Millisecond)})
		var seen atomic.Int64
		o.Calls = []load.Call{
			{Tool: "good", Examine: func(_ context.Context, version string, _ *mcp.Exchange) string {
				seen.Add(1)
				return strings.TrimPrefix(version, "2025-11-25")
			}},
			{Tool: "bad", Examine: func(context.Context, string, *mcp.Exchange) string { return "wrong text" }},
		}
		r := load.Run(t.Context(), o)
		if r.Tools[0].Examined != 5 || seen.Load() != 5 || r.Tools[0].Wrong != 0 || r.Tools[1].Wrong != 5 || r.Tools[1].Why != "wrong text" || r.Total.Failed != 0 {
			t.Errorf("good %+v, bad %+v", r.Tools[0], r.Tools[1])
		}
		if why := r.Broken(); why != "5 of 10 examined responses did not pass" {
			t.Errorf("got %q", why)
		}
	})
}

// A generator that sends late says so, and decides no budget.
func TestLateGenerator(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := options(1000, 20*time.Second, &fake{takes: fixed(20 * time.Millisecond)})
		o.Shard = load.Shard{Index: 1, Total: 10}
		o.Pause = func(d time.Duration) { time.Sleep(d + 4*time.Millisecond) }
		r := load.Run(t.Context(), o)
		r.Judge(budgets(t, "p50=1s", "p99=1ms", "errors=1%"))
		near(t, "lateness", r.Generator.LateP99, 4, 0.1)
		near(t, "p50", r.Total.Percentiles["p50"].Value, 24, 0.5)
		if !r.Generator.Limit || r.Verdict != load.Inconclusive {
			t.Errorf("limit %v, verdict %s", r.Generator.Limit, r.Verdict)
		}
		r.Generator.CPU = 0.01
		if text, err := r.Show("text", term.Palette{}); err != nil || !strings.Contains(string(text), "others kept them busy") {
			t.Errorf("%v: %s", err, text)
		}
		for _, j := range r.Budgets {
			if j.Verdict != load.Inconclusive || j.Reason != "the generator was the limit" {
				t.Errorf("%+v", j)
			}
		}
		// 4 ms of 100 ms are within 5 %.
		o.Sessions = []load.Session{&fake{takes: fixed(100 * time.Millisecond)}}
		if r := load.Run(t.Context(), o); r.Generator.Limit {
			t.Errorf("4 ms late of %g ms: %+v", r.Total.Percentiles["p50"].Value, r.Generator)
		}
		// At 100/s each call is sent before the next one is due: the server gets the load that
		// was asked for. What passes although its latency contains 4 ms of the generator passes;
		// what fails only because of them is not decided.
		o = options(100, 20*time.Second, &fake{takes: fixed(20 * time.Millisecond)})
		o.Pause = func(d time.Duration) { time.Sleep(d + 4*time.Millisecond) }
		r = load.Run(t.Context(), o)
		r.Judge(budgets(t, "p50=1s", "p95=22ms", "p99=1ms", "errors=1%"))
		for i, want := range []load.Verdict{load.Pass, load.Inconclusive, load.Fail, load.Pass} {
			if j := r.Budgets[i]; r.Generator.Limit || j.Verdict != want || want == load.Inconclusive && j.Reason != "the latencies contain that the generator sent calls up to 4ms late" {
				t.Errorf("limit %v, %+v", r.Generator.Limit, j)
			}
		}
	})
}

// An interrupted load reports what was measured; calls in flight are no errors.
func TestInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		r := load.Run(ctx, options(100, time.Minute, &fake{takes: fixed(50 * time.Millisecond)}))
		if !r.Interrupted || r.Total.Count < 490 || r.Total.Count > 500 || r.Total.Failed != 0 {
			t.Errorf("interrupted %v, %d calls, %+v", r.Interrupted, r.Total.Count, r.Total.Errors)
		}
		near(t, "measured", float64(r.MeasuredMS), 5000, 1)
		near(t, "rate", r.Total.Rate, 99, 2)
		// Before the first call it waits for the common start, and stops at once.
		ctx, cancel = context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		o := options(100, time.Minute, &fake{takes: fixed(0)})
		o.Start = time.Now().Add(time.Hour)
		if r := load.Run(ctx, o); !r.Interrupted || r.Total.Count != 0 || r.MeasuredMS != 0 {
			t.Errorf("%+v", r.Total)
		}
	})
}

// Sessions that have ended get no more calls; without any, the load ends.
func TestEndedSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := &fake{takes: fixed(0)}, &fake{takes: fixed(0)}
		time.AfterFunc(2*time.Second+time.Millisecond, func() { a.dead.Store(true) })
		time.AfterFunc(4*time.Second+time.Millisecond, func() { b.dead.Store(true) })
		r := load.Run(t.Context(), options(10, 10*time.Second, a, b))
		if a.calls.Load() != 11 || b.calls.Load() != 30 || r.Total.Count != 41 || r.Ended != "every session has ended" || r.Broken() != r.Ended {
			t.Errorf("%d and %d calls, ended %q", a.calls.Load(), b.calls.Load(), r.Ended)
		}
		near(t, "measured", float64(r.MeasuredMS), 4100, 1)
	})
}

// Progress is reported while calls are sent.
func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := options(20, 10*time.Second, &fake{takes: fixed(time.Millisecond)})
		o.WarmUpMS = 1000
		n, last := 0, 0
		o.Doing = func(elapsed time.Duration, count, failed int) {
			if n++; failed != 0 || count != n || math.Abs(elapsed.Seconds()*20-float64(n)) > 1.1 {
				t.Errorf("after %v: %d calls, %d errors", elapsed, count, failed)
			}
			last = count
		}
		load.Run(t.Context(), o)
		if n != 200 || last != 200 {
			t.Errorf("%d reports, the last of %d calls", n, last)
		}
	})
}

// A pause that ends too early, because of a signal, sends no call before its time.
func TestNoCallIsEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := options(10, 2*time.Second, &fake{takes: fixed(time.Millisecond)})
		o.Pause = func(d time.Duration) { time.Sleep(max(d/3, 1)) }
		r := load.Run(t.Context(), o)
		near(t, "p50", r.Total.Percentiles["p50"].Value, 1, 0.01)
		near(t, "the lowest", r.Total.Latency.Quantile(0.01).Value, 1, 0.01)
	})
}
