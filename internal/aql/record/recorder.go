package record

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"
	"unicode/utf8"

	"mcptest/internal/aql/evidence"
	"mcptest/internal/jsonv"
	"mcptest/internal/mcp"
	"mcptest/internal/mcp/protocol"
	"mcptest/internal/proc"
)

// recorder is the tape of a run that is written down, line by line, so that
// the recording of a run that is killed can be read up to there.
type recorder struct {
	o       Options
	started time.Time
	last    time.Duration // when the last event was over, since started
	veil    *redactor
	opened  int
	calls   int
	written int
	err     error
	endings
}

func newRecorder(o Options, started time.Time) *recorder {
	r := &recorder{o: o, started: started, veil: newRedactor(o)}
	r.line(recordingHeader{
		Recording: recordingKind, Version: recordingVersion, Program: o.Program, Started: started.UTC(),
		Target: r.veil.mask.String(o.Target), Repeat: r.veil.mask.String(o.Repeat), Run: o.RunID, Options: o.Recorded,
	})
	return r
}

// line writes one line. After a failure nothing more is written.
func (r *recorder) line(v any) {
	if r.err != nil {
		return
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if r.err = enc.Encode(v); r.err != nil {
		return
	}
	if r.written += b.Len(); r.written > MaxRecording {
		r.err = fmt.Errorf("it would be larger than %d MiB", MaxRecording>>20)
		return
	}
	_, r.err = r.o.Record.Write(b.Bytes())
}

// event runs what takes time, and returns how much, and writes its line.
func (r *recorder) event(l *recordingLine, do func() time.Duration) {
	r.begin()
	l.At = millis(time.Since(r.started))
	l.MS = millis(do())
	l.Ended = r.over()
	r.last = micros(l.At) + micros(l.MS)
	r.line(l)
}

// millis is a duration in milliseconds, to the microsecond.
func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// micros undoes millis.
func micros(ms float64) time.Duration {
	return time.Duration(math.Round(ms*1000)) * time.Microsecond
}

func (r *recorder) Dial(ctx context.Context, variant string) (Session, error) {
	r.opened++
	l := recordingLine{Open: r.opened, Variant: variant}
	var s *mcp.Session
	var err error
	r.event(&l, func() time.Duration {
		begin := time.Now()
		s, err = r.o.Dial(ctx, variant)
		switch {
		case err != nil:
			l.Failed = r.veil.mask.String(err.Error())
		case s == nil:
			l.None = true
		default:
			l.Protocol = s.Protocol()
			l.Server = evidence.MaskTexts(s.ServerInfo().Lookup("serverInfo"), r.veil.mask)
		}
		return time.Since(begin)
	})
	if err != nil || s == nil {
		return nil, err
	}
	return &recordedSession{s: s, r: r, n: r.opened}, nil
}

func (r *recorder) Pause(ctx context.Context, d time.Duration) bool {
	if d > 0 {
		r.event(&recordingLine{Pause: d.String()}, func() time.Duration {
			begin := time.Now()
			pause(ctx, d)
			return time.Since(begin)
		})
	}
	return ctx.Err() == nil
}

func (r *recorder) Now() time.Time { return r.started.Add(r.last) }

func (r *recorder) Introspected(sensitive map[string]bool, values jsonv.Value) {
	r.veil.sensitive = sensitive
	if values.Len() > 0 {
		r.line(recordingLine{Values: r.veil.answer(values)})
	}
}

func (r *recorder) Close() error {
	r.line(recordingLine{End: true})
	return r.err
}

// recordedSession is a session whose calls are written down. What it says
// of itself is what was so after the last call.
type recordedSession struct {
	s    *mcp.Session
	r    *recorder
	n    int
	dead error
	seen []protocol.Violation
}

func (s *recordedSession) Do(ctx context.Context, call mcp.Call) (x *mcp.Exchange) {
	r := s.r
	r.calls++
	l := recordingLine{Call: r.calls, Session: s.n, Method: call.Method, Params: r.veil.request(call.Params)}
	r.event(&l, func() time.Duration {
		x = s.s.Do(ctx, call)
		seen := s.s.TakeViolations()
		s.seen = append(s.seen, seen...)
		if !s.s.Alive() && s.dead == nil {
			if s.dead = s.s.Err(); s.dead == nil {
				s.dead = errors.New("the session ended")
			}
			l.Died = r.veil.mask.String(s.dead.Error())
		}
		r.outcome(&l, x, seen)
		return x.Elapsed
	})
	return x
}

// outcome fills in what came back.
func (r *recorder) outcome(l *recordingLine, x *mcp.Exchange, seen []protocol.Violation) {
	if x.Cause != nil {
		l.NoAnswer = &recordedCause{Kind: "other", Says: r.veil.mask.String(x.Cause.Error())}
		if errors.As(x.Cause, new(*mcp.TimeoutError)) {
			l.NoAnswer.Kind = causeTimeout
		}
	}
	if result := r.veil.result(x.Result); json.Valid(result) && utf8.Valid(result) {
		l.Result = result
	} else {
		l.Raw = result
	}
	if x.Error != nil {
		l.Error = bytes.ToValidUTF8(r.veil.result(x.Error), []byte("\ufffd"))
	}
	note := func(list []protocol.Violation) (out []recordedViolation) {
		for _, v := range list {
			out = append(out, recordedViolation{v.Kind, r.veil.mask.String(v.Msg)})
		}
		return out
	}
	l.Violations, l.Late = note(x.Violations), note(seen)
	l.Messages = len(x.During) + x.Dropped
	for _, m := range x.During {
		if asks(m) {
			l.Asked++
		}
	}
}

func (s *recordedSession) TakeViolations() []protocol.Violation {
	taken := s.seen
	s.seen = nil
	return taken
}

func (s *recordedSession) Alive() bool                            { return s.dead == nil }
func (s *recordedSession) Err() error                             { return s.dead }
func (s *recordedSession) Protocol() string                       { return s.s.Protocol() }
func (s *recordedSession) ServerInfo() jsonv.Value                { return s.s.ServerInfo() }
func (s *recordedSession) Close(ctx context.Context) proc.Stopped { return s.s.Close(ctx) }

// endings are the contexts of a run. Where a run is recorded they end with
// an event only, before it or during it, so that it is known where.
type endings struct {
	mu    sync.Mutex
	list  []*ending
	busy  bool // an event is going on
	ended []recordedEnding
}

type ending struct {
	n      int
	parent context.Context
	cancel context.CancelCauseFunc
	due    bool
}

func (e *endings) Context(parent context.Context) context.Context {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(parent))
	e.mu.Lock()
	defer e.mu.Unlock()
	one := &ending{n: len(e.list), parent: parent, cancel: cancel}
	e.list = append(e.list, one)
	context.AfterFunc(parent, func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		if e.busy {
			e.end(one, false)
		} else {
			one.due = true
		}
	})
	return ctx
}

// end ends a context and notes it. The caller holds mu.
func (e *endings) end(one *ending, before bool) {
	cause := context.Cause(one.parent)
	note := recordedEnding{Context: one.n, Before: before, Says: cause.Error()}
	var limit *mcp.Limit
	if errors.As(cause, &limit) {
		note.Limit, note.For = limit.Name, limit.For.String()
	}
	e.ended = append(e.ended, note)
	one.due = false
	one.cancel(cause)
}

// begin begins an event.
func (e *endings) begin() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, one := range e.list {
		if one.due {
			e.end(one, true)
		}
	}
	e.busy = true
}

// over ends an event, and returns the contexts that ended with it.
func (e *endings) over() []recordedEnding {
	e.mu.Lock()
	defer e.mu.Unlock()
	ended := e.ended
	e.ended, e.busy = nil, false
	return ended
}
