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

// Eras remembers the protocol era of each server: for this run, and as hints for
// the next one. A hint makes detection faster and changes nothing else. The nil
// *Eras remembers nothing.
type Eras struct {
	mu    sync.Mutex
	known map[string]protocol.Era // by Server.Key
	old   map[string]protocol.Era
	hints map[string]protocol.Era // by hintKey
}

// NewEras starts with the hints of an earlier run.
func NewEras(hints map[string]protocol.Era) *Eras {
	return &Eras{known: map[string]protocol.Era{}, old: hints, hints: maps.Clone(hints)}
}

// Hints returns the hints for the next run, and whether they differ from those
// that [NewEras] was given.
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

// Found keeps the era of a session. A hint is kept only if the session detected
// the era itself.
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

// hintKey identifies a server in a file without showing its arguments, which may
// contain secrets.
func hintKey(s *plan.Server) string {
	sum := sha256.Sum256([]byte(strings.Join(append([]string{s.URL, s.Dir}, s.Argv...), "\x00")))
	return hex.EncodeToString(sum[:8])
}
