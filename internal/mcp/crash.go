package mcp

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"mcptest/internal/mcp/protocol"
	"mcptest/internal/mcp/wire"
	"mcptest/internal/proc"
)

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

// awaited reports whether a call is in flight that somebody waits for: not one
// of our own, nor one that the server never read. The caller holds mu.
func (s *Session) awaited() bool {
	for _, k := range s.pending {
		if !k.own && !k.listening && !k.x.Unread {
			return true
		}
	}
	return slices.ContainsFunc(s.raws, func(k *call) bool { return !k.x.Unread })
}

// leftUnread marks the requests in flight that the process had not read when it
// ended. The caller holds mu, and sending where the process has ended.
func (s *Session) leftUnread(why *wire.ClosedError) {
	lines := bytes.Split(why.Unread, []byte("\n"))
	begun := lines[len(lines)-1] // a line that could not be written to its end
	mark := func(k *call) {
		k.x.Unread = why.Exited && !k.written || len(begun) > 0 && bytes.HasPrefix(k.x.Request, begun) ||
			slices.ContainsFunc(lines, func(l []byte) bool { return bytes.Equal(l, k.x.Request) })
	}
	for _, k := range s.pending {
		mark(k)
	}
	for _, k := range s.raws {
		mark(k)
	}
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
