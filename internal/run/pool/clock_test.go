package pool_test

import (
	"testing"
	"testing/synctest"
	"time"

	"mcptest/internal/run/pool"
)

// Time counts once, for the first kind of what goes on.
func TestClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c pool.Clock
		hook := c.Begin(pool.Hooking)
		time.Sleep(time.Second)
		start := c.Begin(pool.Starting)
		time.Sleep(2 * time.Second)
		start()
		call, other := c.Begin(pool.Calling), c.Begin(pool.Calling)
		time.Sleep(3 * time.Second)
		call()
		hook()
		time.Sleep(4 * time.Second)
		other()
		time.Sleep(5 * time.Second)
		end := c.Begin(pool.Ending)
		time.Sleep(6 * time.Second)
		end()
		spent := c.Spent()
		want := [...]time.Duration{pool.Calling: 7 * time.Second, pool.Starting: 2 * time.Second, pool.Hooking: time.Second, pool.Ending: 6 * time.Second, pool.Diagnosing: 0}
		if spent != want {
			t.Errorf("%v, want %v", spent, want)
		}
		var none *pool.Clock
		none.Begin(pool.Calling)()
	})
}
