package mock

import (
	"time"

	"mcptest/internal/server/manifest"
)

// tools returns the tools as they are now.
func (s *Server) tools() []*manifest.Tool {
	var out []*manifest.Tool
	happened := func(m *manifest.Moment) bool { return m.Happened(s.began, s.world.hasCalled) }
	for _, t := range s.m.Tools {
		there := t.Appears == nil || happened(t.Appears)
		switch {
		case !there || happened(t.Vanishes):
		case happened(t.Changes) && t.Changed != nil:
			out = append(out, t.Changed)
		default:
			out = append(out, t)
		}
	}
	return out
}

// tool returns the tool with that name, or nil if there is none now.
func (s *Server) tool(name string) *manifest.Tool {
	for _, t := range s.tools() {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// moments returns the announced moments at which the list of tools changes.
func (s *Server) moments() []*manifest.Moment {
	var out []*manifest.Moment
	for _, t := range s.m.Tools {
		for _, m := range []*manifest.Moment{t.Appears, t.Vanishes, t.Changes} {
			if m != nil && !m.Silent {
				out = append(out, m)
			}
		}
	}
	return out
}

const toolsChanged = "notifications/tools/list_changed"

// noteReturned records that a tool has returned, and tells the client if the list changes
// with it.
func (s *Session) noteReturned(sc *scope, name string) {
	if !s.server.world.firstReturn(name) {
		return
	}
	for _, m := range s.server.moments() {
		if m.Tool == name {
			_ = notify(sc, toolsChanged, nil) // a client that is gone needs no news
			return
		}
	}
}

// isInitialized reports whether the client has begun a session: without one it gets only
// what it subscribed to.
func (s *Session) isInitialized() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.client.IsAbsent()
}

// Announce implements [mcpserver.Announcer]: it tells the client when the list of tools
// changes by itself.
func (s *Session) Announce(send func(method string) error) {
	for _, m := range s.server.moments() {
		if m.Tool != "" {
			continue
		}
		timer := time.AfterFunc(time.Until(s.server.began.Add(m.After)), func() {
			if s.isInitialized() {
				_ = send(toolsChanged)
			}
		})
		s.timers = append(s.timers, timer)
	}
}
