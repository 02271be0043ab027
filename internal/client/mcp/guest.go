package mcp

import (
	"context"
	"errors"
	"time"

	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
)

// A guest is a second connection, on which initialize is sent while the first one has no
// response to server/discover. If that opens a session, and the first connection, which
// is older, stays silent for as long again, the server is of the era of sessions. That
// it fails means nothing: a server may lock a file or hold a port, or require a login,
// which a guest never begins.
type guest struct {
	state   guestState
	session *Session      // of an opened guest
	grace   time.Duration // how long the first connection must at least stay silent after the response
	hinted  bool          // the server did not respond to server/discover in an earlier run
	modern  bool          // a refused guest: the server requires the other era
	invited time.Duration
	needed  time.Duration // from the invitation to the response; both are counted time

	opened chan guestResult
	cancel context.CancelFunc
}

// guestState is the progress of a guest.
type guestState int

const (
	guestNone    guestState = iota // not invited
	guestOpening                   // there is no response to initialize yet
	guestOpened                    // it has a session
	guestFailed                    // it has none
)

// guestResult is what a guest found out.
type guestResult struct {
	session *Session
	err     error
}

// invite opens the second connection. The first one waits for it when it is closed.
func (g *guest) invite(ctx context.Context, n *negotiator, now time.Duration) {
	ctx, g.cancel = context.WithCancel(ctx)
	g.state, g.invited, g.opened = guestOpening, now, make(chan guestResult, 1)
	n.o.detection = "server/discover had no response for a while, so initialize was sent over a further connection"
	opened, redial, o := g.opened, n.o.Redial, *n.o
	o.Era, o.Redial = protocol.EraSession, nil
	n.conn.Go(func() {
		t, err := redial(ctx)
		if err != nil {
			opened <- guestResult{err: err}
			return
		}
		if h, ok := t.(*wire.HTTP); ok {
			h.AsGuest()
		}
		sess, err := shakeHands(ctx, t, o)
		opened <- guestResult{sess, err}
	})
}

// receive stores what the guest found out.
func (g *guest) receive(r guestResult, now time.Duration) {
	g.opened = nil
	if r.err != nil {
		rpc := findRPCError(r.err)
		g.state = guestFailed
		g.modern = rpc != nil && (rpc.Code == protocol.CodeUnsupportedVersion || rpc.Code == protocol.CodeHeaderMismatch)
		return
	}
	g.state, g.session, g.needed = guestOpened, r.session, now-g.invited
}

// isSettled reports whether the first connection has been silent for so long since the
// guest's response that it will not respond.
func (g *guest) isSettled(now time.Duration) bool {
	enough := g.needed
	if g.hinted {
		enough /= 2 // it was silent before, and both connections were opened together
	}
	return g.state == guestOpened && now-g.invited-g.needed >= max(enough, g.grace)
}

// take returns the session, which then belongs to the caller.
func (g *guest) take() (sess *Session) {
	sess, g.session = g.session, nil
	return sess
}

// dismiss ends a guest that is not needed.
func (g *guest) dismiss(n *negotiator) {
	if g.state == guestNone {
		return
	}
	g.cancel()
	if g.state == guestOpened && g.session == nil {
		return // it was taken
	}
	n.o.detection += ", which was closed"
	opened, sess := g.opened, g.session
	n.conn.Go(func() {
		if opened != nil {
			sess = (<-opened).session
		}
		if sess != nil {
			sess.SkipGrace()
			sess.Close(context.Background())
		}
	})
}

// hasEndedWithGuest reports whether the first connection ended after the guest had been
// invited. The guest may be the reason, so that this is no evidence.
func (g *guest) hasEndedWithGuest(x *Exchange) bool {
	return g.state != guestNone && x.Cause != nil && errors.As(x.Cause, new(*wire.ClosedError))
}
