package mcp

import (
	"context"
	"fmt"
	"time"

	"mcptest/internal/mcp/conn"
	"mcptest/internal/mcp/protocol"
	"mcptest/internal/mcp/wire"
	"mcptest/internal/proc"
)

// aliveTime is how long a server whose call timed out may take to answer a
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
	if s.http != nil || s.conn.Busy() || !s.conn.Unresponsive() {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, aliveTime)
	defer cancel()
	c := Call{Method: "ping", Own: true}
	if s.conn.Agreed().Stateless {
		c.Method = protocol.MethodDiscover // there is no ping any more
	}
	s.send.once(limited, c, conn.Delivery{}) // an error is an answer, too
	if ctx.Err() != nil || !s.conn.Unresponsive() {
		return nil
	}
	return &UnresponsiveError{aliveTime}
}

// idleTime is how long a server that is at work is watched before it is taken
// for one that always is.
const idleTime = 500 * time.Millisecond

// AwaitIdle waits until the server is idle or has ended, so that an end which is
// under way is known to [Session.Err] and [Session.TakeViolations]. It returns
// false for a server that did not come to rest.
func (s *Session) AwaitIdle(ctx context.Context) bool {
	p := s.Facts().Process
	if p == nil || !s.Alive() {
		return true
	}
	if !p.AwaitIdle(ctx, idleTime) {
		return false
	}
	select {
	case <-p.Exited():
	default:
		return true
	}
	// A process that has ended closes its output within proc.WaitDelay.
	wait := time.NewTimer(wire.ExitWait + 2*proc.WaitDelay)
	defer wait.Stop()
	select {
	case <-s.Done():
	case <-wait.C:
	}
	return true
}
