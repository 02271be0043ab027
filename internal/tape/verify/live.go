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
	err = l.report.compareResponses(c, calls, l.makeSource(keepText))
	return l.report.Violations, err
}

// keepText is the mask of a replay, whose texts are masked already.
func keepText(s string) string { return s }

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
		l.idle[n], _ = listBetweenCalls(c, selectSession(calls, n))
	}
	if err := c.Err(); err != nil {
		return nil, nil, err
	}
	err = r.compareResponses(c, calls, l.makeSource(mask))
	l.abandon()
	if err != nil { // what was not reached is not compared, and its violations are not gone
		violations = selectSeen(violations, r.Violations)
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

// selectSession returns the calls of one session.
func selectSession(calls []*cassette.Call, session int) []*cassette.Call {
	var out []*cassette.Call
	for _, call := range calls {
		if call.Session == session {
			out = append(out, call)
		}
	}
	return out
}

// selectSeen returns the recorded violations that occurred again.
func selectSeen(recorded, now []Violation) []Violation {
	var seen []Violation
	for _, v := range recorded {
		if slices.ContainsFunc(now, v.isSame) {
			seen = append(seen, v)
		}
	}
	return seen
}

// newLive returns the state of a replay without a session, and the calls to make.
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

// makeSource returns what sends the requests of the recording to the server.
func (l *live) makeSource(mask func(string) string) source {
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
	out := countDuring(x)
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

// countDuring counts the notifications during a call and lists the requests of the server.
func countDuring(x *mcp.Exchange) outcome {
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
	return out
}

// endFailed ends a session whose server does not respond, and reports whether it crashed.
func (l *live) endFailed(s *session, n int, err error) (crashed bool) {
	if err == nil || errors.As(err, new(*protocol.RPCError)) {
		return false
	}
	crashed = !s.conn.Session().Alive()
	if crashed || errors.As(err, new(*mcp.TimeoutError)) {
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
	if l.clients[call.Session].hasAskedAfter(call) {
		if err := l.awaitQuestions(call); err != nil {
			return err
		}
	}
	if last {
		l.endSession(call.Session)
	}
	return nil
}

// awaitQuestions waits until the server has asked what it asked the recorded client after a
// call, and for as long as that client waited then.
func (l *live) awaitQuestions(call *cassette.Call) error {
	s, err := l.open(call.Session)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(l.ctx, lateMessages)
	defer cancel()
	pause := l.clients[call.Session].await(ctx, call)
	select {
	case <-time.After(max(minPause, min(pause, lateMessages))):
	case <-l.ctx.Done():
	}
	s.conn.Session().AwaitIdle(l.ctx)
	return nil
}

// endSession ends a session after its last call, and compares how the server ends.
func (l *live) endSession(n int) {
	s := l.sessions[n]
	if s == nil {
		return
	}
	ctx, cancel := context.WithTimeout(l.ctx, lateMessages)
	defer cancel()
	l.clients[n].await(ctx, nil)
	for method, between := range l.idle[n] {
		s.wanted[method] = max(s.wanted[method], s.during[method]) + between
	}
	l.report.compareEnd(l.clients[n].recorded.Exit, l.close(n))
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

// minPause is how long an answer of the client has time to reach the server.
const minPause = 100 * time.Millisecond

// close ends a session, and counts its notifications.
func (l *live) close(n int) (stopped proc.Stopped) {
	s := l.sessions[n]
	if s == nil {
		return stopped
	}
	delete(l.sessions, n)
	for method, n := range s.awaitNotifications(l.ctx) {
		l.total[method] += max(0, n-s.during[method])
	}
	// What the server writes until it has stopped counts as well.
	stopped = s.conn.Session().Close(l.ctx)
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
