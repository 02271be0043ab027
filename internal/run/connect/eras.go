package connect

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"strings"
	"sync"

	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/spec/plan"
)

// Eras stores the protocol era of each server: for this run, and as hints for the
// next one. A hint only makes detection and the end faster. A nil *Eras stores nothing.
type Eras struct {
	mu    sync.Mutex
	known map[string]protocol.Era // by Server.Key
	old   map[string]Hint
	hints map[string]Hint // by hintKey
}

// Hint is what an earlier run found out about a server.
type Hint struct {
	Era protocol.Era // EraUnknown: it is detected without delay
	// IgnoresEOF is set if the process did not end when its input was closed.
	IgnoresEOF bool
}

// NewEras returns an Eras with the hints of an earlier run; nil is none.
func NewEras(hints map[string]Hint) *Eras {
	e := &Eras{known: map[string]protocol.Era{}, old: hints, hints: map[string]Hint{}}
	maps.Copy(e.hints, hints)
	return e
}

// Hints returns the hints for the next run, and whether they have changed.
func (e *Eras) Hints() (hints map[string]Hint, changed bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return maps.Clone(e.hints), !maps.Equal(e.old, e.hints)
}

// Find returns the era that this run found for a server, and the hint of an earlier
// run.
func (e *Eras) Find(s *plan.Server) (known, hint protocol.Era) {
	if e == nil {
		return protocol.EraUnknown, protocol.EraUnknown
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.known[s.Key], e.hints[hintKey(s)].Era
}

// IgnoresEOF reports whether the server did not end when its input was closed, in
// this run or an earlier one.
func (e *Eras) IgnoresEOF(s *plan.Server) bool {
	if e == nil {
		return false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.hints[hintKey(s)].IgnoresEOF
}

// NoteEnd stores whether the server ignored the end of its input.
func (e *Eras) NoteEnd(s *plan.Server, ignoredEOF bool) {
	if e != nil {
		e.update(s, func(h *Hint) { h.IgnoresEOF = ignoredEOF })
	}
}

// update changes the hint of a server.
func (e *Eras) update(s *plan.Server, fn func(*Hint)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	key := hintKey(s)
	hint := e.hints[key]
	fn(&hint)
	if hint == (Hint{}) {
		delete(e.hints, key)
	} else {
		e.hints[key] = hint
	}
}

// Found stores the era of a session. It only stores a hint if the session detected
// the era.
func (e *Eras) Found(s *plan.Server, sess *mcp.Session, detected bool) {
	if e == nil {
		return
	}
	e.update(s, func(h *Hint) {
		e.known[s.Key] = sess.Era()
		if detected {
			h.Era = sess.EraHint()
		}
	})
}

// hintKey identifies a server without revealing its arguments, which may contain
// secrets.
func hintKey(s *plan.Server) string {
	parts := append([]string{s.URL}, s.Identity()...)
	if !s.Client.IsZero() { // a server may speak another version with another client
		parts = append(parts, s.Client.Name, s.Client.Version, string(s.Client.Declares.Append(nil)))
	}
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:8])
}
