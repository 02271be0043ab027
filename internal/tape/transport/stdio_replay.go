package transport

import (
	"cmp"
	"context"
	"io"
	"slices"
	"sync"
	"time"

	"mcptest/internal/client/wire"
	"mcptest/internal/process/proc"
	"mcptest/internal/process/tail"
	"mcptest/internal/tape/cassette"
)

// sameRead is the time between two recorded frames that were probably read together.
// Frames read together are delivered before callers are woken.
const sameRead = 100 * time.Microsecond

// replay is a transport of lines that answers from a cassette. One goroutine
// delivers, in the order in which messages were sent.
type replay struct {
	player *cassette.Player
	client *cassette.Client
	number int
	facts  wire.Facts
	limits wire.Limits

	mu     sync.Mutex
	change sync.Cond
	queue  []message
	closed bool

	// Of the goroutine.
	sink    wire.Receiver
	waiting []*cassette.Playback
	met     map[string][][]byte // messages of the client that calls wait for, by [cassette.Awaited]
	ending  *cassette.End
	ended   *cassette.Call // the call after which the process exited by itself
	over    bool
	done    chan struct{}
}

// message is one message of the client.
type message struct {
	raw    []byte
	stream string // the receiver's name for its exchange
}

// ReplayStdio returns a transport that answers like a recorded process. number counts
// the connections to the server of the cassette, from 1. The error is that of a
// recorded connection that could not be made.
func ReplayStdio(p *cassette.Player, number int, l wire.Limits) (wire.Transport, error) {
	if why := findFailedOpen(p, number); why != nil {
		return nil, why
	}
	l = l.FillDefaults()
	t := &replay{
		player: p,
		client: p.Client(number),
		number: number,
		limits: l,
		done:   make(chan struct{}),
		met:    map[string][][]byte{},
		facts:  wire.Facts{Kind: "stdio", Stderr: tail.New(int64(l.Stderr))},
	}
	t.change.L = &t.mu
	return t, nil
}

// findFailedOpen returns the reason why the recorded connection with a number was not
// made.
func findFailedOpen(p *cassette.Player, number int) error {
	var only *cassette.Call
	for _, call := range p.Calls() {
		if call.Session == number {
			if only != nil || call.Request != nil {
				return nil
			}
			only = call
		}
	}
	if only == nil || len(only.Frames) != 1 || only.Frames[0].End == nil {
		return nil
	}
	return &wire.OpenError{Phase: "start", Cause: recordedError{only.Frames[0].End.Reason}}
}

// recordedError is an error that was recorded.
type recordedError struct{ text string }

func (e recordedError) Error() string { return e.text }

// Start starts delivery with the messages that the server sent on its own.
func (t *replay) Start(sink wire.Receiver) error {
	t.sink = sink
	go t.run()
	return nil
}

// Facts describes the recorded process.
func (t *replay) Facts() wire.Facts { return t.facts }

// Send queues a message.
func (t *replay) Send(_ context.Context, out wire.Outgoing) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return &wire.BrokenError{Err: errClosed}
	}
	m := message{raw: append([]byte(nil), out.Raw...), stream: out.Stream}
	m.stream = cmp.Or(m.stream, out.ID)
	t.queue = append(t.queue, m)
	t.change.Signal()
	return nil
}

// errClosed is returned for a message after the end.
var errClosed = recordedError{"the recorded session is over"}

// Close ends the session; the process ended as it did in the recording.
func (t *replay) Close(context.Context) proc.Stopped {
	t.mu.Lock()
	t.closed = true
	t.change.Signal()
	t.mu.Unlock()
	if t.sink != nil {
		<-t.done
	}
	return proc.Stopped{Exit: exitOf(t.ending)}
}

func exitOf(e *cassette.End) proc.Exit {
	if e == nil || e.Exit == nil {
		return proc.Exit{}
	}
	return proc.Exit{Code: e.Exit.Code, Signal: e.Exit.Signal}
}

// run delivers until the session is closed or ended in the recording.
func (t *replay) run() {
	defer close(t.done)
	for _, call := range t.player.Calls() {
		if call.Session == t.number && call.Request == nil {
			t.play(t.player.Play(call, nil))
		}
	}
	for !t.over {
		m, ok := t.takeNext()
		if !ok {
			break
		}
		t.answer(m)
		t.over = t.over || t.ended != nil && !t.expectsEarlier()
	}
	if t.over {
		t.end(&wire.ClosedError{
			Reason: t.ending.Reason, Exited: t.ending.Exit != nil, Exit: exitOf(t.ending), Stderr: t.ending.Stderr,
		})
		return
	}
	t.ending = t.findLastEnd()
	t.end(&wire.ClosedError{Reason: "the server exited", Exited: true, Exit: exitOf(t.ending)})
}

func (t *replay) end(why *wire.ClosedError) {
	t.facts.Stderr.Finish()
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	t.sink.OnEnd(why)
}

// takeNext waits for a message of the client.
func (t *replay) takeNext() (message, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.queue) == 0 && !t.closed {
		t.change.Wait()
	}
	if len(t.queue) == 0 {
		return message{}, false
	}
	m := t.queue[0]
	t.queue = t.queue[1:]
	return m, true
}

// findLastEnd returns how the process of the session that answered last ended.
func (t *replay) findLastEnd() *cassette.End {
	frames := t.player.Cassette().Frames
	for i := len(frames) - 1; i >= 0; i-- {
		if f := &frames[i]; f.End != nil && f.Stream == 0 && f.Session == t.client.CountRecorded() {
			return f.End
		}
	}
	return nil
}

// answer answers one message of the client.
func (t *replay) answer(m message) {
	if t.noteReached(m.raw) {
		return
	}
	call, miss := t.client.Take(m.raw)
	switch {
	case miss != nil:
		t.sink.OnFailure(m.stream, miss, nil)
		t.sink.OnDrained()
	case call != nil:
		t.play(t.player.Play(call, m.raw))
	default:
		if answer := cassette.MakeDefault(m.raw); answer != nil {
			t.sink.OnFrame(wire.Frame{Dir: wire.FromServer, At: time.Now(), Raw: answer})
			t.sink.OnDrained()
		}
	}
}

// noteReached continues the calls that waited for a message of the client. It reports
// whether the message is the answer to a request of the server.
func (t *replay) noteReached(raw []byte) bool {
	key := cassette.Awaited(raw)
	if key == "" {
		return false
	}
	t.met[key] = append(t.met[key], raw)
	if i := slices.IndexFunc(t.waiting, func(p *cassette.Playback) bool { return p.Awaits == key }); i >= 0 {
		p := t.waiting[i]
		t.waiting = slices.Delete(t.waiting, i, i+1)
		t.play(p)
	}
	return cassette.IsAnswer(raw)
}

// play delivers the frames of a call up to the point where the client must act.
func (t *replay) play(p *cassette.Playback) {
	for !t.over {
		f, data, err := p.Next(func(key string, recorded *cassette.Frame) error {
			met := t.met[key]
			if len(met) == 0 {
				return cassette.ErrWaits
			}
			t.met[key] = met[1:]
			return t.player.CheckAnswer(p.Call, recorded, met[0])
		})
		_, _ = t.facts.Stderr.Write([]byte(p.Stderr))
		p.Stderr = ""
		switch {
		case err == cassette.ErrWaits:
			t.waiting = append(t.waiting, p)
		case err != nil && err != io.EOF:
			t.sink.OnFailure(p.Live.ID, err, nil)
		case err == nil && f.End != nil && f.Stream == 0:
			if !f.End.Client {
				t.ended, t.ending = p.Call, f.End
				t.over = p.ID != "" && p.Response == nil || !t.expectsEarlier()
				return
			}
		case err == nil && f.Dir == cassette.FromServer && (f.Has() || f.Omitted > 0):
			t.deliver(f, data, p)
			if p.Pause(f) > sameRead {
				t.sink.OnDrained()
			}
		}
		if err != nil {
			t.sink.OnDrained()
			return
		}
	}
}

// expectsEarlier reports whether the client has not sent all requests that were recorded
// before the exit of the process. It may send them in another order than they were
// recorded, so the exit waits for them, unless it left a request without a response.
func (t *replay) expectsEarlier() bool {
	return slices.ContainsFunc(t.player.ListUnused(), func(call *cassette.Call) bool {
		return call.Session == t.ended.Session && t.ended.Request != nil && call.Request.Line < t.ended.Request.Line
	})
}

// deliver delivers one frame.
func (t *replay) deliver(f *cassette.Frame, data []byte, p *cassette.Playback) {
	data = append([]byte(nil), data...) // the receiver may keep it
	now := time.Now()
	if f.Omitted > 0 || len(data) > t.limits.Message {
		size := max(f.Omitted, int64(len(data)))
		m := wire.OversizeMessage{At: now, Size: size, Head: data, Limit: t.limits.Message}
		t.sink.OnOversize(m)
		m.Done, m.Head, m.Tail = true, nil, p.Rewrite([]byte(f.Tail), p.Live)
		t.sink.OnOversize(m)
		return
	}
	t.sink.OnFrame(wire.Frame{Dir: wire.FromServer, At: now, Raw: data, Unterminated: f.Unterminated})
}
