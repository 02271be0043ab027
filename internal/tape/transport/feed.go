package transport

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"sync"
)

// feed is a body that is written while it is read.
type feed struct {
	mu     sync.Mutex
	change sync.Cond
	buf    bytes.Buffer
	err    error       // after what is in buf
	reader *feedReader // nil: none yet
}

func newFeed() *feed {
	f := &feed{}
	f.change.L = &f.mu
	return f
}

func (f *feed) update(fn func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	fn()
	f.change.Broadcast()
}

func (f *feed) write(b []byte) {
	f.update(func() {
		if f.err == nil {
			f.buf.Write(b)
		}
	})
}

// end ends the body, with an error unless the reason is "".
func (f *feed) end(reason string) {
	f.update(func() {
		if f.err != nil {
			return
		}
		switch reason {
		case "":
			f.err = io.EOF
		case io.ErrUnexpectedEOF.Error():
			f.err = io.ErrUnexpectedEOF
		default:
			f.err = recordedError{reason}
		}
	})
}

// opened reports whether the body has a reader.
func (f *feed) opened() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.reader != nil
}

// taken reports whether the body has already been read and has ended.
func (f *feed) taken() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.reader != nil && f.err != nil
}

// open returns the body for a request, which ends with its context.
func (f *feed) open(ctx context.Context) io.ReadCloser {
	r := &feedReader{f: f, ctx: ctx, stop: context.AfterFunc(ctx, func() { f.update(func() {}) })}
	f.update(func() { f.reader = r })
	return r
}

// delivered waits until the client has processed what was written: it waits for more
// or, at the end, has closed the body.
func (f *feed) delivered() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for r := f.reader; r != nil && !r.closed && r.ctx.Err() == nil && (f.err != nil || f.buf.Len() > 0 || !r.waits); {
		f.change.Wait()
	}
}

type feedReader struct {
	f      *feed
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
	r.f.update(func() { r.closed = true })
	return nil
}
