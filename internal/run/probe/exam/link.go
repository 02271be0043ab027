package exam

import (
	"context"
	"errors"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/conn"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
	"mcptest/internal/process/proc"
	"mcptest/internal/run/connect"
	"mcptest/internal/spec/plan"
)

// SessionID is the header with the id of a session.
const SessionID = "Mcp-Session-Id"

// link is the way to the server in one revision: its sessions, and what is sent past them.
type link struct {
	*Prober
	Pinned  *plan.Server // the server, with the version of the era
	Version protocol.Version
	Era     protocol.Era

	Sess     *mcp.Session // nil: none is open
	Restarts int          // ends of the process in a row
	ended    string       // why the last session ended
	restless bool         // a process of the server is never idle
	examiner examiner     // what every exchange is held against
	strays   map[int]bool // processes that were found to outlive the server
}

func (l *link) Stdio() bool  { return l.Pinned.URL == "" }
func (l *link) Modern() bool { return l.Era == protocol.EraStateless }

// Session returns the open session, or opens one.
func (l *link) Session(ctx context.Context) (*mcp.Session, error) {
	if l.Sess != nil && l.Sess.Alive() {
		return l.Sess, nil
	}
	l.Close()
	sess, err := l.OpenWith(ctx, l.Connect, jsonv.Value{})
	if err == nil {
		l.Sess = sess
	}
	return sess, err
}

// examiner holds what was seen against every rule that it concerns.
type examiner interface {
	examineSession(sess *mcp.Session, declared jsonv.Value)
	examineEnd(sess *mcp.Session, stopped proc.Stopped)
	examineBare(c *conn.Conn, x *mcp.Exchange)
}

// Open opens a further session, for a client with capabilities; the caller closes it with
// end. It logs in by itself: rules compare it with the others.
func (l *link) Open(ctx context.Context, caps jsonv.Value) (*mcp.Session, error) {
	o := l.Connect
	o.Logins = nil
	return l.OpenWith(ctx, o, caps)
}

// OpenWith is Open with other options of the connection.
func (l *link) OpenWith(ctx context.Context, o connect.Options, caps jsonv.Value) (*mcp.Session, error) {
	if caps.IsAbsent() {
		caps = l.Pinned.Client.Declares
	}
	opener := &connect.Opener{Options: o, Dial: l.Dial, Client: l.Client}
	l.awaitRest(ctx)
	sess, err := opener.Open(ctx, l.Pinned, caps)
	for err != nil && l.mayBeHeld(ctx, err) {
		l.rest += restStep
		l.awaitRest(ctx)
		sess, err = opener.Open(ctx, l.Pinned, caps)
	}
	if err != nil && l.rest == mostRest {
		l.rest = 0 // it does not help to wait
		l.wasThere = false
	}
	if err == nil {
		l.wasThere = true
		l.examiner.examineSession(sess, caps)
	}
	return sess, err
}

// The pause between the end of a process and the start of the next, of a server that gives back
// what it holds (a lock file, a port) only some time after its end.
const (
	restStep = time.Second
	mostRest = 3 * time.Second
)

// awaitRest waits as long after the end of the last process as the server is known to need.
func (l *link) awaitRest(ctx context.Context) {
	left := l.rest - time.Since(l.lastEnd)
	if !l.Stdio() || left <= 0 {
		return
	}
	select {
	case <-time.After(left):
	case <-ctx.Done():
	}
}

// mayBeHeld reports whether a process may not have started because something was still held for
// the one before it, and it is worth to wait longer.
func (l *link) mayBeHeld(ctx context.Context, err error) bool {
	failed, ok := errors.AsType[*wire.OpenError](err)
	isAlone := l.Sess == nil || !l.Sess.Alive()
	return l.Stdio() && l.wasThere && isAlone && ok && failed.Exited && l.rest < mostRest && ctx.Err() == nil
}

// Bare opens a connection without a handshake; the caller closes it.
func (l *link) Bare(ctx context.Context) (*conn.Conn, error) {
	l.awaitRest(ctx)
	t, err := l.Dial(ctx, l.Pinned, l.Connect)
	if err != nil {
		return nil, err
	}
	c := conn.New(t, conn.Options{Limits: l.Connect.Limits})
	c.SetVersion(l.Version)
	return c, c.Start()
}

// Alone makes a request on a connection of its own, without a handshake. A process that
// runs is ended first: a server may hold a port or a lock, so that it can be there only once.
func (l *link) Alone(ctx context.Context, do func(context.Context, *conn.Conn) *mcp.Exchange) *mcp.Exchange {
	if l.Stdio() {
		l.Close()
	}
	return l.Second(ctx, do)
}

// Second is Alone without an end of the open session: over stdio a second process. What one that is
// refused beside a living first writes counts for nothing.
func (l *link) Second(ctx context.Context, do func(context.Context, *conn.Conn) *mcp.Exchange) *mcp.Exchange {
	isBeside := l.Stdio() && l.Sess != nil && l.Sess.Alive()
	c, err := l.Bare(ctx)
	if err != nil {
		return &mcp.Exchange{Cause: err}
	}
	limited, cancel := mcp.WithLimit(ctx, "response", l.Pinned.ConnectTimeout)
	defer cancel()
	x := do(limited, c)
	c.Close(context.WithoutCancel(ctx))
	l.lastEnd = time.Now()
	if !isBeside || x.Result != nil {
		l.examiner.examineBare(c, x)
	}
	return x
}

// Close ends the open session.
func (l *link) Close() {
	if l.Sess != nil {
		l.End(l.Sess)
		l.Sess = nil
	}
}

// End ends a session.
func (l *link) End(sess *mcp.Session) proc.Stopped {
	ctx, cancel := connect.Ending()
	defer cancel()
	stopped := sess.Close(ctx)
	if stopped.How == proc.ByEOF || stopped.How == proc.ByTerm {
		stopped.Leftovers = append(stopped.Leftovers, l.awaitStrays(ctx)...)
	}
	if len(stopped.Leftovers) > 0 {
		l.Connect.Grace.Rest = knownGrace
	}
	l.lastEnd = time.Now()
	l.examiner.examineEnd(sess, stopped)
	return stopped
}

// knownGrace is how long a process may outlive a server that is known to leave some behind.
const knownGrace = time.Second

// awaitStrays waits until the processes in sessions of their own have ended that outlive a
// process of the server. It returns those that do not end in time, without those that an
// earlier process left.
func (l *link) awaitStrays(ctx context.Context) []proc.Leftover {
	if ctx.Err() != nil {
		return nil // there is no time to wait for their end
	}
	until := time.Now().Add(l.Connect.Grace.Rest)
	left := l.newStrays()
	for len(left) > 0 && ctx.Err() == nil && time.Now().Before(until) {
		time.Sleep(knownGrace / 10)
		left = l.newStrays()
	}
	for _, s := range left {
		l.strays[s.Pid] = true
	}
	return left
}

func (l *link) newStrays() (list []proc.Leftover) {
	for _, s := range l.Connect.Registry.Strays(l.Pinned.Name) {
		if !l.strays[s.Pid] {
			list = append(list, s)
		}
	}
	return list
}

// Revive closes the session if the process has ended, and counts how often that happened in
// a row. A server that no longer responds counts as ended.
func (l *link) Revive(ctx context.Context) {
	if l.Sess == nil {
		return
	}
	if !l.restless && (l.hasLaunched() || !l.Sess.AwaitIdle(ctx)) { // an end that is in progress is noticed
		l.restless = ctx.Err() == nil
	}
	err := l.Sess.Err()
	if err == nil {
		err = l.Sess.CheckAlive(ctx)
	}
	if err == nil {
		l.Restarts = 0
		return
	}
	l.ended = err.Error()
	l.Restarts++
	l.Close()
}

// hasLaunched reports whether the process has ended and another one, which it started, answers.
func (l *link) hasLaunched() bool {
	p := l.Sess.Facts().Process
	if p == nil || !l.Sess.Alive() {
		return false
	}
	select {
	case <-p.Exited():
		return true
	default:
		return false
	}
}

// Mark is the place of the next message in the open session.
func (l *link) Mark() mcp.Mark {
	if l.Sess == nil {
		return 0
	}
	return l.Sess.Mark()
}

// Text is a value as JSON text, nil if it is absent.
func Text(v jsonv.Value) []byte {
	if v.IsAbsent() {
		return nil
	}
	return v.Append(nil)
}
