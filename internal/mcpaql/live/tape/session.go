package tape

import (
	"bytes"
	"context"
	"errors"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/tape/cassette"
)

// Session is a session of a run. Its methods report the state after its last call.
type Session struct {
	t    *Tape
	s    *mcp.Session // nil in a replay
	e    *event       // that opened it
	dead error
	seen []protocol.Violation
}

// Do sends a request and waits for its response, as [mcp.Session.Do] does.
func (s *Session) Do(ctx context.Context, call mcp.Call) (x *mcp.Exchange) {
	t, e := s.t, &event{Event: calling, Method: call.Method, session: s.e.session}
	if t.o.Replay != nil {
		var err error
		if e, err = s.recorded(call); err == nil {
			t.replay(e.Ends, false)
			x, err = t.exchange(e)
		}
		if err != nil {
			return &mcp.Exchange{Method: call.Method, Cause: err}
		}
	} else {
		t.live(e, func() time.Duration {
			x = s.s.Do(ctx, call)
			t.messages(e, x)
			s.note(e, x)
			return x.Elapsed
		})
	}
	s.seen = append(s.seen, violations(e.Late)...)
	if e.Died != "" {
		s.dead = errors.New(e.Died)
	}
	return x
}

// note fills in the data that the messages do not contain.
func (s *Session) note(e *event, x *mcp.Exchange) {
	note := func(list []protocol.Violation) []violation {
		return evidence.Each(list, func(v protocol.Violation) violation { return violation{v.Kind, s.t.veil.mask.String(v.Msg)} })
	}
	e.Violations, e.Late, e.Dropped = note(x.Violations), note(s.s.TakeViolations()), x.Dropped
	if !s.s.Alive() && s.dead == nil {
		e.Died = "the session ended"
		if err := s.s.Err(); err != nil {
			e.Died = s.t.veil.mask.String(err.Error())
		}
	}
}

// recorded returns the recording of a call.
func (s *Session) recorded(call mcp.Call) (*event, error) {
	t := s.t
	if t.err != nil {
		return nil, t.err
	}
	e := t.take(calling)
	params := func(raw []byte) jsonv.Value {
		v, _ := jsonv.Parse(raw)
		return t.o.Replay.Compared(v)
	}
	sent := params(t.veil.message(call.Params, true))
	request := cassette.ShownRequest(call.Method, sent)
	if e == nil {
		return nil, t.fail(nil, "the recording has no response to %s, which is called here", request)
	}
	had := sent
	if len(e.frames) > 0 && e.frames[0].Dir == cassette.ToServer {
		data, err := t.o.Replay.Read(&e.frames[0])
		if err != nil {
			return nil, err
		}
		had = params(protocol.MemberOf(data, "params"))
	}
	if e.session != s.e.session || e.Method != call.Method {
		return nil, t.fail(e, "the recording has no response to %s, which is called here: it has %s", request, cassette.ShownRequest(e.Method, had))
	}
	if changes := jsonv.Diff(had, sent); len(changes) > 0 {
		return nil, t.fail(e, "the recording has no response to %s, which is called here: %s", request, cassette.Differences(changes))
	}
	return e, nil
}

// exchange returns the recorded exchange.
func (t *Tape) exchange(e *event) (*mcp.Exchange, error) {
	x := &mcp.Exchange{Method: e.Method, Elapsed: e.over - e.begin, Violations: violations(e.Violations), Dropped: e.Dropped}
	if e.Failed != nil {
		x.Cause = e.Failed
	}
	scan := protocol.NewScanner()
	for i := range e.frames {
		data, err := t.o.Replay.Read(&e.frames[i])
		if err != nil {
			return nil, err
		}
		_ = scan.Scan(data)
		switch {
		case e.Answered && i == len(e.frames)-1:
			x.Result = scan.Result
			if !bytes.Equal(scan.Err, []byte("null")) || x.Result == nil {
				x.Error = scan.Err
			}
		case i == 0:
		case e.frames[i].Dir == cassette.FromServer && scan.Method != nil && scan.ID != nil:
			x.During = append(x.During, mcp.Message{Kind: mcp.KindRequest, Method: protocol.TextOf(scan.Method)})
		default:
			x.During = append(x.During, mcp.Message{Kind: mcp.KindNotification})
		}
	}
	return x, nil
}

// TakeViolations returns the violations that belong to no call, and clears them.
func (s *Session) TakeViolations() []protocol.Violation {
	taken := s.seen
	s.seen = nil
	return taken
}

// Alive reports whether calls can still be answered.
func (s *Session) Alive() bool { return s.dead == nil }

// Err returns why the session ended; nil while it is alive.
func (s *Session) Err() error { return s.dead }

// Protocol returns the name of the version both sides agreed on.
func (s *Session) Protocol() string { return s.e.Protocol }

// ServerInfo returns the serverInfo of the handshake.
func (s *Session) ServerInfo() jsonv.Value { return s.e.Server }

// Close ends the session.
func (s *Session) Close(ctx context.Context) {
	if s.s != nil {
		s.s.Close(ctx)
	}
}
