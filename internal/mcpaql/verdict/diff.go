package verdict

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/base/display"
)

// Change is how a row differs between two reports.
type Change string

// The kinds of changes. Only Worse and Gone are regressions: a row that
// failed or warned and no longer exists has not been fixed.
const (
	Worse  Change = "worse"
	Better Change = "better"
	Same   Change = "unchanged"
	New    Change = "new"
	Gone   Change = "gone"
)

// RowChange is one row of two reports. Before or After is "" when the report
// does not have the row.
type RowChange struct {
	Category, Test string
	Before, After  Result
	Change         Change
	Detail         string // of the newer report
}

// Diff holds the changes from one report to the next.
type Diff struct {
	Rows          []RowChange
	Before, After *Report
}

// Compare compares two reports row by row. Rows of the same name in one
// category are distinguished by their order.
func Compare(before, after *Report) Diff {
	d := Diff{Before: before, After: after}
	keys, old := indexRows(before)
	newKeys, now := indexRows(after)
	for _, k := range newKeys {
		row := now[k]
		c := RowChange{Category: k.category, Test: k.test, After: row.Result, Detail: row.Detail}
		if was, ok := old[k]; ok {
			c.Before, c.Change = was.Result, compareResults(was.Result, row.Result)
		} else {
			c.Change = New
			if row.Result == Failed {
				c.Change = Worse
			}
		}
		d.Rows = append(d.Rows, c)
	}
	for _, k := range keys {
		if _, still := now[k]; !still {
			d.Rows = append(d.Rows, RowChange{Category: k.category, Test: k.test, Before: old[k].Result, Change: Gone})
		}
	}
	return d
}

// compareResults orders PASS, WARN, FAIL. A row that is no longer evaluated is worse
// than one that passed, and not better than one that failed.
func compareResults(before, after Result) Change {
	rank := map[Result]int{Pass: 0, Skipped: 1, Warned: 2, Failed: 3}
	switch {
	case before == after:
		return Same
	case after == Skipped || rank[after] > rank[before]:
		return Worse
	}
	return Better
}

type rowKey struct {
	category, test string
	n              int
}

// indexRows treats a row that does not apply as one that was skipped.
func indexRows(r *Report) (keys []rowKey, rows map[rowKey]TestResult) {
	rows = map[rowKey]TestResult{}
	n := map[rowKey]int{}
	add := func(k rowKey, t TestResult) { keys, rows[k] = append(keys, k), t }
	for _, c := range r.Categories {
		for _, t := range c.Tests {
			k := rowKey{category: c.Name, test: t.Name}
			n[k]++
			add(rowKey{c.Name, t.Name, n[k]}, t)
		}
	}
	for _, x := range r.NotApplicable {
		add(rowKey{x.Category, x.Test, 1}, TestResult{Name: x.Test, Result: Skipped, Detail: x.Reason})
	}
	return keys, rows
}

// HasRegressed reports whether anything got worse.
func (d Diff) HasRegressed() bool {
	known := d.Before.AchievedLevel >= 0 && d.After.AchievedLevel >= 0
	return d.After.ConformanceLevel < d.Before.ConformanceLevel || known && d.After.AchievedLevel < d.Before.AchievedLevel ||
		slices.ContainsFunc(d.Rows, func(r RowChange) bool { return r.Change == Worse || r.Change == Gone })
}

// FormatText lists the differences, worst first, and counts the rest.
func (d Diff) FormatText() string {
	var b strings.Builder
	n := map[Change]int{}
	for _, kind := range []Change{Worse, Gone, Better, New} {
		for _, r := range d.Rows {
			if r.Change != kind {
				continue
			}
			fmt.Fprintf(&b, "%-6s %s / %s: %s -> %s\n",
				kind, display.OneLine(r.Category), display.OneLine(r.Test), nameOrNone(r.Before), nameOrNone(r.After))
			if kind == Worse && r.Detail != "" {
				fmt.Fprintf(&b, "       %s\n", display.OneLine(r.Detail))
			}
		}
	}
	for _, r := range d.Rows {
		n[r.Change]++
	}
	if d.Before.ConformanceLevel != d.After.ConformanceLevel {
		fmt.Fprintf(&b, "conformance level: %d -> %d\n", d.Before.ConformanceLevel, d.After.ConformanceLevel)
	}
	if d.Before.AchievedLevel != d.After.AchievedLevel && d.Before.AchievedLevel >= 0 && d.After.AchievedLevel >= 0 {
		fmt.Fprintf(&b, "achieved level: %d -> %d\n", d.Before.AchievedLevel, d.After.AchievedLevel)
	}
	if d.Before.Rules != d.After.Rules {
		fmt.Fprintf(&b, "rules: %s -> %s (verdicts of different rule sets differ for that reason alone)\n", nameOrNone(d.Before.Rules), nameOrNone(d.After.Rules))
	}
	fmt.Fprintf(&b, "%d worse, %d gone, %d better, %d new, %d unchanged\n", n[Worse], n[Gone], n[Better], n[New], n[Same])
	return b.String()
}

func nameOrNone[T ~string](s T) string { return cmp.Or(string(s), "(none)") }
