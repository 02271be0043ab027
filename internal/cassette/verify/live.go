package verify

import (
	"context"
	"errors"
	"time"

	"mcptest/internal/cassette"
	"mcptest/internal/inspect"
	"mcptest/internal/jsonv"
	"mcptest/internal/mcp"
	"mcptest/internal/mcp/protocol"
)

// Connect opens a session with the server under test. The client declares the
// capabilities, and answers the requests of the server.
type Connect func(ctx context.Context, capabilities jsonv.Value, answer mcp.Answerer) (*inspect.Conn, error)

// Run sends the recorded requests: those of each recorded session in a session of its
// own, with a client that declares and answers what the recorded client did. mask hides
// secrets in the server's answers as they are hidden in the cassette. Of the second
// report only the lists, the handshake and the protocol version matter: they are those
// of the server under test. An error means that the server could not be reached (any
// more); the reports are then valid as far as they got.
func Run(ctx context.Context, c *cassette.Cassette, connect Connect, mask func(string) string) (r, now *Report, err error) {
	calls, err := c.Calls()
	if err != nil {
		return nil, nil, err
	}
	recorded, err := c.Clients(calls)
	if err != nil {
		return nil, nil, err
	}
	l := &live{
		ctx: ctx, c: c, connect: connect, sessions: map[int]*session{}, clients: map[int]*client{},
		report: newReport(), now: newReport(), total: map[string]int{},
	}
	for n, rc := range recorded {
		l.clients[n] = &client{recorded: rc, used: map[int]bool{}}
	}
	defer l.abandon()
	r = l.report
	idle, err := betweenCalls(c, calls)
	if err != nil {
		return nil, nil, err
	}
	err = r.compared(c, calls, source{again: true, mask: mask, send: l.send, ended: l.ended})
	add(l.total, idle, -1)
	r.finish(l.total)
	return r, l.now, err
}

// live are the sessions with the server under test, by the number of the recorded
// session.
type live struct {
	ctx         context.Context
	c           *cassette.Cassette
	connect     Connect
	sessions    map[int]*session
	clients     map[int]*client
	report, now *Report
	total       map[string]int // notifications between calls
}

type session struct {
	conn   *inspect.Conn
	during map[string]int // notifications during calls
	wanted map[string]int // notifications that were recorded during these calls
}

// open returns the session for a recorded one.
func (l *live) open(n int) (*session, error) {
	if s := l.sessions[n]; s != nil {
		return s, nil
	}
	conn, err := l.connect(l.ctx, l.clients[n].recorded.Capabilities, l.clients[n].answer)
	if err != nil {
		return nil, err
	}
	s := &session{conn: conn, during: map[string]int{}, wanted: map[string]int{}}
	l.sessions[n] = s
	if l.now.Protocol == "" {
		l.now.Protocol, l.now.Handshake = conn.Session().Protocol(), conn.Session().ServerInfo()
	}
	return s, nil
}

// send makes one request. A server that does not respond is started again for the
// next one.
func (l *live) send(call *cassette.Call, _, params jsonv.Value) (outcome, error) {
	s, err := l.open(call.Session)
	if err != nil {
		return outcome{}, err
	}
	request := mcp.Call{Method: call.Method, ProgressToken: call.Token != ""}
	if !params.IsAbsent() {
		request.Params = params.Append(nil)
	}
	x := s.conn.Send(l.ctx, request)
	out := outcome{during: map[string]int{}}
	for _, m := range x.During {
		if m.Kind == mcp.KindNotification {
			count(out.during, m.Method)
		}
	}
	add(s.during, out.during, 1)
	recorded, _, err := counted(l.c, call)
	if err != nil {
		return out, err
	}
	add(s.wanted, recorded, 1)
	if l.ctx.Err() != nil {
		return out, context.Cause(l.ctx)
	}
	out.result, out.err = s.conn.ResultOf(x)
	var refused *protocol.RPCError
	if out.err == nil || errors.As(out.err, &refused) {
		return out, nil
	}
	out.crashed = !s.conn.Session().Alive()
	if out.crashed || errors.As(out.err, new(*mcp.TimeoutError)) {
		l.close(call.Session)
	}
	return out, nil
}

// ended reads the lists that the recorded session has, and closes the session.
func (l *live) ended(n int) error {
	var lists bool
	for _, first := range l.report.listedIn {
		lists = lists || first == n
	}
	if lists {
		s, err := l.open(n)
		if err != nil {
			return err
		}
		offer, err := s.conn.Complete(l.ctx)
		if err != nil {
			return err
		}
		for kind, first := range l.report.listedIn {
			if list, ok := offer.Lists[kind]; ok && first == n {
				l.now.Lists[kind] = list
			}
		}
		l.now.Handshake = s.conn.Session().ServerInfo()
	}
	l.close(n)
	return nil
}

// lateMessages limits the waiting for notifications that were recorded and have not
// come yet.
const lateMessages = time.Second

// close ends a session, and counts its notifications.
func (l *live) close(n int) {
	s := l.sessions[n]
	if s == nil {
		return
	}
	delete(l.sessions, n)
	live := s.conn.Session()
	ctx, cancel := context.WithTimeout(l.ctx, lateMessages)
	defer cancel()
	seen := map[string]int{}
	for {
		mark := live.Mark()
		clear(seen)
		for _, m := range live.Messages(0) {
			if m.Kind == mcp.KindNotification {
				count(seen, m.Method)
			}
		}
		missing := ""
		for method, n := range s.wanted {
			if n > seen[method] {
				missing = method
			}
		}
		if missing == "" {
			break
		}
		if _, err := live.Wait(ctx, missing, mark); err != nil {
			break
		}
	}
	for method, n := range seen {
		l.total[method] += max(0, n-s.during[method])
	}
	// What the server writes until it has stopped counts as well.
	live.Close(l.ctx)
	s.conn.ReportRemaining()
	s.conn.Close()
}

// abandon ends the sessions that remain after an error.
func (l *live) abandon() {
	for n := range l.sessions {
		l.sessions[n].conn.ReportRemaining()
		l.sessions[n].conn.Close()
	}
}
