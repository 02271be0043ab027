package run

import (
	"slices"
	"testing"
)

// The tests that it takes to fail are found, also if it takes several.
func TestSmallest(t *testing.T) {
	t.Parallel()
	all := []int{0, 1, 2, 3, 4, 5, 6}
	for _, causes := range [][]int{{0}, {3}, {6}, {1, 2}, {0, 6}, {0, 3, 6}} {
		runs := 0
		got := smallest(all, func(list []int) bool {
			runs++
			return !slices.ContainsFunc(causes, func(c int) bool { return !slices.Contains(list, c) })
		})
		if !slices.Equal(got, causes) || runs > 20 {
			t.Errorf("%v after %d runs, not %v", got, runs, causes)
		}
	}
	if got := smallest(all, func([]int) bool { return false }); got != nil {
		t.Errorf("%v, although it never fails", got)
	}
}
