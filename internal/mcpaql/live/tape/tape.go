package tape

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/tape/cassette"
)

// Options configures how a run reaches its adapter.
type Options struct {
	Dial    func(ctx context.Context, variant string) (*mcp.Session, error)
	Record  *cassette.Writer // see [Create]; nil: the run is not recorded
	Replay  *Recording       // answers instead of the adapter; nil: use the adapter
	Program string           // the name and version of this program

	Secrets []string
	Values  jsonv.Value
}

// Tape connects a run to the outside: sessions, time, and the ends of contexts.
type Tape struct {
	o       Options
	started time.Time
	now     time.Duration // when the latest event ended, since started
	next    int           // event of the replay
	err     error         // a [*cassette.Error]
	veil    *disguise
	contexts
}

// New returns the tape of a run.
func New(o Options) *Tape {
	t := &Tape{o: o, started: time.Now(), veil: newDisguise(o.Secrets, o.Values)}
	switch {
	case o.Replay != nil:
		t.started, t.veil = o.Replay.Recorded, newDisguise(nil, jsonv.Value{})
	case o.Record != nil:
		t.started = o.Record.Start()
	}
	return t
}

// Now returns the time when the latest event ended.
func (t *Tape) Now() time.Time { return t.started.Add(t.now) }

// runEvent runs an event that takes time, and writes it. The function returns its
// duration.
func (t *Tape) runEvent(e *event, do func() time.Duration) {
	e.Ends = t.watchDuring(func() {
		e.begin = max(time.Since(t.started).Truncate(time.Microsecond), 1)
		e.over = e.begin + do().Truncate(time.Microsecond)
	})
	t.now = e.over
	t.write(e)
}

// write writes the messages of an event, and the event. The writer keeps an error
// for its Close.
func (t *Tape) write(e *event) {
	if t.o.Record == nil {
		return
	}
	e.Messages = len(e.frames)
	note, err := json.Marshal(e)
	if err != nil {
		note = []byte(`{}`) // which ends a replay
	}
	for _, f := range append(e.frames, cassette.Frame{At: max(e.over, 1), Note: note}) {
		f.Session, f.Masked = max(e.session, 1), true
		_ = t.o.Record.Write(f)
	}
}

// take returns the next event of the replay if it has the given kind, and nil
// otherwise. Pauses are skipped unless they are requested.
func (t *Tape) take(kind string) *event {
	for t.err == nil && t.next < len(t.o.Replay.events) {
		e := t.o.Replay.events[t.next]
		if e.Event != kind && e.Event != pausing && e.Event != valuing {
			return nil
		}
		t.next++
		t.now = e.over
		t.replayBefore(e.Ends)
		if e.Event == kind {
			return e
		}
		t.replayDuring(e.Ends)
	}
	return nil
}

// fail ends a replay because the run differs from the recorded one. Without an event,
// it refers to the next one.
func (t *Tape) fail(e *event, format string, args ...any) error {
	rec := t.o.Replay
	if e == nil {
		e = rec.events[min(t.next, len(rec.events)-1)]
	}
	again := "; record the run again"
	if rec.Program != t.o.Program {
		again = fmt.Sprintf("; it was made by %s, and this is %s: record the run again", rec.Program, t.o.Program)
	}
	if t.err == nil {
		t.err = rec.newError(e.line, format+"%s", append(args, again)...)
	}
	for _, one := range t.contexts {
		one.cancel(t.err)
	}
	return t.err
}

// BindContext returns a context that ends with its parent, but only before or during an
// event. In a replay it ends at the recorded event.
func (t *Tape) BindContext(parent context.Context) context.Context {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(parent))
	t.contexts = append(t.contexts, &tied{parent, cancel})
	if t.err != nil {
		cancel(t.err)
	}
	return ctx
}

// Pause waits. It returns false if the context ended before. A replay does not wait.
func (t *Tape) Pause(ctx context.Context, d time.Duration) bool {
	if t.o.Replay != nil {
		if t.next < len(t.o.Replay.events) && t.o.Replay.events[t.next].Event == pausing {
			t.replayDuring(t.take(pausing).Ends)
		}
	} else if d > 0 {
		t.runEvent(&event{Event: pausing}, func() time.Duration {
			begin, timer := time.Now(), time.NewTimer(d)
			defer timer.Stop()
			select {
			case <-timer.C:
			case <-ctx.Done():
			}
			return time.Since(begin)
		})
	}
	return ctx.Err() == nil
}

// SetSecrets passes on the parameters that must never be stored, and the values of
// the user. It is called after introspection.
func (t *Tape) SetSecrets(sensitive map[string]bool, values jsonv.Value) {
	t.veil.sensitive = sensitive
	if t.o.Replay == nil && values.Len() > 0 {
		t.write(&event{Event: valuing, over: t.now, Values: t.veil.disguiseValue(values, false, false)})
	}
}

// Close ends a run. The error reports that the replayed run differs from the recorded
// one.
func (t *Tape) Close() error {
	if t.o.Replay == nil {
		t.write(&event{Event: ending, over: t.now})
		return nil
	}
	if t.err == nil && t.take(ending) == nil {
		return t.fail(nil, "the run ended before the recording did")
	}
	return t.err
}

// Dial opens a session; nil without an error means that there is no such launch.
func (t *Tape) Dial(ctx context.Context, variant string) (*Session, error) {
	s := &Session{t: t}
	if t.o.Replay != nil {
		e := t.take(opening)
		if e == nil || e.Variant != variant {
			return nil, t.fail(e, "the run starts the adapter here, and the recording does not")
		}
		t.replayDuring(e.Ends)
		s.e = e
	} else {
		s.e = &event{Event: opening, Variant: variant}
		var err error
		t.runEvent(s.e, func() time.Duration {
			begin := time.Now()
			s.s, err = t.o.Dial(ctx, variant)
			t.noteOpened(s, err)
			return time.Since(begin)
		})
		if err != nil {
			return nil, err
		}
	}
	switch {
	case s.e.Failed != nil:
		return nil, s.e.Failed
	case s.e.None:
		return nil, nil
	}
	return s, nil
}

// noteOpened fills in the data of a live session.
func (t *Tape) noteOpened(s *Session, err error) {
	e := s.e
	switch {
	case err != nil:
		e.Failed = &failure{Says: t.veil.mask.String(err.Error())}
	case s.s == nil:
		e.None = true
	default:
		e.Protocol = s.s.Protocol()
		e.Server = evidence.MaskTexts(s.s.ServerInfo().Lookup("serverInfo"), t.veil.mask)
		if t.o.Record != nil {
			e.session = t.o.Record.Session()
			t.addMessages(e, s.s.Handshake())
		}
	}
}

// addMessages adds the frames of a live exchange.
func (t *Tape) addMessages(e *event, x *mcp.Exchange) {
	if t.o.Record == nil || x == nil {
		return
	}
	add := func(at time.Duration, dir cassette.Direction, raw []byte) {
		if raw != nil {
			e.frames = append(e.frames, cassette.Frame{
				At:   at,
				Dir:  dir,
				Data: t.veil.disguiseMessage(raw, dir == cassette.ToServer),
			})
		}
	}
	over := e.begin + x.Elapsed.Truncate(time.Microsecond)
	add(e.begin, cassette.ToServer, x.Request)
	for _, m := range x.During {
		dir := cassette.FromServer
		if m.Kind == mcp.KindResponse {
			dir = cassette.ToServer
		}
		add(over, dir, m.Raw)
	}
	add(over, cassette.FromServer, x.Response)
	e.Answered = x.Response != nil
	if x.Cause != nil {
		isTimeout := errors.As(x.Cause, new(*mcp.TimeoutError))
		e.Failed = &failure{isTimeout, t.veil.mask.String(x.Cause.Error())}
	}
}

// contexts are the contexts of a run. They end only before or during an event, so
// that the moment can be recorded.
type contexts []*tied

type tied struct {
	parent context.Context // nil: it has ended
	cancel context.CancelCauseFunc
}

// end is the end of a context, before an event or during it.
type end struct {
	Context int    `json:"context"` // 0 is the run's own context
	Before  bool   `json:"before,omitempty"`
	Says    string `json:"says"`
	Limit   string `json:"limit,omitempty"` // the option whose limit ended it
	For     string `json:"for,omitempty"`
}

// watchDuring runs an event and returns the contexts that ended before or during it.
func (c contexts) watchDuring(do func()) (ends []end) {
	ended := func(n int, before bool) {
		cause := context.Cause(c[n].parent)
		e := end{Context: n, Before: before, Says: cause.Error()}
		if limit, ok := errors.AsType[*mcp.Limit](cause); ok {
			e.Limit, e.For = limit.Name, limit.For.String()
		}
		c[n].parent = nil
		c[n].cancel(cause)
		ends = append(ends, e)
	}
	stops := map[int]func() bool{}
	for n, one := range c {
		parent := one.parent
		switch {
		case parent == nil:
		case parent.Err() != nil:
			ended(n, true)
		default:
			stops[n] = context.AfterFunc(parent, func() { one.cancel(context.Cause(parent)) })
		}
	}
	do()
	for n, stop := range stops {
		if !stop() {
			ended(n, false)
		}
	}
	return ends
}

// replayBefore ends the contexts that ended before a recorded event.
func (c contexts) replayBefore(ends []end) {
	for _, e := range ends {
		if e.Before {
			c.replay(e)
		}
	}
}

// replayDuring ends the contexts that ended during a recorded event.
func (c contexts) replayDuring(ends []end) {
	for _, e := range ends {
		if !e.Before {
			c.replay(e)
		}
	}
}

func (c contexts) replay(e end) {
	if e.Context < 0 || e.Context >= len(c) {
		return // of a recording that was edited
	}
	cause := errors.New(e.Says)
	if d, err := time.ParseDuration(e.For); err == nil && e.Limit != "" {
		cause = &mcp.Limit{Name: e.Limit, For: d}
	}
	c[e.Context].cancel(cause)
}
