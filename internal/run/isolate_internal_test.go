package run

import (
	"slices"
	"testing"

	"mcptest/internal/client/mcp"
	"mcptest/internal/run/line"
	"mcptest/internal/spec/plan"
)

// The tests that it takes to fail are found, also if it takes several.
func TestSmallest(t *testing.T) {
	t.Parallel()
	all := []int{0, 1, 2, 3, 4, 5, 6}
	for _, causes := range [][]int{{0}, {3}, {6}, {1, 2}, {0, 6}, {0, 3, 6}} {
		runs := 0
		got := findSmallest(all, func(list []int) bool {
			runs++
			return !slices.ContainsFunc(causes, func(c int) bool { return !slices.Contains(list, c) })
		})
		if !slices.Equal(got, causes) || runs > 20 {
			t.Errorf("%v after %d runs, not %v", got, runs, causes)
		}
	}
	if got := findSmallest(all, func([]int) bool { return false }); got != nil {
		t.Errorf("%v, although it never fails", got)
	}
}

// What precedes a test is not copied for each test, which would cost a time that grows
// with the square of their number; the test itself and repeated uses are left out.
func TestUsesAreNotCopied(t *testing.T) {
	var u line.Uses
	a, b := new(mcp.Session), new(mcp.Session)
	index := 0
	perTest := testing.AllocsPerRun(10_000, func() {
		u.Add(a, index)
		index++
	})
	if perTest >= 1 {
		t.Errorf("%v allocations per test", perTest)
	}
	u.Add(b, 5)
	u.Add(b, 7)
	cr := &caseRun{c: &plan.Case{Index: 7}, before: [][]int{u.Add(b, 7), {5, 2, 7}}}
	if got := cr.listPredecessors(); !slices.Equal(got, []int{5, 2}) || !cr.hasPredecessor() {
		t.Errorf("predecessors %v", got)
	}
	cr.before = [][]int{{7}, nil}
	if got := cr.listPredecessors(); got != nil || cr.hasPredecessor() {
		t.Errorf("predecessors %v", got)
	}
}
