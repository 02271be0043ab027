package line

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"mcptest/internal/client/mcp"
	"mcptest/internal/client/wire"
)

// TestBudgetIsNeverExceeded: concurrent callers never hold more than the budget together,
// and all of them get their share.
func TestBudgetIsNeverExceeded(t *testing.T) {
	var b Budget
	var in, got atomic.Int64
	var wg sync.WaitGroup
	sizes := []int64{0, 1, budgetBytes / 3, budgetBytes / 2, budgetBytes, 5 * budgetBytes}
	for i := range 60 {
		wg.Go(func() {
			n := sizes[i%len(sizes)]
			release := b.Acquire(n)
			if now := in.Add(min(n, budgetBytes)); now > budgetBytes {
				t.Errorf("%d bytes of a budget of %d", now, budgetBytes)
			}
			in.Add(-min(n, budgetBytes))
			got.Add(1)
			release()
			release() // the second time has no effect
		})
	}
	wg.Wait()
	if got.Load() != 60 || b.taken != 0 {
		t.Errorf("%d got their share, %d bytes are taken at the end", got.Load(), b.taken)
	}
}

func TestTreeBytes(t *testing.T) {
	long := []byte("[" + strings.Repeat("[0],", 100_000) + "0]")
	for name, c := range map[string]struct {
		x           mcp.Exchange
		least, most int64
	}{
		"small":         {mcp.Exchange{Response: []byte(`{"result":{}}`)}, 0, 0},
		"one long text": {mcp.Exchange{Response: []byte(`"` + strings.Repeat("x", 1<<20) + `"`)}, 2 << 20, 3 << 20},
		"many values":   {mcp.Exchange{Response: long}, 200_000 * 60, 200_000 * 80},
		"notifications": {mcp.Exchange{Response: []byte(`{}`), During: []mcp.Message{{Frame: wire.Frame{Raw: long}}}}, 200_000 * 60, 200_000 * 80},
	} {
		if got := countTreeBytes(&c.x, nil); got < c.least || got > c.most {
			t.Errorf("%s: %d bytes, want %d to %d", name, got, c.least, c.most)
		}
	}
}
