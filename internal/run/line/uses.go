package line

import (
	"slices"
	"sync"

	"mcptest/internal/client/mcp"
)

// Uses are the tests that used a session, in order.
type Uses struct {
	mu sync.Mutex
	of map[*mcp.Session][]int
}

// Add records that a test uses a session and returns the tests that did so far, which may
// include an earlier attempt of this one. The result shares its memory with later ones:
// a copy per test would cost a time that grows with the square of their number.
func (u *Uses) Add(sess *mcp.Session, index int) (before []int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.of == nil {
		u.of = map[*mcp.Session][]int{}
	}
	before = slices.Clip(u.of[sess])
	if len(before) == 0 || before[len(before)-1] != index {
		u.of[sess] = append(u.of[sess], index)
	}
	return before
}
