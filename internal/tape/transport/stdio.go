package transport

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"mcptest/internal/client/wire"
	"mcptest/internal/process/proc"
	"mcptest/internal/tape/cassette"
)

// Log records the frames of one session: a [cassette.Writer] with the number of a
// session.
type Log struct {
	w       *cassette.Writer
	session int
}

// NewLog starts a session of a cassette.
func NewLog(w *cassette.Writer) *Log { return &Log{w, w.Session()} }

// write appends a frame. The writer keeps an error for its Close.
func (l *Log) write(f cassette.Frame) {
	f.Session = l.session
	_ = l.w.Write(f)
}

// Failed records that no connection was made.
func (l *Log) Failed(err error) { l.write(cassette.Frame{End: &cassette.End{Reason: err.Error()}}) }

// stdio records a transport of lines.
type stdio struct {
	inner   wire.Transport
	log     *Log
	closing atomic.Bool
	ended   atomic.Bool
	stop    chan struct{}
	wg      sync.WaitGroup
}

// Stdio returns a transport that records the traffic of t.
func Stdio(t wire.Transport, log *Log) wire.Transport {
	return &stdio{inner: t, log: log, stop: make(chan struct{})}
}

// Start starts delivery, and the recording of standard error.
func (t *stdio) Start(sink wire.Receiver) error {
	if out := t.Facts().Stderr; out != nil {
		t.wg.Go(func() {
			out.Each(t.stop, func(text string) { t.log.write(cassette.Frame{Stderr: text}) })
		})
	}
	return t.inner.Start(&recordingSink{Receiver: sink, t: t})
}

// Send records a message and sends it.
func (t *stdio) Send(ctx context.Context, out wire.Outgoing) error {
	t.log.write(cassette.Frame{Dir: cassette.ToServer, Data: out.Raw})
	return t.inner.Send(ctx, out)
}

// Facts describes the recorded process.
func (t *stdio) Facts() wire.Facts { return t.inner.Facts() }

// Await implements [wire.Awaiter].
func (t *stdio) Await(done <-chan struct{}, until time.Time) bool {
	a, ok := t.inner.(wire.Awaiter)
	return ok && a.Await(done, until)
}

// SkipGrace implements the method of the recorded transport.
func (t *stdio) SkipGrace() {
	if s, ok := t.inner.(interface{ SkipGrace() }); ok {
		s.SkipGrace()
	}
}

// Close ends the connection and records how the process ended.
func (t *stdio) Close(ctx context.Context) proc.Stopped {
	again := t.closing.Swap(true)
	stopped := t.inner.Close(ctx)
	if again {
		return stopped
	}
	close(t.stop)
	t.wg.Wait()
	if !t.ended.Load() {
		e := &cassette.End{Client: true}
		if stopped.How <= proc.ByEOF && stopped.Exit.Err == nil {
			e.Exit = &cassette.Exit{Code: stopped.Exit.Code, Signal: stopped.Exit.Signal}
		}
		t.log.write(cassette.Frame{End: e})
	}
	return stopped
}

// recordingSink records arriving messages before it forwards them.
type recordingSink struct {
	wire.Receiver
	t    *stdio
	long []byte
}

func (s *recordingSink) OnFrame(f wire.Frame) bool {
	s.t.log.write(cassette.Frame{Dir: cassette.FromServer, Data: f.Raw, Unterminated: f.Unterminated})
	return s.Receiver.OnFrame(f)
}

func (s *recordingSink) OnOversize(m wire.OversizeMessage) {
	if !m.Done {
		s.long = append(s.long[:0], m.Head[:min(len(m.Head), cassette.OmittedHead)]...)
	} else {
		s.t.log.write(cassette.Frame{
			Dir:     cassette.FromServer,
			Data:    s.long,
			Omitted: m.Size,
			Tail:    cassette.TailOf(m.Tail),
		})
	}
	s.Receiver.OnOversize(m)
}

func (s *recordingSink) OnEnd(why *wire.ClosedError) {
	if !s.t.closing.Load() {
		s.t.ended.Store(true)
		e := &cassette.End{Reason: why.Reason, Stderr: why.Stderr}
		if why.Err != nil {
			e.Reason += ": " + why.Err.Error()
		}
		if why.Exited {
			e.Exit = &cassette.Exit{Code: why.Exit.Code, Signal: why.Exit.Signal}
		}
		s.t.log.write(cassette.Frame{End: e})
	}
	s.Receiver.OnEnd(why)
}
