package run

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"mcptest/internal/mcp"
)

// TestRoomIsNeverOverfull: many takers of all sizes, never more in it at once
// than it holds, and all of them get in.
func TestRoomIsNeverOverfull(t *testing.T) {
	var r room
	var in, got atomic.Int64
	var wg sync.WaitGroup
	sizes := []int64{0, 1, roomBytes / 3, roomBytes / 2, roomBytes, 5 * roomBytes}
	for i := range 60 {
		wg.Go(func() {
			n := sizes[i%len(sizes)]
			release := r.take(n)
			if now := in.Add(min(n, roomBytes)); now > roomBytes {
				t.Errorf("%d bytes in a room of %d", now, roomBytes)
			}
			in.Add(-min(n, roomBytes))
			got.Add(1)
			release()
			release() // twice gives nothing back
		})
	}
	wg.Wait()
	if got.Load() != 60 || r.taken != 0 {
		t.Errorf("%d got in, %d bytes are taken at the end", got.Load(), r.taken)
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
		"notifications": {mcp.Exchange{Response: []byte(`{}`), During: []mcp.Message{{Frame: mcp.Frame{Raw: long}}}}, 200_000 * 60, 200_000 * 80},
	} {
		if got := treeBytes(&c.x, nil); got < c.least || got > c.most {
			t.Errorf("%s: %d bytes, want %d to %d", name, got, c.least, c.most)
		}
	}
}
