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
