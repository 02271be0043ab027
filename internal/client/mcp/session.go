package mcp

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/conn"
	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
	"mcptest/internal/process/proc"
	"mcptest/internal/process/tail"
)

// Session is a connection to a server that was opened with [Open]. It is safe for
// concurrent use.
type Session struct {
	conn  *conn.Conn
	send  *sender
	tools *toolTable
	http  *wire.HTTP // nil for a stream
	o     Options

	hello  *Exchange // the handshake
	server jsonv.Value

	renewing  sync.Mutex   // see renew
	good      atomic.Int64 // responses over HTTP
	renewals  int
	renewedAt int64

	rival atomic.Bool // see HasRival
}

func newSession(t wire.Transport, o Options) *Session {
	o.Limits = o.Limits.FillDefaults()
	s := &Session{o: o}
	s.http, _ = t.(*wire.HTTP)
	who := newIdentity(&s.o)
	s.conn = conn.New(t, conn.Options{
		Answer: o.Answer, Capabilities: who.capabilities, Limits: o.Limits, Tolerate: o.Tolerate, Watch: o.Watch,
	})
	s.o.found = s.conn.Report
	s.send = &sender{conn: s.conn, who: who}
	s.tools = &toolTable{send: s.send, do: s.Do, stdio: s.http == nil, pages: o.Limits.Pages}
	s.send.idempotent = s.tools.isRepeatable
	return s
}

// Protocol returns the name of the negotiated version, or "" before the handshake.
func (s *Session) Protocol() string { return s.conn.Version().Name }

// ProtocolVersion returns the negotiated version.
func (s *Session) ProtocolVersion() protocol.Version { return s.conn.Version() }

// Era returns the era of the server.
func (s *Session) Era() protocol.Era { return s.conn.Version().Era() }

// ServerInfo returns the whole result of the handshake. The result of server/discover
// also has serverInfo at the top level, like that of initialize.
func (s *Session) ServerInfo() jsonv.Value { return s.server }

// Handshake returns the exchange the session began with.
func (s *Session) Handshake() *Exchange { return s.hello }

// Stderr returns the standard error output of the server; nil over HTTP.
func (s *Session) Stderr() *tail.Tail { return s.Facts().Stderr }

// Facts describes the server's end of the connection.
func (s *Session) Facts() wire.Facts { return s.conn.Facts() }

// Alive reports whether the session can still be used.
func (s *Session) Alive() bool { return s.conn.Alive() }

// Done is closed when the session has ended.
func (s *Session) Done() <-chan struct{} { return s.conn.Done() }

// Err returns why the session ended, as a *ClosedError; nil while it is open.
func (s *Session) Err() error { return s.conn.Err() }

// Mark returns the current position in the order of received messages.
func (s *Session) Mark() Mark { return s.conn.Mark() }

// Messages is [conn.Conn.Messages].
func (s *Session) Messages(since Mark) []Message { return s.conn.Messages(since) }

// ListChanged reports whether the server has announced since a mark that one of
// its lists has changed.
func (s *Session) ListChanged(since Mark) bool {
	return slices.ContainsFunc(s.Messages(since), func(m Message) bool {
		return m.Kind == KindNotification && strings.HasSuffix(m.Method, "/list_changed")
	})
}

// Wait is [conn.Conn.Wait].
func (s *Session) Wait(ctx context.Context, method string, since Mark) (Message, error) {
	return s.conn.Wait(ctx, method, since)
}

// TakeViolations is [conn.Conn.TakeViolations].
func (s *Session) TakeViolations() []protocol.Violation { return s.conn.TakeViolations() }

// UnusableTools returns the tools that a client must not use because of an invalid
// x-mcp-header, and why (MCP 2026-07-28, HTTP only).
func (s *Session) UnusableTools() map[string]string { return s.tools.listInvalid() }

// Notify sends a notification. Params may be nil.
func (s *Session) Notify(ctx context.Context, method string, params []byte) error {
	return s.conn.Notify(ctx, method, params)
}

// SendRaw is [conn.Conn.SendRaw].
func (s *Session) SendRaw(ctx context.Context, raw []byte) *Exchange { return s.conn.SendRaw(ctx, raw) }

// SkipGrace is [conn.Conn.SkipGrace].
func (s *Session) SkipGrace() { s.conn.SkipGrace() }

// Close is [conn.Conn.Close].
func (s *Session) Close(ctx context.Context) proc.Stopped { return s.conn.Close(ctx) }

// Report is [conn.Conn.Report].
func (s *Session) Report(list []protocol.Violation) { s.conn.Report(list) }

// HasRival notes that another session with the server was opened after this one.
func (s *Session) HasRival() {
	s.rival.Store(true)
	s.conn.Note(wire.SideRival, "another session with the server was opened")
}

// SideEvents is [conn.Conn.SideEvents].
func (s *Session) SideEvents() []wire.SideEvent { return s.conn.SideEvents() }

// Also says what else happened in the session that may be why a call or a wait failed: the
// end of a message, or "". How a process ended says so itself.
func (s *Session) Also(err error) string { return s.FindOtherCall(&Exchange{Cause: err}) }

// FindOtherCall is Also for a call that failed. The cancellation that followed it is not why.
func (s *Session) FindOtherCall(x *Exchange) string {
	if errors.As(x.Cause, new(*wire.ClosedError)) {
		return ""
	}
	answered := errors.As(x.Cause, new(*wire.HTTPError)) || errors.As(x.Cause, new(*wire.SessionLostError))
	own := ""
	others := slices.DeleteFunc(s.SideEvents(), func(e wire.SideEvent) bool {
		if e.Call != "" && e.Call == x.ID {
			own = "; mcptest then sent notifications/cancelled"
			return true
		}
		return answered && (e.Kind == wire.SideStream || e.Kind == wire.SideRival)
	})
	return own + wire.FormatSideEvents(others)
}

// Do sends a request and waits for its response, the end of ctx or the end of the
// session. It always returns an exchange.
func (s *Session) Do(ctx context.Context, c Call) *Exchange {
	d := s.conn.Version()
	if d.Stateless {
		return s.callStateless(ctx, c, d)
	}
	x := s.send.sendOnce(ctx, c, conn.Delivery{Version: d})
	var lost *wire.SessionLostError
	if x.Cause == nil {
		s.good.Add(1)
		if c.Method == "tools/list" && s.http != nil {
			s.tools.update(x, d)
		}
	} else if errors.As(x.Cause, &lost) {
		lost.Rival = s.rival.Load()
		s.renew(ctx, lost)
	}
	return x
}

// callStateless sends a request of a stateless revision.
func (s *Session) callStateless(ctx context.Context, c Call, d protocol.Version) *Exchange {
	if c.Method == protocol.MethodListen && c.CancelAfter == 0 {
		d := conn.Delivery{Version: d}
		s.send.addVersionParams(&c, &d)
		return s.conn.Listen(ctx, c, d)
	}
	x := s.callInRounds(ctx, c)
	if c.Method == "tools/list" && x.Result != nil && s.http != nil {
		s.tools.update(x, d)
	}
	return x
}
