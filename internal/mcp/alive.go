package mcp

import (
	"context"
	"fmt"
	"time"

	"mcptest/internal/mcp/protocol"
)

// stuckTime is how long a server whose call timed out may take to answer a
// ping.
const aliveTime = 2 * time.Second

// UnresponsiveError says that a server answers nothing any more.
type UnresponsiveError struct{ After time.Duration }

func (e *UnresponsiveError) Error() string {
	return fmt.Sprintf("the server answered nothing for %s after a call had timed out, not even a ping", e.After)
}

// CheckAlive finds out whether the server of a call that timed out still answers:
// it asks for a sign of life when nothing came since. The error is a
// *UnresponsiveError; nil means that the session can be used, or that nothing can be
// said because calls of others are in flight. Servers over HTTP are never stuck:
// each of their answers is a connection of its own.
func (s *Session) CheckAlive(ctx context.Context) error {
	s.mu.Lock()
	ask := s.silent && s.isStdio() && s.closed == nil && !s.closing && len(s.raws) == 0
	ask = ask && !s.awaited()
	s.mu.Unlock()
	if !ask {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, aliveTime)
	defer cancel()
	c := Call{Method: "ping", Own: true}
	if s.agreed().Stateless {
		c.Method = protocol.MethodDiscover // there is no ping any more
	}
	s.once(limited, c) // an error is an answer, too
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.silent || s.closed != nil || ctx.Err() != nil {
		return nil
	}
	return &UnresponsiveError{aliveTime}
}
