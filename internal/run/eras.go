package run

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"strings"
	"sync"

	"mcptest/internal/mcp"
	"mcptest/internal/plan"
)

// Eras remembers of which era servers are: for the run, and as hints for the
// next one, which make finding it out faster and change nothing else. The nil
// *Eras remembers nothing.
type Eras struct {
	mu    sync.Mutex
	known map[string]mcp.Era // by Server.Key
	old   map[string]mcp.Era
	hints map[string]mcp.Era // by hintKey
}

// NewEras begins with the hints of an earlier run.
func NewEras(hints map[string]mcp.Era) *Eras {
	return &Eras{known: map[string]mcp.Era{}, old: hints, hints: maps.Clone(hints)}
}

// Hints are those for the next run, and whether they differ from those that
// were given.
func (e *Eras) Hints() (hints map[string]mcp.Era, changed bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return maps.Clone(e.hints), !maps.Equal(e.old, e.hints)
}

// Of says what is known of a server in this run, and what was in an earlier one.
func (e *Eras) Of(s *plan.Server) (known, hint mcp.Era) {
	if e == nil {
		return mcp.EraUnknown, mcp.EraUnknown
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.known[s.Key], e.hints[hintKey(s)]
}

// Found keeps what a session with a server has shown. Asked says that the
// session had to find out the era itself.
func (e *Eras) Found(s *plan.Server, sess *mcp.Session, asked bool) {
	if e == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.known[s.Key] = sess.Era()
	if !asked {
		return
	}
	if hint := sess.EraHint(); hint != mcp.EraUnknown {
		e.hints[hintKey(s)] = hint
	} else {
		delete(e.hints, hintKey(s))
	}
}

// hintKey names a server in a file without telling what its arguments hold.
func hintKey(s *plan.Server) string {
	sum := sha256.Sum256([]byte(strings.Join(append([]string{s.URL, s.Dir}, s.Argv...), "\x00")))
	return hex.EncodeToString(sum[:8])
}
