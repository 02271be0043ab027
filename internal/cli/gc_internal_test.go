package cli

import (
	"runtime"
	"testing"
)

func TestGrowthOfTheHeap(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		live uint64
		want int
	}{
		{0, 250}, {1 << 20, 250}, {3 << 20, 200}, {4 << 20, 150}, {5 << 20, 100}, {8 << 20, 100}, {16 << 20, 100}, {1 << 40, 100},
	} {
		if got := growth(tc.live); got != tc.want {
			t.Errorf("growth(%d MiB) = %d, want %d", tc.live>>20, got, tc.want)
		}
	}
}

func TestLiveHeapIsKnown(t *testing.T) {
	t.Parallel()
	runtime.GC()
	if liveHeap() == 0 {
		t.Error("the runtime does not tell how much of the heap lives")
	}
}
