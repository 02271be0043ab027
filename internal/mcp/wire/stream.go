package wire

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"mcptest/internal/proc"
)

type readDeadliner interface{ SetReadDeadline(time.Time) error }

// stream is a transport of lines over a reader and a writer. One goroutine reads.
type stream struct {
	lines *LineReader
	out   *LineWriter
	rc    io.Closer // the reading end; nil when it can't be closed
	wc    io.Closer
	facts Facts
	sink  Receiver
	why   func(readErr error) *ClosedError // what the end of the stream means

	deadline readDeadliner // ends a blocked read; nil where the reader has none

	mu      sync.Mutex
	closing bool
	ended   chan struct{} // closed after Receiver.OnEnd
}

func newStream(r io.Reader, w io.WriteCloser, l Limits) *stream {
	l = l.WithDefaults()
	s := &stream{
		lines: NewLineReader(r, l.Message, l.Drain),
		out:   NewLineWriter(w),
		wc:    w,
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
	go s.read()
	return nil
}

// read delivers what arrives until the stream ends. What the last read answered
// is not released before the end is known: a caller that has its answer must not
// find a session that looks alive.
func (s *stream) read() {
	for {
		err := s.lines.ReadLines(s.sink)
		if err != nil {
			s.sink.OnEnd(s.why(err))
			close(s.ended)
			return
		}
		s.sink.OnDrained()
	}
}

func (s *stream) Facts() Facts { return s.facts }

func (s *stream) Send(ctx context.Context, out Outgoing) error {
	err := s.out.WriteLine(ctx, out.Raw)
	if err == nil {
		return nil
	}
	var full *NotReadError
	if errors.As(err, &full) {
		return err
	}
	return &BrokenError{Err: err, Partly: errors.As(err, new(*partlyError))}
}

func (s *stream) isClosing() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closing
}

// closeRead makes the reader stop soon.
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
