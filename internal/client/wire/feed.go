package wire

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"net/http"
	"sync"
)

// Feed is a stream in memory that is written while it is read. Its zero value is not
// ready; see [NewFeed].
type Feed struct {
	limit  int // of buf
	mu     sync.Mutex
	change sync.Cond
	buf    bytes.Buffer
	err    error       // after what is in buf
	reader *feedReader // nil: none yet
}

// NewFeed returns an empty stream that holds up to limit bytes until they are read.
func NewFeed(limit int) *Feed {
	f := &Feed{limit: limit}
	f.change.L = &f.mu
	return f
}

func (f *Feed) update(fn func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	fn()
	f.change.Broadcast()
}

// Write appends to the stream. It waits for the reader only at the limit.
func (f *Feed) Write(b []byte) (n int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for n < len(b) {
		room := f.limit - f.buf.Len()
		switch {
		case f.err != nil:
			return n, io.ErrClosedPipe
		case room > 0:
			part, _ := f.buf.Write(b[n:min(len(b), n+room)])
			n += part
			f.change.Broadcast()
		default:
			f.change.Wait()
		}
	}
	return n, nil
}

// End ends the stream with the error for its reader.
func (f *Feed) End(err error) { f.update(func() { f.err = cmp.Or(f.err, err) }) }

// Close ends the stream.
func (f *Feed) Close() error {
	f.End(io.EOF)
	return nil
}

// WasOpened reports whether the stream has a reader.
func (f *Feed) WasOpened() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.reader != nil
}

// WasTaken reports whether the stream has already been read and has ended.
func (f *Feed) WasTaken() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.reader != nil && f.err != nil
}

// Open returns the reader, which ends with its context.
func (f *Feed) Open(ctx context.Context) io.ReadCloser {
	r := &feedReader{f: f, ctx: ctx, stop: context.AfterFunc(ctx, func() { f.update(func() {}) })}
	f.update(func() { f.reader = r })
	return r
}

// AwaitDelivered waits until the reader has processed what was written: it waits for more
// or, at the end, has closed the stream.
func (f *Feed) AwaitDelivered() {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.reader
	for r != nil && !r.closed && r.ctx.Err() == nil {
		isFed := f.err != nil || f.buf.Len() > 0
		if !isFed && r.waits {
			return
		}
		f.change.Wait()
	}
}

type feedReader struct {
	f      *Feed
	ctx    context.Context
	stop   func() bool
	waits  bool // in Read, for data
	closed bool
}

func (r *feedReader) Read(b []byte) (int, error) {
	f := r.f
	f.mu.Lock()
	defer f.mu.Unlock()
	defer func() { r.waits = false }()
	for {
		switch {
		case r.closed:
			return 0, http.ErrBodyReadAfterClose
		case r.ctx.Err() != nil:
			return 0, r.ctx.Err()
		case f.buf.Len() > 0:
			f.change.Broadcast()
			return f.buf.Read(b)
		case f.err != nil:
			return 0, f.err
		}
		r.waits = true
		f.change.Broadcast()
		f.change.Wait()
	}
}

func (r *feedReader) Close() error {
	r.stop()
	r.f.update(func() { r.closed, r.f.err = true, cmp.Or(r.f.err, io.ErrClosedPipe) })
	return nil
}
