package pool

import (
	"sync"
	"time"
)

// Kinds of work that take the time of a run. If several go on at once, the first counts.
const (
	Calling    = iota // tests and their calls
	Starting          // of servers
	Hooking           // hooks and fixture steps
	Ending            // of servers
	Diagnosing        // tests that run again
	kinds
)

// Clock adds up where the time of a run goes. The zero value is ready.
type Clock struct {
	mu     sync.Mutex
	since  time.Time
	active [kinds]int
	spent  [kinds]time.Duration
}

// Begin begins work of a kind and returns the function that ends it. A nil clock measures
// nothing.
func (c *Clock) Begin(kind int) (end func()) {
	if c == nil {
		return func() {}
	}
	c.add(kind, 1)
	return func() { c.add(kind, -1) }
}

func (c *Clock) add(kind, by int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	for k, n := range c.active {
		if n > 0 {
			c.spent[k] += now.Sub(c.since)
			break
		}
	}
	c.since = now
	c.active[kind] += by
}

// Spent returns the time of each kind so far.
func (c *Clock) Spent() [kinds]time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.spent
}
