package pool

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"mcptest/internal/spec/plan"
)

// Lease is the right to use the sessions that a case needs.
type Lease struct {
	Servers   []*Server
	exclusive bool
	apart     *gate // set if several servers share the doubles
}

// Lease waits for the servers of a case.
func (p *Pool) Lease(c *plan.Case, file *plan.File, more ...*plan.Server) *Lease {
	l := &Lease{exclusive: c.Exclusive}
	for _, op := range c.Ops {
		more = append(more, op.Server)
	}
	for _, def := range more {
		if def == nil {
			continue
		}
		if s := p.ForCase(c, def, file); !slices.Contains(l.Servers, s) {
			l.Servers = append(l.Servers, s)
		}
	}
	slices.SortFunc(l.Servers, func(a, b *Server) int {
		if n := strings.Compare(a.Def.Name, b.Def.Name); n != 0 {
			return n
		}
		return strings.Compare(a.caps.Key(), b.caps.Key())
	})
	for _, s := range l.Servers {
		s.gate.acquire(l.exclusive)
		l.apart = cmp.Or(l.apart, s.apart) // a case has servers of one file only
	}
	if l.apart != nil {
		l.apart.acquire(l.exclusive)
	}
	return l
}

// Release ends the lease.
func (l *Lease) Release() {
	if l.apart != nil {
		l.apart.release(l.exclusive)
	}
	for _, s := range l.Servers {
		s.gate.release(l.exclusive)
	}
}

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
		if g.alone = w.exclusive; !w.exclusive {
			g.shared++
		}
		close(w.granted)
	}
}
