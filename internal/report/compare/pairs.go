package compare

import (
	"fmt"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/stats"
	"mcptest/internal/base/term"
	"mcptest/internal/report/explain"
	"mcptest/internal/report/render"
	"mcptest/internal/report/result"
)

// shown is the probability below which a difference counts as shown.
const shown = 0.05

// Pairs compares the trials, or runs of repeat, of one test in both records, by their
// number. Those without a pass or a failure in both are left out.
type Pairs struct {
	Name       string `json:"name"`
	File       string `json:"file"`
	N          int    `json:"n"`
	Before     int    `json:"before_passed"`
	After      int    `json:"after_passed"`
	OnlyBefore int    `json:"only_before_passed"`
	OnlyAfter  int    `json:"only_after_passed"`
	// P is McNemar's: how probable such a difference is if there is none.
	P float64 `json:"p"`
	// Difference is that of the shares, after minus before, with its interval of 95 %.
	Difference float64 `json:"difference"`
	Low        float64 `json:"low"`
	High       float64 `json:"high"`
	Shown      bool    `json:"difference_shown"`
}

// listOutcomes returns the outcomes of the trials or runs of a test; nil for other tests.
func listOutcomes(t *result.Case) (list []result.Status) {
	if t.Trials == nil && t.Repeat == nil {
		return nil
	}
	for i := range t.Attempts {
		list = append(list, t.Attempts[i].Status)
	}
	return list
}

// testName returns the name of a test of a record, the earlier (0) or later one (1), which is
// that of its counterpart, too; ok is false if the test is not compared.
func (o *Options) testName(record int, t *result.Case) (name string, ok bool) {
	if o.Variants == nil {
		return t.Name, true
	}
	server, variant := explain.SplitVariant(t.Server)
	return strings.TrimSuffix(t.Name, " @"+t.Server) + " @" + server, variant == o.Variants[record]
}

// addPair adds the comparison of a test's trials, if both records have some.
func (c *Comparison) addPair(before []result.Status, t *result.Case) {
	p := Pairs{Name: t.Name, File: t.File}
	counts := map[[2]bool]int{}
	counted := func(s result.Status) bool { return s == result.Pass || s == result.Fail }
	for i, now := range listOutcomes(t) {
		if i < len(before) && counted(before[i]) && counted(now) {
			counts[[2]bool{before[i] == result.Pass, now == result.Pass}]++
			p.N++
		}
	}
	if p.N == 0 {
		return
	}
	both, none := counts[[2]bool{true, true}], counts[[2]bool{false, false}]
	p.OnlyBefore, p.OnlyAfter = counts[[2]bool{true, false}], counts[[2]bool{false, true}]
	p.Before, p.After = both+p.OnlyBefore, both+p.OnlyAfter
	p.P = stats.ComputeMcNemar(p.OnlyBefore, p.OnlyAfter)
	p.Low, p.High = stats.ComputePairedDifference(both, p.OnlyBefore, p.OnlyAfter, none, 0.95)
	p.Difference, p.Shown = float64(p.After-p.Before)/float64(p.N), p.P < shown
	c.Pairs = append(c.Pairs, p)
}

// Worse reports whether a later version was shown to pass less often.
func (p *Pairs) Worse() bool { return p.Shown && p.Difference < 0 }

func (p *Pairs) String() string {
	verdict := fmt.Sprintf("no difference shown (n = %d)", p.N)
	if p.Shown {
		verdict = fmt.Sprintf("a difference (n = %d)", p.N)
	}
	return fmt.Sprintf("%d of %d → %d of %d passed, difference %+.2f (%+.2f to %+.2f), p = %s: %s",
		p.Before, p.N, p.After, p.N, p.Difference, p.Low, p.High, formatProbability(p.P), verdict)
}

func formatProbability(p float64) string {
	if p < 0.001 {
		return "less than 0.001"
	}
	return fmt.Sprintf("%.3f", p)
}

func listPairs(p *render.Printer, list []Pairs) {
	if len(list) == 0 {
		return
	}
	p.Heading(strings.Join([]string{"Trials of", display.Count(len(list), "test"), "compared in pairs"}, " "))
	for i := range list {
		st, mark := term.Faint, "= "
		switch {
		case list[i].Worse():
			st, mark = term.Bad, "▼ "
		case list[i].Shown:
			st, mark = term.Good, "▲ "
		}
		p.Line(2, p.Paint(st, mark), term.Escape(list[i].Name), "  ", list[i].String())
	}
}
