package mcp

import (
	"context"
	"fmt"
	"time"

	"mcptest/internal/client/conn"
	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
	"mcptest/internal/process/proc"
)

// aliveTime limits the wait for the response to a ping after a call timed out.
const aliveTime = 2 * time.Second

// UnresponsiveError reports that a server no longer responds.
type UnresponsiveError struct{ After time.Duration }

func (e *UnresponsiveError) Error() string {
	return fmt.Sprintf("the server did not respond for %s after a call had timed out, not even to a ping", e.After)
}

// CheckAlive checks whether the server of a call that timed out still responds:
// unless a message has arrived since, it sends a ping. The error is a
// *UnresponsiveError. Nil means that the session can be used, or that the state is
// unknown because other calls are in flight. Servers over HTTP never count as
// unresponsive, because each response has its own connection.
func (s *Session) CheckAlive(ctx context.Context) error {
	if s.http != nil || s.conn.Busy() || !s.conn.Unresponsive() {
		return nil
	}
	began := time.Now()
	limited, cancel := context.WithTimeout(ctx, aliveTime)
	defer cancel()
	c := Call{Method: "ping", Own: true}
	if s.conn.Version().Stateless {
		c.Method = protocol.MethodDiscover // this version has no ping
	}
	s.send.sendOnce(limited, c, conn.Delivery{}) // an error response is a response, too
	if ctx.Err() != nil || !s.conn.Unresponsive() || s.conn.ReportedSince(began) {
		return nil // it is busy if it still reports the progress of the call
	}
	return &UnresponsiveError{aliveTime}
}

// idleTime is how long AwaitIdle waits for a busy server to become idle.
const idleTime = 500 * time.Millisecond

// AwaitIdle waits until the server is idle or has ended, so that [Session.Err] and
// [Session.TakeViolations] report an exit that is in progress. It returns false for a
// server that did not become idle.
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
	select {
	case <-s.Done():
	case <-time.After(wire.ExitWait + 2*proc.WaitDelay):
	}
	return true
}
