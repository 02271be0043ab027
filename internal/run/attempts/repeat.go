package attempts

import (
	"fmt"
	"slices"
	"time"

	"mcptest/internal/assert/expect"
	"mcptest/internal/base/stats"
	"mcptest/internal/report/render"
	"mcptest/internal/report/result"
	"mcptest/internal/spec/repeat"
)

// confidence is that of the intervals in reports.
const confidence = 0.95

// Repeat runs attempts of a case and requires a share of passes. The details are those of
// the first failed run, or of the last run. A run that decides nothing, like one whose
// recording is stale, neither passed nor failed: the case is inconclusive, unless the runs
// that failed decide it. If a run is skipped, repeat stops: the case has failed if the share
// can no longer be reached; otherwise it is skipped, because the share is unknown.
// attempt returns false if the attempt did not begin; reason says why a run that
// was stopped did not end.
func Repeat(r *repeat.Repeat, attempt func(n int) (*result.Case, bool), stopped func() bool, reason string) result.Case {
	var shown, open *result.Case // open: the first run that decided nothing
	at, openAt, undecided := 0, 0, 0
	all := List{Word: "run"}
	for i := range r.Times {
		one, began := attempt(i + 1)
		if !began && i > 0 {
			break
		}
		all.Add(one)
		switch {
		case one.Status == result.Inconclusive:
			undecided++
			if open == nil {
				open, openAt = one, i
			}
		case shown == nil || shown.Status == result.Pass:
			shown, at = one, i
		}
		if stopped() || one.Status == result.Skip {
			break
		}
	}
	rep := all.summarizeRepeat(r)
	share := func(n int) bool { return expect.Reaches(float64(n)/float64(rep.Times), rep.Rate) } // inclusive, with the same tolerance as other thresholds
	if open != nil && (shown == nil || !shown.Status.Failed() || share(rep.Passed+undecided)) {
		shown, at = open, openAt
	}
	out := *shown
	out.Repeat = rep
	all.Apply(&out, at)
	ran, last := len(all.Done), all.Done[len(all.Done)-1]
	if last.Status == result.Skip {
		ran, reason = ran-1, last.Message
	}
	switch {
	case ran < rep.Times && !share(rep.Passed+undecided+rep.Times-ran):
		if !out.Status.Failed() {
			out.Status = result.Fail
		}
	case out.Status == result.Inconclusive:
		out.Message = fmt.Sprintf("%d of %d runs passed, %d decided nothing: %s", rep.Passed, rep.Times, undecided, out.Message)
	case out.Status == result.Skip && rep.Passed > 0:
		out.Message = fmt.Sprintf("%s (run %d of %d; those before it passed)", reason, at+1, rep.Times)
	case ran < rep.Times:
		out.Status, out.Message = result.Skip, reason
	case share(rep.Passed):
		out.Status, out.Message = checkBudget(r, rep)
	default:
		if out.Status == result.Pass {
			out.Status = result.Fail
		}
		out.Message = fmt.Sprintf("%d of %d runs passed, expected a share of %v: %s", rep.Passed, rep.Times, rep.Rate, out.Message)
	}
	return out
}

// summarizeRepeat returns what the runs of a case with repeat have in common.
func (t *List) summarizeRepeat(r *repeat.Repeat) *result.Repeat {
	out := &result.Repeat{Times: r.Times, Rate: r.Rate()}
	var times []float64
	ran := 0
	for i := range t.Done {
		a := &t.Done[i]
		if a.Status != result.Skip {
			ran++
		}
		if a.Status == result.Pass {
			out.Passed++
		}
		if (a.Status == result.Pass || a.Status == result.Fail) && !a.Silent {
			times = append(times, a.DurationMS)
		}
	}
	out.Low, out.High = stats.ComputeWilson(out.Passed, max(1, ran), confidence)
	slices.Sort(times)
	if n := len(times); n > 0 {
		out.Latency = []result.Quantile{
			computeQuantile("p50", times, 0.5, r.P50), computeQuantile("p95", times, 0.95, r.P95),
			{Name: "max", N: n, MS: times[n-1], BudgetMS: toMilliseconds(r.Max)},
		}
	}
	return out
}

func toMilliseconds(d *time.Duration) float64 {
	if d == nil {
		return 0
	}
	return float64(*d) / float64(time.Millisecond)
}

func computeQuantile(name string, sorted []float64, q float64, budget *time.Duration) result.Quantile {
	n := len(sorted)
	low, high := stats.ComputeRanks(n, q, confidence)
	out := result.Quantile{
		Name:     name,
		N:        n,
		MS:       sorted[stats.Nearest(n, q)-1],
		LowMS:    sorted[low-1],
		BudgetMS: toMilliseconds(budget),
	}
	if high <= n {
		out.HighMS = sorted[high-1]
	}
	return out
}

// checkBudget returns what the budgets of r say about a case whose share of passes suffices:
// a pass, a failure, or inconclusive if too few runs got a response.
func checkBudget(r *repeat.Repeat, have *result.Repeat) (status result.Status, why string) {
	n := 0
	for _, q := range have.Latency {
		n = q.N
		if q.BudgetMS > 0 && q.MS > q.BudgetMS && (q.Name == "max" || n >= repeat.Percentile) {
			return result.Fail, fmt.Sprintf("%s, expected at most %s (%d calls)", render.Quantile(q), render.Duration(q.BudgetMS), n)
		}
	}
	if n < repeat.Percentile && (r.P50 != nil || r.P95 != nil) || n == 0 && r.Max != nil {
		return result.Inconclusive, fmt.Sprintf("%d of %d runs got a response: too few to judge how long they take", n, have.Times)
	}
	return result.Pass, ""
}
