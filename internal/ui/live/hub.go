package live

import (
	"context"
	"fmt"
	"sync"

	"mcptest/internal/spec/plan"
)

// Hub holds the servers of a page, their sessions and calls. It is safe for concurrent use.
type Hub struct {
	Feed *Feed
	host Host
	ctx  context.Context // of everything that the hub does
	stop context.CancelFunc
	wg   sync.WaitGroup
	asks asks

	mu       sync.Mutex
	servers  []*Server
	problem  string
	calls    []*Call
	lastCall int
	pending  map[string]string // confirmations, and the calls that they are for
	changed  chan struct{}     // nil: there is no reader that waits
}

// RefusedError says why a person's wish is not carried out.
type RefusedError struct{ Reason string }

func (e *RefusedError) Error() string { return e.Reason }

func refuse(format string, args ...any) error {
	return &RefusedError{fmt.Sprintf(format, args...)}
}

// New returns a hub with the servers of a host. Nothing is started.
func New(ctx context.Context, host Host) *Hub {
	h := &Hub{Feed: NewFeed(), host: host, pending: map[string]string{}}
	h.ctx, h.stop = context.WithCancel(ctx)
	h.Reload()
	return h
}

// Reload reads the definitions of the servers again. Sessions that are open stay.
func (h *Hub) Reload() {
	list, problem := h.host.Servers()
	h.mu.Lock()
	h.problem = problem
	for _, def := range list {
		h.define(def)
	}
	h.mu.Unlock()
	h.touch()
}

// define adds a server, or changes its definition. The caller holds the lock.
func (h *Hub) define(def *plan.Server) {
	for _, s := range h.servers {
		s.mu.Lock()
		same := s.def.Name == def.Name && s.def.Pos.File.Path == def.Pos.File.Path
		if same {
			s.def = def
		}
		s.mu.Unlock()
		if same {
			return
		}
	}
	s := &Server{ID: len(h.servers), def: def, status: Off, use: make(chan struct{}, 1)}
	h.servers = append(h.servers, s)
}

// Touch wakes those who follow the state, after something else in it has changed.
func (h *Hub) Touch() { h.touch() }

// touch wakes those who follow the state.
func (h *Hub) touch() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.changed != nil {
		close(h.changed)
		h.changed = nil
	}
}

// Changed returns a channel that is closed at the next change of a server, call or request.
func (h *Hub) Changed() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.changed == nil {
		h.changed = make(chan struct{})
	}
	return h.changed
}

// Servers returns the servers, and what is wrong with the suite.
func (h *Hub) Servers() (list []View, problem string) {
	h.mu.Lock()
	servers, problem := append([]*Server(nil), h.servers...), h.problem
	h.mu.Unlock()
	for _, s := range servers {
		list = append(list, s.View())
	}
	return list, problem
}

// Server returns a server by its number.
func (h *Hub) Server(id int) (*Server, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if id < 0 || id >= len(h.servers) {
		return nil, refuse("there is no server with this number")
	}
	return h.servers[id], nil
}

// Close ends every call and session.
func (h *Hub) Close() {
	h.stop()
	h.mu.Lock()
	servers := h.servers
	h.mu.Unlock()
	var wg sync.WaitGroup
	for _, s := range servers {
		wg.Go(func() {
			s.use <- struct{}{}
			s.end()
		})
	}
	wg.Wait()
	h.wg.Wait()
}
