package load

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"mcptest/internal/base/stats"
)

// Verdict is what the measured values say about budgets.
type Verdict string

// The verdicts, from the best to the worst.
const (
	Pass         Verdict = "pass"
	Inconclusive Verdict = "inconclusive"
	Fail         Verdict = "fail"
)

// Budget is a limit: of a percentile in milliseconds, or of a share.
type Budget struct {
	Name  string // p50, p90, p95, p99, errors or wrong
	Limit float64
	text  string // as written
}

// Names of the budgets of shares.
const (
	errorShare = "errors" // of all calls
	wrongShare = "wrong"  // of the examined responses
)

// ParseBudgets parses limits such as p99=250ms and errors=0.1%.
func ParseBudgets(texts []string) (out []Budget, err error) {
	for _, text := range texts {
		name, value, _ := strings.Cut(text, "=")
		b := Budget{Name: name, text: text}
		switch {
		case slices.ContainsFunc(out, func(o Budget) bool { return o.Name == name }):
			return nil, fmt.Errorf("%s has two budgets", name)
		case parsePercentile(name) > 0:
			d, err := time.ParseDuration(value)
			if err != nil || d <= 0 {
				return nil, fmt.Errorf("%s: expected a time above 0, such as %s=250ms", text, name)
			}
			b.Limit = float64(d) / float64(time.Millisecond)
		case name == errorShare || name == wrongShare:
			percent, ok := strings.CutSuffix(value, "%")
			v, err := strconv.ParseFloat(percent, 64)
			switch {
			case err != nil || !ok || v >= 100:
				return nil, fmt.Errorf("%s: expected a share in percent, above 0 %% and below 100 %%, such as %s=0.1%%", text, name)
			case !(v > 0):
				return nil, fmt.Errorf("%s: expected a share above 0 %%, such as %s=0.1%%: no number of calls shows that there are none", text, name)
			}
			b.Limit = v / 100
		default:
			return nil, fmt.Errorf("%q is not a budget: expected %s=TIME, %s=PERCENT%% or %s=PERCENT%%", name, strings.Join(percentiles(), ", "), errorShare, wrongShare)
		}
		out = append(out, b)
	}
	return out, nil
}

// Judged is a budget with its verdict. The values are milliseconds or shares.
type Judged struct {
	Budget  string   `json:"budget"`
	Value   float64  `json:"value"`
	Low     float64  `json:"low"`
	High    *float64 `json:"high"` // null: no upper bound is known
	Verdict Verdict  `json:"verdict"`
	Reason  string   `json:"reason,omitempty"` // of an inconclusive one
	Share   bool     `json:"share"`
}

// Judge compares the values of all calls with budgets.
func (r *Report) Judge(budgets []Budget) {
	r.Budgets, r.Verdict = nil, ""
	apart := slices.ContainsFunc(budgets, func(b Budget) bool { return b.Name == errorShare })
	if !apart && len(budgets) > 0 {
		budgets = append(budgets[:len(budgets):len(budgets)], r.listAllowance()...)
	}
	for _, b := range budgets {
		j, g := r.judge(b, apart), &r.Generator
		late := time.Duration(g.Late.Max) * time.Microsecond
		switch {
		case j.Verdict != Inconclusive && g.Limit:
			j.Verdict, j.Reason = Inconclusive, "the generator was the limit"
		case j.Verdict == Fail && !j.Share && r.isLate() && j.Low-g.Late.longest() <= b.Limit:
			j.Verdict, j.Reason = Inconclusive, fmt.Sprintf("the latencies contain that the generator sent calls up to %v late", late.Round(10*time.Microsecond))
		}
		r.Budgets = append(r.Budgets, j)
		if worse := []Verdict{"", Pass, Inconclusive, Fail}; slices.Index(worse, j.Verdict) > slices.Index(worse, r.Verdict) {
			r.Verdict = j.Verdict
		}
	}
}

// allowed is the share of errors from which on a load with other budgets fails.
const allowed = 0.01

// listAllowance returns the budget of errors of a load that has budgets, and none of errors: it is
// judged only if it certainly fails, because the user did not ask for as many calls as a verdict needs.
func (r *Report) listAllowance() []Budget {
	b := Budget{Name: errorShare, Limit: allowed, text: "errors=1% (default)"}
	if r.judge(b, false).Verdict != Fail {
		return nil
	}
	return []Budget{b}
}

// Broken returns why a load fails regardless of its budgets, and "" if it does not: the
// server ended, no call succeeded, or an examined response did not pass although no budget
// allows it. Judge comes before.
func (r *Report) Broken() string {
	has := func(name string) bool {
		return slices.ContainsFunc(r.Budgets, func(j Judged) bool { return strings.HasPrefix(j.Budget, name) })
	}
	t := &r.Total
	switch {
	case r.Interrupted:
		return ""
	case r.Ended != "":
		return r.Ended
	case t.Failed == t.Count && !has(errorShare):
		return "no call succeeded"
	case t.Wrong > 0 && !has(wrongShare):
		return fmt.Sprintf("%d of %d examined responses did not pass", t.Wrong, t.Examined)
	}
	return ""
}

// judge compares a value with its budget. Failed calls count as slower than any other, unless
// another budget judges them apart.
func (r *Report) judge(b Budget, apart bool) Judged {
	j := Judged{Budget: b.text, Share: b.Name == errorShare || b.Name == wrongShare}
	t := &r.Total
	lost := 0
	if !apart && !j.Share {
		lost = t.countLost()
	}
	need := "more calls decide"
	if j.Share {
		k, n := t.Failed, t.Count
		if b.Name == wrongShare {
			k, n = t.Wrong, t.Examined
		}
		low, high := stats.ComputeClopperPearson(k, n, 0.95)
		j.Low, j.High = low, &high
		if n > 0 {
			j.Value = float64(k) / float64(n)
		}
		if enough := b.Needs(); n < enough {
			need = fmt.Sprintf("about %d are needed at least, here are %d", enough, n)
		}
	} else {
		q := parsePercentile(b.Name)
		v := t.Percentiles[b.Name]
		j.Value, j.Low, j.High = v.Value, v.Low, v.High
		if lost > 0 {
			all := t.Latency.mergeWith(lost).Quantile(q)
			j.Low, j.High = max(j.Low, all.Low), all.High
			need = fmt.Sprintf("%d of %d calls failed, and count as slower", lost, t.Count)
		}
		if j.High == nil && lost == 0 {
			need = fmt.Sprintf("not enough calls for %s: about %d are needed, here are %d", b.Name, countEnough(q), t.Latency.Len())
		}
	}
	switch {
	case j.Low > b.Limit:
		j.Verdict = Fail
		if lost > 0 {
			j.Reason = need
		}
	case j.High != nil && *j.High <= b.Limit:
		j.Verdict = Pass
	default:
		j.Verdict, j.Reason = Inconclusive, need
	}
	return j
}

// Needs returns the least number of calls that can decide in favor of a budget; those of wrong
// are examined responses.
func (b Budget) Needs() int {
	if q := parsePercentile(b.Name); q > 0 {
		return countEnough(q)
	}
	return int(math.Ceil(math.Log(0.025) / math.Log1p(-b.Limit)))
}

// Foresee says how many calls each budget needs, and what a load of so many can't decide.
func Foresee(budgets []Budget, calls int, rate float64) string {
	var needs []string
	most := 0
	for _, b := range budgets {
		if b.Name == wrongShare {
			continue // only some responses are examined
		}
		needs = append(needs, fmt.Sprintf("%s needs %d", b.text, b.Needs()))
		most = max(most, b.Needs())
	}
	if most == 0 {
		return ""
	}
	text := fmt.Sprintf("%d calls are due; %s", calls, strings.Join(needs, ", "))
	if most > calls {
		longer := time.Duration(math.Ceil(float64(most)/rate)) * time.Second
		text += fmt.Sprintf(": too few to decide all of them, --duration %v would do", longer)
	}
	return text
}

// countEnough returns the least number of values that bound a quantile from above.
func countEnough(q float64) int {
	for n := 1; ; n++ {
		if _, high := stats.ComputeRanks(n, q, 0.95); high <= n {
			return n
		}
	}
}

// isLate reports whether calls were sent so late that it matters to their latency: by 1 ms,
// and by 5 % of the median.
func (r *Report) isLate() bool {
	return r.Generator.LateP99 > max(1, r.Total.Percentiles["p50"].Value/20)
}
