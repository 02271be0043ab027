package proc

import (
	"context"
	"slices"
	"sync"
)

// Group is a set of processes that end together, such as the background steps
// of a suite. The zero value is ready.
type Group struct {
	mu    sync.Mutex
	procs []*Process
}

// Add puts a process into the set.
func (g *Group) Add(p *Process) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.procs = append(g.procs, p)
}

// Processes lists the set in the order of Add.
func (g *Group) Processes() []*Process {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.procs)
}

// Stop stops the processes one after the other, the youngest first, and
// empties the set. A process added meanwhile is stopped too.
func (g *Group) Stop(ctx context.Context, grace Grace) []Stopped {
	var out []Stopped
	for {
		g.mu.Lock()
		n := len(g.procs)
		if n == 0 {
			g.mu.Unlock()
			return out
		}
		p := g.procs[n-1]
		g.procs = g.procs[:n-1]
		g.mu.Unlock()
		out = append(out, p.Stop(ctx, grace))
	}
}
