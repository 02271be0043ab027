package record

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"mcptest/internal/display"
	"mcptest/internal/jsonv"
	"mcptest/internal/mcp"
	"mcptest/internal/mcp/protocol"
	"mcptest/internal/proc"
)

// player is the tape of a run that is played back. It waits for nothing. A
// run that asks for anything but what comes next in the recording is ended.
type player struct {
	rec     *Recording
	program string // this one
	next    int    // line
	at      time.Duration
	veil    *redactor
	ends    []context.CancelCauseFunc
	err     *Error
}

func newPlayer(rec *Recording, program string) *player {
	return &player{rec: rec, program: program, veil: newRedactor(Options{})}
}

// fail ends the run: it is not the one that was recorded.
func (p *player) fail(line int, format string, args ...any) error {
	if p.err == nil {
		p.err = &Error{p.rec.File, line, fmt.Sprintf(format, args...)}
	}
	for _, cancel := range p.ends {
		cancel(p.err)
	}
	return p.err
}

// take returns the next line, without regard to pauses unless it is asked
// for one; nil when it is of another kind.
func (p *player) take(kind func(*recordingLine) bool) *recordingLine {
	for p.err == nil && p.next < len(p.rec.lines) {
		l := &p.rec.lines[p.next]
		if kind(l) {
			p.next++
			p.at = micros(l.At) + micros(l.MS)
			p.end(l, true)
			return l
		}
		if l.Pause == "" {
			return nil
		}
		p.next++
		p.end(l, true)
		p.end(l, false)
	}
	return nil
}

// end ends the contexts that ended before or during a line's event.
func (p *player) end(l *recordingLine, before bool) {
	for _, e := range l.Ended {
		if e.Before != before || e.Context < 0 || e.Context >= len(p.ends) {
			continue
		}
		cause := errors.New(e.Says)
		if d, err := time.ParseDuration(e.For); err == nil && e.Limit != "" {
			cause = &mcp.Limit{Name: e.Limit, For: d}
		}
		p.ends[e.Context](cause)
	}
}

func (p *player) Context(parent context.Context) context.Context {
	// What the recorded run had time for, this one has, too.
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(parent))
	p.ends = append(p.ends, cancel)
	if p.err != nil {
		cancel(p.err)
	}
	return ctx
}

func (p *player) Pause(ctx context.Context, _ time.Duration) bool {
	if l := p.take(func(l *recordingLine) bool { return l.Pause != "" }); l != nil {
		p.end(l, false)
	}
	return ctx.Err() == nil
}

func (p *player) Now() time.Time { return p.rec.started.Add(p.at) }

func (p *player) Introspected(sensitive map[string]bool, _ jsonv.Value) { p.veil.sensitive = sensitive }

func (p *player) Close() error {
	if p.err == nil {
		if l := p.take(func(l *recordingLine) bool { return l.End }); l == nil {
			rest := p.rec.lines[p.next]
			_ = p.fail(rest.line, "the run ended before the recording did%s", p.other())
		}
	}
	if p.err != nil {
		return p.err
	}
	return nil
}

// other says what to do, and that another version made the recording.
func (p *player) other() string {
	if p.rec.Program == p.program {
		return "; record the run again"
	}
	return fmt.Sprintf("; it was made by %s, and this is %s: record the run again", p.rec.Program, p.program)
}

func (p *player) Dial(_ context.Context, variant string) (Session, error) {
	l := p.take(func(l *recordingLine) bool { return l.Open > 0 })
	switch {
	case l == nil || l.Variant != variant:
		return nil, p.fail(p.line(), "the run starts the adapter here, and the recording does not%s", p.other())
	case l.Failed != "":
		p.end(l, false)
		return nil, errors.New(l.Failed)
	}
	p.end(l, false)
	if l.None {
		return nil, nil
	}
	return &playedSession{p: p, n: l.Open, l: l}, nil
}

// line is where the recording is.
func (p *player) line() int {
	if len(p.rec.lines) == 0 {
		return 1
	}
	return p.rec.lines[min(p.next, len(p.rec.lines)-1)].line
}

// playedSession answers what a recorded session answered.
type playedSession struct {
	p    *player
	n    int
	l    *recordingLine // that opened it
	dead error
	seen []protocol.Violation
}

func (s *playedSession) Do(_ context.Context, call mcp.Call) *mcp.Exchange {
	p := s.p
	x := &mcp.Exchange{Method: call.Method}
	if p.err != nil {
		x.Cause = p.err
		return x
	}
	l := p.take(func(l *recordingLine) bool { return l.Call > 0 })
	sent := p.veil.request(call.Params)
	switch {
	case l == nil:
		x.Cause = p.fail(p.line(), "the recording has no answer to %s, which is called here%s", shownCall(call.Method, sent), p.other())
		return x
	case l.Session != s.n || l.Method != call.Method || !sameJSON(sent, l.Params):
		x.Cause = p.fail(l.line, "the recording has no answer to %s, which is called here: it has %s%s", shownCall(call.Method, sent), shownCall(l.Method, l.Params), p.other())
		return x
	}
	p.end(l, false)
	s.play(l, x)
	return x
}

// play makes the exchange that was recorded.
func (s *playedSession) play(l *recordingLine, x *mcp.Exchange) {
	if x.Result = l.Result; l.Raw != nil {
		x.Result = l.Raw
	}
	x.Error = l.Error
	x.Elapsed = micros(l.MS)
	if l.NoAnswer != nil {
		x.Cause = pastError{l.NoAnswer}
	}
	x.Violations = violations(l.Violations)
	s.seen = append(s.seen, violations(l.Late)...)
	for range l.Asked {
		x.During = append(x.During, mcp.Message{Kind: mcp.KindRequest})
	}
	x.Dropped = l.Messages - l.Asked
	if l.Died != "" {
		s.dead = errors.New(l.Died)
	}
}

func violations(list []recordedViolation) (out []protocol.Violation) {
	for _, v := range list {
		out = append(out, protocol.Violation{Kind: v.Kind, Msg: v.Says})
	}
	return out
}

func (s *playedSession) TakeViolations() []protocol.Violation {
	taken := s.seen
	s.seen = nil
	return taken
}

func (s *playedSession) Alive() bool                        { return s.dead == nil }
func (s *playedSession) Err() error                         { return s.dead }
func (s *playedSession) Protocol() string                   { return s.l.Protocol }
func (s *playedSession) Close(context.Context) proc.Stopped { return proc.Stopped{} }
func (s *playedSession) ServerInfo() jsonv.Value {
	return jsonv.ObjectOf("serverInfo", s.l.Server)
}

// pastError is why a recorded call had no answer.
type pastError struct{ c *recordedCause }

func (e pastError) Error() string { return e.c.Says }

// Unwrap makes a timeout out of what was one.
func (e pastError) Unwrap() error {
	if e.c.Kind == causeTimeout {
		return &mcp.TimeoutError{}
	}
	return nil
}

// asks says that a message of the server is a request that the run counts.
func asks(m mcp.Message) bool { return m.Kind == mcp.KindRequest && m.Method != "ping" }

func sameJSON(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	x, errX := jsonv.Parse(a)
	y, errY := jsonv.Parse(b)
	return errX == nil && errY == nil && jsonv.Equal(x, y)
}

// shownCall names a request in a message.
func shownCall(method string, params []byte) string {
	v, err := jsonv.Parse(params)
	if err != nil || method != "tools/call" {
		return method
	}
	args := v.Lookup("arguments")
	if op := args.Lookup("operation").Text(); op != "" {
		return display.Truncate(op+" "+args.Lookup("params").String(), 200)
	}
	return display.Truncate(v.Lookup("name").Text()+" "+args.String(), 200)
}
