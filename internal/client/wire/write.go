package wire

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"time"
)

// writeSlice is how long a write may block its caller before a separate goroutine
// completes it, while the caller watches its context.
const writeSlice = 50 * time.Millisecond

// errWriteClosed is the error of a write after close.
var errWriteClosed = errors.New("the input of the server is closed")

// NotReadError reports that a message could not be written in time because the pipe
// is full.
type NotReadError struct{ cause error }

func (e *NotReadError) Error() string { return "the server does not read its input" }
func (e *NotReadError) Unwrap() error { return e.cause }

// partlyError reports that a write failed after a part of the message was written.
type partlyError struct{ error }

func (e *partlyError) Unwrap() error { return e.error }

func addWritten(n int, err error) error {
	if n > 0 && err != nil {
		return &partlyError{err}
	}
	return err
}

type writeDeadliner interface{ SetWriteDeadline(time.Time) error }

// LineWriter writes whole lines. A line that has been started is always completed,
// even if the context of its sender ends, so that the stream remains valid; a sender
// never waits longer than its context.
type LineWriter struct {
	w      io.Writer
	sem    chan struct{} // held by the writer; handed over with a partly written line
	closed chan struct{}
	buf    []byte
	broken error // error of an earlier write; guarded by sem

	deadline writeDeadliner // may be nil
	until    time.Time      // the current deadline
}

// NewLineWriter returns a writer that writes whole lines, one at a time.
func NewLineWriter(w io.Writer) *LineWriter {
	l := &LineWriter{w: w, sem: make(chan struct{}, 1), closed: make(chan struct{})}
	if d, ok := w.(writeDeadliner); ok && d.SetWriteDeadline(time.Time{}) == nil {
		l.deadline = d
	}
	return l
}

// WriteLine writes raw and a newline.
func (l *LineWriter) WriteLine(ctx context.Context, raw []byte) error {
	return l.WriteBytes(ctx, raw, true)
}

// WriteBytes writes raw in one piece, with a newline if newline is set.
func (l *LineWriter) WriteBytes(ctx context.Context, raw []byte, newline bool) error {
	select {
	case l.sem <- struct{}{}:
	default:
		select {
		case l.sem <- struct{}{}:
		case <-ctx.Done():
			return &NotReadError{context.Cause(ctx)}
		case <-l.closed:
			return errWriteClosed
		}
	}
	if l.broken != nil {
		err := l.broken
		<-l.sem
		return err
	}
	l.buf = append(l.buf[:0], raw...)
	if newline {
		l.buf = append(l.buf, '\n')
	}
	rest := l.buf
	if l.deadline != nil {
		n, err := l.w.Write(l.limitSlice(rest))
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			l.broken = err
			l.release()
			return addWritten(n, err)
		}
		rest = rest[n:]
		l.until = time.Time{}
		_ = l.deadline.SetWriteDeadline(l.until)
	}
	return l.handOverRest(ctx, len(l.buf)-len(rest), bytes.Clone(rest))
}

// limitSlice limits a write to about one slice. The deadline is only changed when it is
// near, because it is a system-wide timer.
func (l *LineWriter) limitSlice(b []byte) []byte {
	if now := time.Now(); l.until.Sub(now) < writeSlice/2 {
		l.until = now.Add(writeSlice)
		_ = l.deadline.SetWriteDeadline(l.until)
	}
	return b
}

// handOverRest lets a goroutine write rest; it then owns the semaphore.
func (l *LineWriter) handOverRest(ctx context.Context, written int, rest []byte) error {
	done := make(chan error, 1)
	go func() {
		n, err := l.w.Write(rest)
		l.broken = err
		l.release()
		done <- addWritten(written+n, err)
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return &NotReadError{context.Cause(ctx)}
	case <-l.closed:
		return errWriteClosed
	}
}

func (l *LineWriter) release() {
	if cap(l.buf) > keepBuffer {
		l.buf = nil
	}
	<-l.sem
}
