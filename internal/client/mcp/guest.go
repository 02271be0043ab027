package mcp

import (
	"context"
	"time"

	"mcptest/internal/client/conn"
	"mcptest/internal/client/protocol"
)

// silence is how long a server may be silent before it gets a guest, and at least how long
// it must stay silent after the guest has opened a session.
const silence = time.Second

// A guest is a second connection, on which initialize is sent while the first one has no
// response to server/discover. If it opens a session, and the first connection, which is
// older, stays silent for as long again, the server is of the era of sessions. That it
// fails means nothing: a server may lock a file or hold a port.
type guest struct {
	invited time.Time
	opened  chan *Session // receives nil if it fails; nil once received
	cancel  context.CancelFunc
	session *Session
	settled time.Time // when silence of the first connection decides
}

// mayInvite reports whether the server may get a guest: nothing is known of its era, and
// no user is logging in.
func (n *negotiator) mayInvite(g *guest) bool {
	if g.cancel != nil || n.o.Hint != protocol.EraUnknown {
		return false
	}
	if n.http != nil {
		_, busy := n.http.LastHeard()
		return !busy
	}
	return true
}

// invite opens the second connection. The first one waits for it when it is closed.
func (g *guest) invite(ctx context.Context, n *negotiator) {
	ctx, g.cancel = context.WithCancel(ctx)
	g.invited, g.opened = time.Now(), make(chan *Session, 1)
	opened, o := g.opened, *n.o
	o.Era, o.Redial = protocol.EraSession, nil
	n.conn.Go(func() {
		t, err := n.o.Redial(ctx)
		if err != nil {
			opened <- nil
			return
		}
		sess, _ := Open(ctx, t, o)
		opened <- sess
	})
}

// take returns the session, which then belongs to the caller.
func (g *guest) take() (sess *Session) {
	sess, g.session = g.session, nil
	return sess
}

// dismiss ends a guest that is not needed.
func (g *guest) dismiss(first *conn.Conn) {
	if g.cancel == nil {
		return
	}
	g.cancel()
	opened, sess := g.opened, g.session
	first.Go(func() {
		if opened != nil {
			sess = <-opened
		}
		if sess != nil {
			sess.SkipGrace()
			sess.Close(context.Background())
		}
	})
}
