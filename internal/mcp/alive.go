package mcp

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"mcptest/internal/mcp/protocol"
	"mcptest/internal/mcp/wire"
	"mcptest/internal/proc"
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
	ask := s.silent && s.isStdio() && s.closed == nil && !s.closing && len(s.calls.raws) == 0
	ask = ask && !s.calls.awaited()
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

// settleTime is how long a server that is at work is watched before it is taken
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
	case <-s.ended:
	case <-wait.C:
	}
	return true
}

// crashed notes a crash that no call is to blame for. The caller holds mu.
func (s *Session) crashed(msg string, stderr []string) {
	s.log.add(protocol.Violation{
		Kind: protocol.ServerCrashed, Msg: msg, Excerpt: protocol.Excerpt([]byte(cmp.Or(proc.Cause(stderr), strings.Join(stderr[max(0, len(stderr)-3):], " | ")))), At: time.Now(),
		Tolerated: s.tolerated(protocol.ServerCrashed),
	})
}

// crashedAtEnd notes a server that crashed after its input was closed. Whether
// it was closed before or after the crash is chance, which may not decide; and
// being asked to end is no reason for a segmentation fault. A status says less:
// some servers always end with another than 0.
func (s *Session) crashedAtEnd(stopped proc.Stopped) {
	if stopped.How > proc.ByEOF || !stopped.Exit.Fault() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed != nil && s.closed.Ours {
		s.crashed("the server crashed when its input was closed ("+stopped.Exit.String()+")", s.closed.Stderr)
	}
}
