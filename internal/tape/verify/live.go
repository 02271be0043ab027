package verify

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/offer/surface"
	"mcptest/internal/process/proc"
	"mcptest/internal/run/inspect"
	"mcptest/internal/tape/cassette"
)

// Connect opens a session with the server under test, as the recorded client did. n is the
// number of the recorded session. The connection calls violated for violations.
type Connect func(
	ctx context.Context, n int, recorded *cassette.RecordedClient, answer mcp.Answerer, violated func([]protocol.Violation),
) (*inspect.Conn, error)

// Violations returns the violations of the recorded server: those that the same client
// notices in a replay, which connect opens.
func Violations(ctx context.Context, c *cassette.Cassette, connect Connect) ([]Violation, error) {
	l, calls, err := newLive(ctx, c, connect)
	if err != nil {
		return nil, err
	}
	l.replayed = true
	defer l.abandon()
	err = l.report.compareResponses(c, calls, l.source(func(s string) string { return s }))
	return l.report.Violations, err
}

// Run sends the recorded requests: those of each recorded session in a session of its
// own, with a client that declares and answers what the recorded client did. mask hides
// secrets in the server's answers as they are hidden in the cassette. Of the second
// report only the lists and the handshake matter: they are those of the server under
// test. violations are those of the recorded server. An error means that the server
// could not be reached (any more); the reports are then valid as far as they got.
func Run(
	ctx context.Context, c *cassette.Cassette, connect Connect, violations []Violation, mask func(string) string,
) (r, now *Report, err error) {
	l, calls, err := newLive(ctx, c, connect)
	if err != nil {
		return nil, nil, err
	}
	defer l.abandon()
	r = l.report
	idle, between := listBetweenCalls(c, calls)
	for n := range l.clients {
		l.idle[n], _ = listBetweenCalls(c, slices.DeleteFunc(slices.Clone(calls), func(call *cassette.Call) bool {
			return call.Session != n
		}))
	}
	if err := c.Err(); err != nil {
		return nil, nil, err
	}
	err = r.compareResponses(c, calls, l.source(mask))
	l.abandon()
	if err != nil { // what was not reached is not compared, and its violations are not gone
		var seen []Violation
		for _, v := range violations {
			if slices.ContainsFunc(r.Violations, v.isSame) {
				seen = append(seen, v)
			}
		}
		violations = seen
		r.Lists = nil
	}
	r.Changes = append(r.compareViolations(violations), r.Changes...)
	maps.DeleteFunc(r.Lists, func(kind surface.Kind, _ []jsonv.Value) bool { return l.unread[kind] })
	add(l.total, idle, -1)
	r.asked.was = append(r.asked.was, between...)
	r.asked.now = append(r.asked.now, l.takeAsked(mask)...)
	r.finish(l.total, c.Stable)
	return r, l.now, err
}

func newLive(ctx context.Context, c *cassette.Cassette, connect Connect) (*live, []*cassette.Call, error) {
	calls, err := c.Calls()
	if err != nil {
		return nil, nil, err
	}
	recorded := c.ListClients(calls)
	if err := c.Err(); err != nil {
		return nil, nil, err
	}
	l := &live{
		ctx:      ctx,
		c:        c,
		connect:  connect,
		sessions: map[int]*session{},
		clients:  map[int]*client{},
		idle:     map[int]map[string]int{},
		report:   newReport(),
		now:      newReport(),
		total:    map[string]int{},
		unread:   map[surface.Kind]bool{},
	}
	for n, rc := range recorded {
		l.clients[n] = &client{
			recorded: rc,
			used:     map[int]bool{},
			count:    map[string]int{},
			changed:  make(chan struct{}),
		}
	}
	return l, calls, nil
}

func (l *live) source(mask func(string) string) source {
	return source{repeats: true, mask: mask, send: l.send, notify: l.notify, list: l.list, after: l.after}
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
	total       map[string]int         // notifications between calls
	idle        map[int]map[string]int // recorded notifications between calls, by session
	unread      map[surface.Kind]bool  // lists that the server does not return
	asked       []asked                // requests of the server during calls
	replayed    bool                   // the server is a cassette
}

type session struct {
	conn   *inspect.Conn
	during map[string]int // notifications during calls
	wanted map[string]int // recorded notifications during these calls, at the end also between calls

	violations []Violation
	current    *cassette.Call            // the latest one
	sent       map[string]*cassette.Call // by the id of the request
}

// open returns the session for a recorded one.
func (l *live) open(n int) (*session, error) {
	if s := l.sessions[n]; s != nil {
		return s, nil
	}
	s := &session{during: map[string]int{}, wanted: map[string]int{}, sent: map[string]*cassette.Call{}}
	conn, err := l.connect(l.ctx, n, l.clients[n].recorded, l.clients[n].answer, s.keepViolations)
	if err != nil {
		return nil, err
	}
	s.conn = conn
	l.sessions[n] = s
	if l.now.Handshake.IsAbsent() {
		l.now.Handshake = conn.Session().ServerInfo()
	}
	return s, nil
}

// send makes one request. A server that does not respond is started again for the
// next one.
func (l *live) send(call *cassette.Call, _, params jsonv.Value) (outcome, error) {
	if l.replayed && call.Canceled() {
		return outcome{err: absent("the cassette waits for the cancellation")}, nil
	}
	s, err := l.open(call.Session)
	if err != nil {
		return outcome{}, err
	}
	request := mcp.Call{Method: call.Method, ProgressToken: call.Token != ""}
	if !params.IsAbsent() {
		request.Params = params.Append(nil)
	}
	s.current = call
	x := s.conn.Send(l.ctx, request)
	s.sent[x.ID] = call
	out := outcome{during: map[string]int{}}
	if x.HTTP != nil {
		out.own = map[string]int{}
	}
	for _, m := range x.During {
		if m.Kind == mcp.KindNotification {
			count(out.during, m.Method)
			if out.own != nil && m.Stream != "" {
				count(out.own, m.Method)
			}
		}
		if m.Kind == mcp.KindRequest && isQuestion(m.Method) {
			params, _ := jsonv.Parse(m.Params)
			out.asked = append(out.asked, asked{method: m.Method, params: params})
		}
	}
	l.asked = append(l.asked, out.asked...)
	add(s.during, out.during, 1)
	if !l.replayed {
		recorded, _ := listRecorded(l.c, call)
		add(s.wanted, recorded.during, 1)
	}
	if l.ctx.Err() != nil {
		return out, context.Cause(l.ctx)
	}
	out.result, out.err = s.conn.ResultOf(x)
	out.crashed = l.endFailed(s, call.Session, out.err)
	return out, nil
}

// endFailed ends a session whose server does not respond, and reports whether it crashed.
func (l *live) endFailed(s *session, n int, err error) (crashed bool) {
	if err == nil || errors.As(err, new(*protocol.RPCError)) {
		return false
	}
	if crashed = !s.conn.Session().Alive(); crashed || errors.As(err, new(*mcp.TimeoutError)) {
		l.close(n)
	}
	return crashed
}

// notify sends a notification of the recorded client.
func (l *live) notify(call *cassette.Call, params jsonv.Value) error {
	s, err := l.open(call.Session)
	if err != nil {
		return err
	}
	var raw []byte
	if !params.IsAbsent() {
		raw = params.Append(nil)
	}
	_ = s.conn.Session().Notify(l.ctx, call.Method, raw) // the next request shows that the server has ended
	return nil
}

// after continues after a call like the recorded client. If the server asked that client
// something between this call and the next one, it may need the answer for the next one.
func (l *live) after(call *cassette.Call, last bool) error {
	if l.replayed { // nothing that the server sends on its own is missing
		if last {
			l.close(call.Session)
		}
		return nil
	}
	if client := l.clients[call.Session]; client.hasAskedAfter(call) {
		s, err := l.open(call.Session)
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(l.ctx, lateMessages)
		defer cancel()
		pause := client.await(ctx, call)
		select {
		case <-time.After(max(minPause, min(pause, lateMessages))):
		case <-l.ctx.Done():
		}
		s.conn.Session().AwaitIdle(l.ctx)
	}
	if last {
		ctx, cancel := context.WithTimeout(l.ctx, lateMessages)
		defer cancel()
		if s := l.sessions[call.Session]; s != nil {
			l.clients[call.Session].await(ctx, nil)
			for method, n := range l.idle[call.Session] {
				s.wanted[method] = max(s.wanted[method], s.during[method]) + n
			}
			l.report.compareEnd(l.clients[call.Session].recorded.Exit, l.close(call.Session))
		}
	}
	return nil
}

// takeAsked returns the requests of the server that did not come during a call.
func (l *live) takeAsked(mask func(string) string) []asked {
	var q questions
	q.now = l.asked
	for _, client := range l.clients {
		client.mu.Lock()
		q.was = append(q.was, client.asked...)
		client.mu.Unlock()
	}
	q.removePair(func(was, now asked) bool { return jsonv.Equal(was.params, now.params) })
	for i := range q.was {
		q.was[i].params = maskTexts(q.was[i].params, mask)
	}
	return q.was
}

// list reads a list of the server where the recorded client did.
func (l *live) list(call *cassette.Call, kind surface.List) error {
	s, err := l.open(call.Session)
	if err != nil {
		return err
	}
	if !s.conn.Offers(kind.Capability) {
		return nil // a change of the handshake
	}
	s.current = call
	items, err := s.conn.List(l.ctx, kind.Method, kind.Member)
	switch {
	case l.ctx.Err() != nil:
		return context.Cause(l.ctx)
	case err == nil:
		l.now.Lists[kind.Kind] = items
		return nil
	}
	l.unread[kind.Kind] = true
	l.endFailed(s, call.Session, err)
	l.report.reportLost(call, kind, err)
	return nil
}

// lateMessages limits the waiting for messages that were recorded and have not come
// yet.
const lateMessages = time.Second

// minPause is how long an answer of the client has time to reach the server.
const minPause = 100 * time.Millisecond

// close ends a session, and counts its notifications.
func (l *live) close(n int) (stopped proc.Stopped) {
	s := l.sessions[n]
	if s == nil {
		return stopped
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
	stopped = live.Close(l.ctx)
	l.report.addViolations(s)
	s.conn.Close()
	return stopped
}

// abandon ends the sessions that remain after an error.
func (l *live) abandon() {
	for n, s := range l.sessions {
		delete(l.sessions, n)
		l.report.addViolations(s)
		s.conn.Close()
	}
}

// keepViolations keeps violations of the server until the end of its session.
func (s *session) keepViolations(list []protocol.Violation) {
	for _, v := range list {
		s.violations = append(s.violations, Violation{v, s.current})
	}
}

// addViolations adds the violations of a session to the report, each with the request whose id it has.
func (r *Report) addViolations(s *session) {
	s.current = nil
	s.conn.ReportRemaining()
	for _, v := range s.violations {
		if call := s.sent[v.ID]; call != nil {
			v.call = call
		}
		r.Violations = append(r.Violations, v)
	}
}
