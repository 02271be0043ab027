package tape

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lists"
	"mcptest/internal/base/secret"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/tape/cassette"
)

// About holds the name of a run and its task: the note in the header of its cassette.
type About struct {
	Target  string              `json:"target"`
	Repeat  string              `json:"repeat"`
	RunID   string              `json:"live"`
	Options map[string][]string `json:"options"` // of the command line, by name
}

// The kinds of events.
const (
	opening = "open"
	calling = "call"
	pausing = "pause"
	valuing = "values"
	ending  = "end"
)

// event is one interaction of a run with the outside. Its messages are frames; the
// note that follows them is the event itself.
type event struct {
	Event    string `json:"event"`
	Messages int    `json:"messages,omitempty"` // frames before the note

	Variant  string      `json:"variant,omitempty"` // of a session
	Protocol string      `json:"protocol,omitempty"`
	Server   jsonv.Value `json:"server,omitzero"` // serverInfo
	None     bool        `json:"none,omitempty"`  // there is no such launch

	Method     string      `json:"method,omitempty"` // of a call
	Answered   bool        `json:"answered,omitempty"`
	Violations []violation `json:"violations,omitempty"`
	Late       []violation `json:"session_violations,omitempty"` // that belong to no call
	Dropped    int         `json:"dropped_messages,omitempty"`
	Died       string      `json:"died,omitempty"` // why the session ended

	Failed *failure    `json:"failed,omitempty"` // there is no session, or no response
	Values jsonv.Value `json:"values,omitzero"`  // of --values
	Ends   []end       `json:"ended,omitempty"`  // contexts that ended

	session, line int
	begin, over   time.Duration
	frames        []cassette.Frame
}

type violation struct {
	Kind string `json:"kind"`
	Says string `json:"says"`
}

func readViolations(list []violation) []protocol.Violation {
	return lists.Map(list, func(v violation) protocol.Violation {
		return protocol.Violation{Kind: v.Kind, Msg: v.Says}
	})
}

// failure is the reason why there is no session, or no response.
type failure struct {
	Timeout bool   `json:"timeout,omitempty"`
	Says    string `json:"says"`
}

func (f *failure) Error() string { return f.Says }

// Unwrap returns a timeout error if the failure was a timeout.
func (f *failure) Unwrap() error {
	if f.Timeout {
		return &mcp.TimeoutError{}
	}
	return nil
}

// Create creates the cassette of a run.
func Create(path string, h cassette.Header, about About, secrets []string) (*cassette.Writer, error) {
	redact := secret.NewRedactor()
	redact.Add(secrets...)
	h.Recorded, h.Masks = time.Now().UTC(), []string{cassette.MaskForms}
	var err error
	if h.Note, err = json.Marshal(about); err != nil {
		return nil, err
	}
	return cassette.Create(path, h, redact)
}

// Recording is the cassette of a run.
type Recording struct {
	*cassette.Cassette
	About
	Values jsonv.Value // see [Tape.SetSecrets]

	events []*event
}

// Open reads the cassette of a run. Errors in its content are a [*cassette.Error].
func Open(path string) (*Recording, error) {
	c, err := cassette.Open(path)
	if wrong, ok := errors.AsType[*cassette.Error](err); ok {
		wrong.Says += "; record the run again with --record"
		return nil, wrong
	}
	if err != nil {
		return nil, err
	}
	rec := &Recording{Cassette: c}
	if err := rec.read(); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return rec, nil
}

func (rec *Recording) read() error {
	if err := json.Unmarshal(rec.Note, &rec.About); err != nil || rec.RunID == "" {
		return rec.newError(1, "the cassette is not one of a live run; record the run with --record")
	}
	var frames []cassette.Frame
	last, line := &event{}, 1
	for _, f := range rec.Frames {
		line = f.Line
		if f.Note == nil {
			frames = append(frames, f)
			continue
		}
		last = &event{session: f.Session, line: f.Line, begin: f.At, over: f.At, frames: frames}
		if err := json.Unmarshal(f.Note, last); err != nil {
			return rec.newError(f.Line, "the note cannot be read: %s", err)
		}
		if len(frames) != last.Messages {
			return rec.newError(f.Line, "the recording was changed: expected %d messages before this line, got %d; "+
				"record the run again", last.Messages, len(frames))
		}
		if len(frames) > 0 {
			last.begin, last.line, frames = frames[0].At, frames[0].Line, nil
		}
		rec.events = append(rec.events, last)
		if last.Event == valuing {
			rec.Values = last.Values
		}
	}
	if last.Event != ending {
		return rec.newError(line, "the recording is not complete: its run was killed, or the file was cut; record the run again")
	}
	return nil
}

func (rec *Recording) newError(line int, format string, args ...any) *cassette.Error {
	return &cassette.Error{File: rec.File, Line: line, Says: fmt.Sprintf(format, args...)}
}

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
	var e *event
	var err error
	if s.t.o.Replay != nil {
		e, x, err = s.replay(call)
	} else {
		e, x = s.doAndRecord(ctx, call)
	}
	if err != nil {
		return &mcp.Exchange{Method: call.Method, Cause: err}
	}
	s.seen = append(s.seen, readViolations(e.Late)...)
	if e.Died != "" {
		s.dead = errors.New(e.Died)
	}
	return x
}

// replay returns the recorded exchange of a call.
func (s *Session) replay(call mcp.Call) (*event, *mcp.Exchange, error) {
	e, err := s.findEvent(call)
	if err != nil {
		return nil, nil, err
	}
	s.t.replayDuring(e.Ends)
	x, err := s.t.readExchange(e)
	return e, x, err
}

// doAndRecord makes a call and records it.
func (s *Session) doAndRecord(ctx context.Context, call mcp.Call) (*event, *mcp.Exchange) {
	e := &event{Event: calling, Method: call.Method, session: s.e.session}
	var x *mcp.Exchange
	s.t.runEvent(e, func() time.Duration {
		x = s.s.Do(ctx, call)
		s.t.addMessages(e, x)
		s.addFindings(e, x)
		return x.Elapsed
	})
	return e, x
}

// addFindings adds to an event what its messages do not contain.
func (s *Session) addFindings(e *event, x *mcp.Exchange) {
	e.Violations = s.maskViolations(x.Violations)
	e.Late = s.maskViolations(s.s.TakeViolations())
	e.Dropped = x.Dropped
	if !s.s.Alive() && s.dead == nil {
		e.Died = "the session ended"
		if err := s.s.Err(); err != nil {
			e.Died = s.t.veil.mask.String(err.Error())
		}
	}
}

// maskViolations returns violations as a recording holds them.
func (s *Session) maskViolations(list []protocol.Violation) []violation {
	return lists.Map(list, func(v protocol.Violation) violation {
		return violation{Kind: v.Kind, Says: s.t.veil.mask.String(v.Msg)}
	})
}

// findEvent returns the recording of a call.
func (s *Session) findEvent(call mcp.Call) (*event, error) {
	t := s.t
	if t.err != nil {
		return nil, t.err
	}
	e := t.take(calling)
	sent := t.reduceParams(t.veil.disguiseMessage(call.Params, true))
	request := cassette.ShowRequest(call.Method, sent)
	if e == nil {
		return nil, t.fail(nil, "the recording has no response to %s, which is called here", request)
	}
	had := sent
	if len(e.frames) > 0 && e.frames[0].Dir == cassette.ToServer {
		data, err := t.o.Replay.Read(&e.frames[0])
		if err != nil {
			return nil, err
		}
		had = t.reduceParams(protocol.MemberOf(data, "params"))
	}
	if e.session != s.e.session || e.Method != call.Method {
		return nil, t.fail(e, "the recording has no response to %s, which is called here: it has %s",
			request, cassette.ShowRequest(e.Method, had))
	}
	if changes := jsonv.Diff(had, sent); len(changes) > 0 {
		return nil, t.fail(e, "the recording has no response to %s, which is called here: %s",
			request, cassette.DescribeChanges(changes))
	}
	return e, nil
}

// reduceParams returns params as the replay compares them.
func (t *Tape) reduceParams(raw []byte) jsonv.Value {
	v, _ := jsonv.Parse(raw)
	return t.o.Replay.ReduceParams(v)
}

// readExchange returns the recorded exchange.
func (t *Tape) readExchange(e *event) (*mcp.Exchange, error) {
	x := &mcp.Exchange{
		Method:     e.Method,
		Elapsed:    e.over - e.begin,
		Violations: readViolations(e.Violations),
		Dropped:    e.Dropped,
	}
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

// IsAlive reports whether calls can still be answered.
func (s *Session) IsAlive() bool { return s.dead == nil }

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
