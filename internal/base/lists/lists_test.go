package lists_test

import (
	"slices"
	"strconv"
	"testing"

	"mcptest/internal/base/lists"
)

func TestMap(t *testing.T) {
	t.Parallel()
	if got := lists.Map([]int{3, 1}, strconv.Itoa); !slices.Equal(got, []string{"3", "1"}) {
		t.Errorf("got %q", got)
	}
	if got := lists.Map([]int{}, strconv.Itoa); got != nil {
		t.Errorf("an empty list became %q, not nil", got)
	}
}

func TestFirst(t *testing.T) {
	t.Parallel()
	even := func(n int) bool { return n%2 == 0 }
	if a, b := lists.First([]int{3, 4, 6}, even), lists.First([]int{3}, even); a != 4 || b != 0 {
		t.Errorf("got %d and %d", a, b)
	}
}

func TestCount(t *testing.T) {
	t.Parallel()
	if n := lists.Count([]int{3, 4, 6}, func(n int) bool { return n > 3 }); n != 2 {
		t.Errorf("got %d", n)
	}
}

func TestKept(t *testing.T) {
	t.Parallel()
	got := lists.Kept([]string{"3", "x", "1"}, func(s string) (int, bool) {
		n, err := strconv.Atoi(s)
		return n, err == nil
	})
	if !slices.Equal(got, []int{3, 1}) {
		t.Errorf("got %v", got)
	}
}
