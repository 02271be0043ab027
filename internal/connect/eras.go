package connect

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"strings"
	"sync"

	"mcptest/internal/mcp"
	"mcptest/internal/mcp/protocol"
	"mcptest/internal/plan"
)

// Eras stores the protocol era of each server: for this run, and as hints for the
// next one. A hint only makes detection faster. A nil *Eras stores nothing.
type Eras struct {
	mu    sync.Mutex
	known map[string]protocol.Era // by Server.Key
	old   map[string]protocol.Era
	hints map[string]protocol.Era // by hintKey
}

// NewEras returns an Eras with the hints of an earlier run.
func NewEras(hints map[string]protocol.Era) *Eras {
	return &Eras{known: map[string]protocol.Era{}, old: hints, hints: maps.Clone(hints)}
}

// Hints returns the hints for the next run, and whether they have changed.
func (e *Eras) Hints() (hints map[string]protocol.Era, changed bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return maps.Clone(e.hints), !maps.Equal(e.old, e.hints)
}

// Of returns the era that this run found for a server, and the hint of an earlier
// run.
func (e *Eras) Of(s *plan.Server) (known, hint protocol.Era) {
	if e == nil {
		return protocol.EraUnknown, protocol.EraUnknown
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.known[s.Key], e.hints[hintKey(s)]
}

// Found stores the era of a session. It only stores a hint if the session detected
// the era.
func (e *Eras) Found(s *plan.Server, sess *mcp.Session, detected bool) {
	if e == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.known[s.Key] = sess.Era()
	if !detected {
		return
	}
	if hint := sess.EraHint(); hint != protocol.EraUnknown {
		e.hints[hintKey(s)] = hint
	} else {
		delete(e.hints, hintKey(s))
	}
}

// hintKey identifies a server without revealing its arguments, which may contain
// secrets.
func hintKey(s *plan.Server) string {
	sum := sha256.Sum256([]byte(strings.Join(append([]string{s.URL, s.Dir}, s.Argv...), "\x00")))
	return hex.EncodeToString(sum[:8])
}
