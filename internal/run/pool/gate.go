package pool

import "sync"

// gate is a readers-writer lock that is granted in the order of requests. Unlike
// sync.RWMutex, waiting for it counts as blocked in testing/synctest, so that simulated
// time can advance. The zero value is unlocked.
type gate struct {
	mu     sync.Mutex
	shared int // holders
	alone  bool
	queue  []waiter
}

type waiter struct {
	exclusive bool
	granted   chan struct{}
}

func (g *gate) acquire(exclusive bool) {
	w := waiter{exclusive, make(chan struct{})}
	g.mu.Lock()
	g.queue = append(g.queue, w)
	g.grant()
	g.mu.Unlock()
	<-w.granted
}

func (g *gate) release(exclusive bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if exclusive {
		g.alone = false
	} else {
		g.shared--
	}
	g.grant()
}

// grant grants the lock to as many waiting requests as possible. The caller holds
// the mutex.
func (g *gate) grant() {
	for len(g.queue) > 0 && !g.alone && (g.shared == 0 || !g.queue[0].exclusive) {
		w := g.queue[0]
		g.queue = g.queue[1:]
		g.alone = w.exclusive
		if !w.exclusive {
			g.shared++
		}
		close(w.granted)
	}
}
