package exam

import (
	"context"
	"slices"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/conn"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/run/connect"
	"mcptest/internal/spec/plan"
)

// link is the way to the server in one revision: its sessions, and what is sent past them.
type link struct {
	*Prober
	Pinned  *plan.Server // the server, with the version of the era
	Version protocol.Version
	Era     protocol.Era

	Sess     *mcp.Session         // nil: none is open
	Restarts int                  // ends of the process in a row
	ended    string               // why the last session ended
	loose    []protocol.Violation // of no call
}

func (l *link) Stdio() bool  { return l.Pinned.URL == "" }
func (l *link) Modern() bool { return l.Era == protocol.EraStateless }

// Session returns the open session, or opens one.
func (l *link) Session(ctx context.Context) (*mcp.Session, error) {
	if l.Sess != nil && l.Sess.Alive() {
		return l.Sess, nil
	}
	l.Close()
	sess, err := l.open(ctx, jsonv.Value{}, l.Connect)
	if err == nil {
		l.Sess = sess
	}
	return sess, err
}

// Open opens a further session, for a client with capabilities; the caller closes it with
// end. It logs in by itself: rules compare it with the others.
func (l *link) Open(ctx context.Context, caps jsonv.Value) (*mcp.Session, error) {
	o := l.Connect
	o.Logins = nil
	return l.open(ctx, caps, o)
}

func (l *link) open(ctx context.Context, caps jsonv.Value, o connect.Options) (*mcp.Session, error) {
	return (&connect.Opener{Options: o, Dial: l.Dial, Client: l.Client}).Open(ctx, l.Pinned, caps)
}

// Bare opens a connection without a handshake; the caller closes it.
func (l *link) Bare(ctx context.Context) (*conn.Conn, error) {
	t, err := l.Dial(ctx, l.Pinned, l.Connect)
	if err != nil {
		return nil, err
	}
	c := conn.New(t, conn.Options{Limits: l.Connect.Limits})
	c.SetVersion(l.Version)
	return c, c.Start()
}

// Alone makes a request on a connection of its own, without a handshake.
func (l *link) Alone(ctx context.Context, do func(context.Context, *conn.Conn) *mcp.Exchange) *mcp.Exchange {
	c, err := l.Bare(ctx)
	if err != nil {
		return &mcp.Exchange{Cause: err}
	}
	defer c.Close(context.WithoutCancel(ctx))
	ctx, cancel := mcp.WithLimit(ctx, "response", l.Pinned.ConnectTimeout)
	defer cancel()
	return do(ctx, c)
}

// Close ends the open session.
func (l *link) Close() {
	if l.Sess != nil {
		l.End(l.Sess)
		l.Sess = nil
	}
}

// End ends a session, and keeps the violations that belong to no call.
func (l *link) End(sess *mcp.Session) {
	ctx, cancel := connect.Ending()
	defer cancel()
	sess.Close(ctx)
	l.loose = append(l.loose, sess.TakeViolations()...)
}

// Revive counts the ends of the process. A server that no longer responds counts as ended.
func (l *link) Revive(ctx context.Context) {
	if l.Sess == nil {
		return
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

// Mark is the place of the next message in the open session.
func (l *link) Mark() mcp.Mark {
	if l.Sess == nil {
		return 0
	}
	return l.Sess.Mark()
}

// Once makes a call, and returns an exchange with a cause if no session can be opened.
func (l *link) Once(ctx context.Context, call mcp.Call) *mcp.Exchange {
	sess, err := l.Session(ctx)
	if err != nil {
		return &mcp.Exchange{Method: call.Method, Cause: err}
	}
	return Within(l.Reply, sess)(ctx, call)
}

// Within makes calls in a session, each with a time for its response.
func Within(limit time.Duration, sess *mcp.Session) func(context.Context, mcp.Call) *mcp.Exchange {
	return func(ctx context.Context, call mcp.Call) *mcp.Exchange {
		ctx, cancel := mcp.WithLimit(ctx, "response", limit)
		defer cancel()
		return sess.Do(ctx, call)
	}
}

// Notify sends a notification in the open session, and returns a violation of a kind that
// comes before the response to the next request. x is nil if the notification was not sent.
func (l *link) Notify(ctx context.Context, method string, params []byte, kinds ...string) (x *mcp.Exchange, found *protocol.Violation, err error) {
	sess, err := l.Session(ctx)
	if err != nil {
		return nil, nil, err
	}
	l.loose = append(l.loose, sess.TakeViolations()...)
	if err := sess.Notify(ctx, method, params); err != nil {
		return nil, nil, err
	}
	x = l.Once(ctx, mcp.Call{Method: l.Idle()})
	all := append(sess.TakeViolations(), x.Violations...)
	if i := slices.IndexFunc(all, func(f protocol.Violation) bool { return slices.Contains(kinds, f.Kind) }); i >= 0 {
		found = &all[i]
	}
	return x, found, nil
}

// Idle is a method that does nothing.
func (l *link) Idle() string {
	if l.Modern() {
		return protocol.MethodDiscover
	}
	return "ping"
}

// Text is a value as JSON text, nil if it is absent.
func Text(v jsonv.Value) []byte {
	if v.IsAbsent() {
		return nil
	}
	return v.Append(nil)
}
