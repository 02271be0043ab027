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

// TestMemory: the bound is the usual one until the program needs more, and
// always leaves room to grow.
func TestMemory(t *testing.T) {
	for live, want := range map[uint64]int64{0: usualMemory, 100 << 20: usualMemory, 120 << 20: 192 << 20, 1 << 30: 1536 << 20} {
		if got := memory(live); got != want {
			t.Errorf("%d MiB live: %d MiB, want %d", live>>20, got>>20, want>>20)
		}
	}
}
