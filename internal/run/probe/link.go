package probe

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
	*prober
	pinned  *plan.Server // the server, with the version of the era
	version protocol.Version
	era     protocol.Era

	sess     *mcp.Session         // nil: none is open
	restarts int                  // ends of the process in a row
	ended    string               // why the last session ended
	loose    []protocol.Violation // of no call
}

func (l *link) stdio() bool  { return l.pinned.URL == "" }
func (l *link) modern() bool { return l.era == protocol.EraStateless }

// session returns the open session, or opens one.
func (l *link) session(ctx context.Context) (*mcp.Session, error) {
	if l.sess != nil && l.sess.Alive() {
		return l.sess, nil
	}
	l.close()
	sess, err := l.open(ctx, jsonv.Value{})
	if err == nil {
		l.sess = sess
	}
	return sess, err
}

// open opens a further session, for a client with capabilities; the caller closes it with
// end.
func (l *link) open(ctx context.Context, caps jsonv.Value) (*mcp.Session, error) {
	o := connect.Opener{Options: l.Connect, Dial: l.Dial, Client: l.Client}
	return o.Open(ctx, l.pinned, caps)
}

// bare opens a connection without a handshake; the caller closes it.
func (l *link) bare(ctx context.Context) (*conn.Conn, error) {
	t, err := l.Dial(ctx, l.pinned, l.Connect)
	if err != nil {
		return nil, err
	}
	c := conn.New(t, conn.Options{Limits: l.Connect.Limits})
	c.SetVersion(l.version)
	return c, c.Start()
}

// alone makes a request on a connection of its own, without a handshake.
func (l *link) alone(ctx context.Context, do func(context.Context, *conn.Conn) *mcp.Exchange) *mcp.Exchange {
	c, err := l.bare(ctx)
	if err != nil {
		return &mcp.Exchange{Cause: err}
	}
	defer c.Close(context.WithoutCancel(ctx))
	ctx, cancel := mcp.WithLimit(ctx, "response", l.pinned.ConnectTimeout)
	defer cancel()
	return do(ctx, c)
}

// close ends the open session.
func (l *link) close() {
	if l.sess != nil {
		l.end(l.sess)
		l.sess = nil
	}
}

// end ends a session, and keeps the violations that belong to no call.
func (l *link) end(sess *mcp.Session) {
	ctx, cancel := connect.Ending()
	defer cancel()
	sess.Close(ctx)
	l.loose = append(l.loose, sess.TakeViolations()...)
}

// revive counts the ends of the process. A server that no longer responds counts as ended.
func (l *link) revive(ctx context.Context) {
	if l.sess == nil {
		return
	}
	err := l.sess.Err()
	if err == nil {
		err = l.sess.CheckAlive(ctx)
	}
	if err == nil {
		l.restarts = 0
		return
	}
	l.ended = err.Error()
	l.restarts++
	l.close()
}

// mark is the place of the next message in the open session.
func (l *link) mark() mcp.Mark {
	if l.sess == nil {
		return 0
	}
	return l.sess.Mark()
}

// once makes a call, and returns an exchange with a cause if no session can be opened.
func (l *link) once(ctx context.Context, call mcp.Call) *mcp.Exchange {
	sess, err := l.session(ctx)
	if err != nil {
		return &mcp.Exchange{Method: call.Method, Cause: err}
	}
	return within(l.Reply, sess)(ctx, call)
}

// within makes calls in a session, each with a time for its response.
func within(limit time.Duration, sess *mcp.Session) func(context.Context, mcp.Call) *mcp.Exchange {
	return func(ctx context.Context, call mcp.Call) *mcp.Exchange {
		ctx, cancel := mcp.WithLimit(ctx, "response", limit)
		defer cancel()
		return sess.Do(ctx, call)
	}
}

// notify sends a notification in the open session, and returns a violation of a kind that
// comes before the response to the next request. x is nil if the notification was not sent.
func (l *link) notify(ctx context.Context, method string, params []byte, kinds ...string) (x *mcp.Exchange, found *protocol.Violation, err error) {
	sess, err := l.session(ctx)
	if err != nil {
		return nil, nil, err
	}
	l.loose = append(l.loose, sess.TakeViolations()...)
	if err := sess.Notify(ctx, method, params); err != nil {
		return nil, nil, err
	}
	x = l.once(ctx, mcp.Call{Method: l.idle()})
	all := append(sess.TakeViolations(), x.Violations...)
	if i := slices.IndexFunc(all, func(f protocol.Violation) bool { return slices.Contains(kinds, f.Kind) }); i >= 0 {
		found = &all[i]
	}
	return x, found, nil
}

// idle is a method that does nothing.
func (l *link) idle() string {
	if l.modern() {
		return protocol.MethodDiscover
	}
	return "ping"
}

// text is a value as JSON text, nil if it is absent.
func text(v jsonv.Value) []byte {
	if v.IsAbsent() {
		return nil
	}
	return v.Append(nil)
}
