package wire

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"mcptest/internal/proc"
)

// Times of the reading side of a stream.
const (
	// awaitSlice is how long a caller reads for itself before it leaves that
	// to the background reader: for an answer that takes longer, a hand-off
	// costs nothing that matters, and the caller can watch its context.
	awaitSlice = 20 * time.Millisecond
	// idleDelay is how long the role stays free after the last answer, in case the
	// next call comes soon and reads for itself.
	idleDelay = 2 * time.Millisecond
	// crowdReads is for how many reads the background stays after it saw
	// several calls in flight: handing the role around costs more than a wake-up.
	crowdReads = 16
)

type readDeadliner interface{ SetReadDeadline(time.Time) error }

// stream is a transport of lines over a reader and a writer.
//
// Who reads: the token in role belongs to whoever may call lines.read. While
// one call is in flight its caller takes it (Await) and needs no other
// goroutine. While several are, or none for more than idleDelay, a background
// goroutine has it.
type stream struct {
	lines *LineReader
	out   *LineWriter
	rc    io.Closer // the reading end; nil when it can't be closed
	wc    io.Closer
	facts Facts
	sink  Receiver
	why   func(readErr error) *ClosedError // what the end of the stream means

	deadline readDeadliner // nil: always the background reader
	until    time.Time     // when the read deadline strikes; guarded by role
	armed    bool          // a read deadline is set; guarded by role
	crowd    int           // reads until callers may read for themselves again; guarded by role
	role     chan struct{}
	idle     *time.Timer   // runs takeOver
	vacated  atomic.Uint32 // how often the role was put down
	seen     atomic.Uint32 // of vacated, when idle last looked
	watched  atomic.Bool   // idle is set
	urgent   atomic.Bool   // take over immediately: the stream is being closed

	mu      sync.Mutex
	closing bool
	ended   chan struct{} // closed after OnEnd
}

func newStream(r io.Reader, w io.WriteCloser, l Limits) *stream {
	l = l.WithDefaults()
	s := &stream{
		lines: NewLineReader(r, l.Message, l.Drain),
		out:   NewLineWriter(w),
		wc:    w,
		role:  make(chan struct{}, 1),
		ended: make(chan struct{}),
	}
	s.rc, _ = r.(io.Closer)
	if d, ok := r.(readDeadliner); ok && d.SetReadDeadline(time.Time{}) == nil {
		s.deadline = d
	}
	s.why = func(err error) *ClosedError {
		c := &ClosedError{Reason: "the server closed the connection"}
		if err != io.EOF {
			c.Err = err
		}
		return c
	}
	return s
}

// NewStream returns a transport of newline-delimited messages over r and w,
// which it closes.
func NewStream(r io.ReadCloser, w io.WriteCloser, l Limits) Transport {
	s := newStream(r, w, l)
	s.facts.Kind = "in-process"
	return s
}

func (s *stream) Start(sink Receiver) error {
	s.sink = sink
	if s.deadline == nil {
		go s.background()
		return nil
	}
	s.idle = time.AfterFunc(idleDelay, s.takeOver)
	s.vacate()
	return nil
}

// takeOver makes the background read if no goroutine has for idleDelay. While calls
// come quickly it only looks from time to time: setting a timer for each of
// them would cost more than the rest of a call.
func (s *stream) takeOver() {
	if n := s.vacated.Load(); s.seen.Swap(n) != n && !s.urgent.Load() {
		s.idle.Reset(idleDelay)
		return
	}
	select {
	case <-s.role:
		s.watched.Store(false)
		s.background()
		return
	default:
	}
	s.watched.Store(false)
	// Whoever put the role down just now may have relied on the timer.
	select {
	case <-s.role:
		s.background()
	default:
	}
}

// hurry has the role taken by the background as soon as it is free.
func (s *stream) hurry() {
	s.urgent.Store(true)
	if s.idle != nil {
		s.idle.Reset(0)
	}
}

func (s *stream) Facts() Facts { return s.facts }

func (s *stream) Send(ctx context.Context, out Outgoing) error {
	err := s.out.WriteLine(ctx, out.Raw)
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*NotReadError](err); ok {
		return err
	}
	return &BrokenError{Err: err, Partly: errors.As(err, new(*partlyError))}
}

// Await implements [Awaiter].
func (s *stream) Await(done <-chan struct{}, until time.Time) bool {
	select {
	case <-s.role:
	default:
		return false
	}
	switch calls, answered := s.sink.InFlight(); {
	case calls > 1:
		s.crowd = crowdReads
		go s.background()
		return false
	case answered > 0 || len(done) > 0: // it came before there was a role to take: nothing more comes
		s.vacate()
		s.notAlone()
		return false
	}
	now := time.Now()
	last := now.Add(awaitSlice)
	if !until.IsZero() && until.Before(last) {
		last = until
	}
	// The deadline that is set may be earlier than last, not later: it is
	// moved only when it is near, as that is a system-wide timer.
	if s.until.After(last) || s.until.Sub(now) < last.Sub(now)/2 {
		s.setRead(last)
	}
	for {
		if !s.readOnce() {
			return false
		}
		s.sink.OnDrained()
		select {
		case <-done:
			s.vacate()
			s.notAlone()
			return true
		default:
		}
		if s.until.IsZero() || !time.Now().Before(s.until) {
			go s.background()
			return false
		}
	}
}

// background reads until a caller may read for itself, or the stream ends.
func (s *stream) background() {
	if s.armed {
		s.setRead(time.Time{})
	}
	for s.readOnce() {
		switch calls, answered := s.sink.InFlight(); {
		case s.deadline == nil || answered == 0:
		case calls+answered > 1:
			s.crowd = crowdReads
		case s.crowd > 0:
			s.crowd--
		default:
			// The role goes first: the caller that wakes up may call again at once.
			s.vacate()
			s.sink.OnDrained()
			s.notAlone()
			return
		}
		s.sink.OnDrained()
	}
}

// vacate puts the role down.
func (s *stream) vacate() {
	s.vacated.Add(1)
	s.role <- struct{}{}
	switch {
	case s.urgent.Load():
		s.idle.Reset(0)
	case s.watched.CompareAndSwap(false, true):
		s.idle.Reset(idleDelay)
	}
}

// notAlone starts the background for a caller that found the role taken just
// before it was put down.
func (s *stream) notAlone() {
	if calls, _ := s.sink.InFlight(); calls == 0 {
		return
	}
	select {
	case <-s.role:
		go s.background()
	default:
	}
}

// setRead sets the read deadline, unless closeRead has set the last one.
func (s *stream) setRead(t time.Time) {
	s.until, s.armed = t, !t.IsZero()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closing {
		_ = s.deadline.SetReadDeadline(t)
	}
}

// readOnce reads once and delivers. At the end of the stream it returns false;
// the role is gone then for good. What was answered by the last read is not
// flushed but woken with the end: a caller that has that answer must not find a
// session that looks alive.
func (s *stream) readOnce() bool {
	err := s.lines.ReadLines(s.sink)
	if err != nil && isTimeout(err) && !s.isClosing() {
		s.until = time.Time{}
		err = nil
	}
	if err == nil {
		return true
	}
	go s.end(err)
	return false
}

func isTimeout(err error) bool {
	t, ok := err.(interface{ Timeout() bool })
	return ok && t.Timeout()
}

func (s *stream) isClosing() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closing
}

// end finds out what the end of the stream means and tells the sink.
func (s *stream) end(err error) {
	s.sink.OnEnd(s.why(err))
	close(s.ended)
}

// closeRead makes the reader stop soon, whoever it is.
func (s *stream) closeRead() {
	s.mu.Lock()
	s.closing = true
	if s.deadline != nil {
		_ = s.deadline.SetReadDeadline(time.Unix(1, 0))
	}
	s.mu.Unlock()
	if s.rc != nil {
		_ = s.rc.Close()
	}
	s.hurry() // some reader must see the end
}

// closeWrite ends the server's input.
func (s *stream) closeWrite() {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.out.closed:
	default:
		close(s.out.closed)
		_ = s.wc.Close()
	}
}

// closeGrace is how long the peer of a closed stream has to end its side.
const closeGrace = 2 * time.Second

// Close ends our side, gives the peer a moment to end its own, and returns
// when nothing reads any more.
func (s *stream) Close(ctx context.Context) proc.Stopped {
	s.closeWrite()
	s.hurry()
	s.awaitEnd(ctx, closeGrace)
	return proc.Stopped{}
}

// awaitEnd waits for the end of the stream, by force after the grace.
func (s *stream) awaitEnd(ctx context.Context, grace time.Duration) {
	if s.sink == nil { // never started
		s.closeRead()
		return
	}
	t := time.NewTimer(grace)
	defer t.Stop()
	select {
	case <-s.ended:
		return
	case <-t.C:
	case <-ctx.Done():
	}
	s.closeRead()
	if s.rc != nil || s.deadline != nil {
		<-s.ended
	}
}
