package wire

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"mcptest/internal/process/proc"
)

// Time limits of reading a stream.
const (
	// awaitSlice is how long a caller reads before it hands over to the background
	// reader: for a slower response the cost of a hand-over does not matter, and the
	// caller can watch its context.
	awaitSlice = 20 * time.Millisecond
	// idleDelay is how long the role remains free after the last response, in case
	// the next call comes soon and reads by itself.
	idleDelay = 2 * time.Millisecond
	// crowdReads is the number of reads for which the background keeps the role after
	// it saw several calls in flight: passing on the role costs more than waking a
	// caller.
	crowdReads = 16
)

type readDeadliner interface{ SetReadDeadline(time.Time) error }

// stream is a transport of lines over a reader and a writer.
//
// The goroutine that holds the token in role may call lines.read. While one call is
// in flight, its caller takes the token (Await) and needs no other goroutine. While
// several are, or none for more than idleDelay, a background goroutine holds it.
type stream struct {
	lines *LineReader
	out   *LineWriter
	rc    io.Closer // the read end; may be nil
	wc    io.Closer
	facts Facts
	sink  Receiver
	why   func(readErr error) *ClosedError // explains the end of the stream

	deadline readDeadliner // nil: always the background reader
	until    time.Time     // the current read deadline; guarded by role
	armed    bool          // a read deadline is set; guarded by role
	crowd    int           // reads until callers may read again; guarded by role
	role     chan struct{}
	idle     *time.Timer   // runs takeOver
	vacated  atomic.Uint32 // number of times the role was released
	seen     atomic.Uint32 // value of vacated when idle last fired
	watched  atomic.Bool   // idle is set
	urgent   atomic.Bool   // take over immediately: the stream is being closed

	mu      sync.Mutex
	closing bool
	ended   chan struct{} // closed after OnEnd
}

func newStream(r io.Reader, w io.WriteCloser, l Limits) *stream {
	l = l.FillDefaults()
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

// NewStream returns a transport of newline-delimited messages over r and w, which
// Close closes.
func NewStream(r io.ReadCloser, w io.WriteCloser, l Limits) Transport {
	s := newStream(r, w, l)
	s.facts.Kind = "in-process"
	return s
}

func (s *stream) Start(sink Receiver) error {
	s.sink = sink
	if s.deadline == nil {
		go s.readInBackground()
		return nil
	}
	s.idle = time.AfterFunc(idleDelay, s.takeOver)
	s.vacate()
	return nil
}

// takeOver makes the background read if no goroutine has for idleDelay. While calls
// come quickly, it only checks from time to time: setting a timer for each call would
// be more expensive than the rest of the call.
func (s *stream) takeOver() {
	if n := s.vacated.Load(); s.seen.Swap(n) != n && !s.urgent.Load() {
		s.idle.Reset(idleDelay)
		return
	}
	select {
	case <-s.role:
		s.watched.Store(false)
		s.readInBackground()
		return
	default:
	}
	s.watched.Store(false)
	// The goroutine that has just released the role may have relied on the timer.
	select {
	case <-s.role:
		s.readInBackground()
	default:
	}
}

// hurry makes the background take the role as soon as it is free.
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
	calls, answered := s.sink.InFlight()
	switch {
	case calls > 1:
		s.crowd = crowdReads
		go s.readInBackground()
		return false
	case answered > 0 || len(done) > 0: // it arrived before the role was taken: there is no more to read
		s.vacate()
		s.reportNotAlone()
		return false
	}
	now := time.Now()
	last := now.Add(awaitSlice)
	if !until.IsZero() && until.Before(last) {
		last = until
	}
	// The current deadline may be earlier than last, but not later. It is only
	// changed when it is near, because it is a system-wide timer.
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
			s.reportNotAlone()
			return true
		default:
		}
		if s.until.IsZero() || !time.Now().Before(s.until) {
			go s.readInBackground()
			return false
		}
	}
}

// readInBackground reads until a caller may read, or the stream ends.
func (s *stream) readInBackground() {
	if s.armed {
		s.setRead(time.Time{})
	}
	for s.readOnce() {
		calls, answered := s.sink.InFlight()
		switch {
		case s.deadline == nil || answered == 0:
		case calls+answered > 1:
			s.crowd = crowdReads
		case s.crowd > 0:
			s.crowd--
		default:
			// Release the role first: the woken caller may call again immediately.
			s.vacate()
			s.sink.OnDrained()
			s.reportNotAlone()
			return
		}
		s.sink.OnDrained()
	}
}

// vacate releases the role.
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

// reportNotAlone starts the background for a caller that found the role taken just before
// it was released.
func (s *stream) reportNotAlone() {
	if calls, _ := s.sink.InFlight(); calls == 0 {
		return
	}
	select {
	case <-s.role:
		go s.readInBackground()
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

// readOnce reads once and delivers the lines. At the end of the stream it returns
// false and keeps the role. Responses of the last read are signaled together with the
// end, so that their callers don't find a session that looks alive.
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

// end determines the cause of the end of the stream and passes it to the sink.
func (s *stream) end(err error) {
	s.sink.OnEnd(s.why(err))
	close(s.ended)
}

// closeRead makes the current reader stop soon.
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
	s.hurry() // a reader must notice the end
}

// closeWrite closes the server's input.
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

// closeGrace is the time for the peer of a closed stream to close its side.
const closeGrace = 2 * time.Second

// Close closes this side, waits briefly for the peer to close its own, and returns
// when nothing reads any more.
func (s *stream) Close(ctx context.Context) proc.Stopped {
	s.closeWrite()
	s.hurry()
	s.awaitEnd(ctx, closeGrace)
	return proc.Stopped{}
}

// awaitEnd waits for the end of the stream, and forces it after the grace period.
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
