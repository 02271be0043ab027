package pool

import (
	"context"
	"slices"
	"strings"
	"sync"

	"mcptest/internal/client/mcp"
	"mcptest/internal/spec/plan"
)

// Warm keeps sessions between runs, so that the next run need not start their
// servers. It only keeps sessions with processes in which no case can have left
// state, other than what the server itself remembers. A nil Warm keeps nothing.
type Warm struct {
	mu       sync.Mutex
	sessions map[string][]*mcp.Session // by definition and capabilities
	stamps   map[string]string         // by definition: fingerprint of everything else its processes depend on
}

// NewWarm returns an empty Warm.
func NewWarm() *Warm {
	return &Warm{sessions: map[string][]*mcp.Session{}, stamps: map[string]string{}}
}

// Keep sets the servers whose sessions are kept. It ends the sessions of other
// servers and those whose stamp has changed.
func (w *Warm) Keep(ctx context.Context, servers []*plan.Server, stamp func(*plan.Server) string) {
	var ended []*mcp.Session
	w.mu.Lock()
	had := w.stamps
	w.stamps = map[string]string{}
	for _, s := range servers {
		if s.URL == "" {
			w.stamps[s.Key] = stamp(s)
		}
	}
	for key, list := range w.sessions {
		def, _, _ := strings.Cut(key, separator)
		if now, ok := w.stamps[def]; !ok || now != had[def] {
			ended = append(ended, list...)
			delete(w.sessions, key)
		}
	}
	w.mu.Unlock()
	var wg sync.WaitGroup
	for _, s := range ended {
		wg.Go(func() { s.Close(ctx) })
	}
	wg.Wait()
}

// separator follows the definition in the key of a session.
const separator = "\x00"

func (w *Warm) key(s *Server) string { return s.Def.Key + separator + s.caps.Key() }

// keeps reports whether the sessions of a server are kept.
func (w *Warm) keeps(s *Server) bool {
	if w == nil {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	_, ok := w.stamps[s.Def.Key]
	return ok && s.file.Options.RestartPolicy == plan.PerRun
}

// take returns a session of an earlier run, or nil.
func (w *Warm) take(s *Server) *mcp.Session {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	key := w.key(s)
	for list := w.sessions[key]; len(list) > 0; list = w.sessions[key] {
		sess := list[len(list)-1]
		w.sessions[key] = list[:len(list)-1]
		if sess.Alive() {
			return sess
		}
	}
	return nil
}

func (w *Warm) put(s *Server, sess *mcp.Session) {
	w.mu.Lock()
	defer w.mu.Unlock()
	key := w.key(s)
	w.sessions[key] = append(w.sessions[key], sess)
}

// leavesState reports whether a case may affect later requests of its session: it
// sets a log level, or sends something other than a plain call.
func leavesState(c *plan.Case) bool {
	if c.LogLevel != "" || c.Block == "protocol" {
		return true
	}
	return slices.ContainsFunc(c.Ops, func(op *plan.Op) bool {
		return op.Raw != nil || op.MaybeMethod || op.Notification || op.CancelAfter > 0
	})
}
