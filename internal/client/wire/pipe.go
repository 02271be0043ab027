package wire

import (
	"io"
	"sync"
)

// pipeSize is the capacity of an in-process pipe.
const pipeSize = 256 << 10

// NewPipe returns the two ends of an in-process connection: a transport for a
// session, and the stream a server reads and writes.
func NewPipe() (client Transport, server io.ReadWriteCloser) {
	up, down := newHalf(), newHalf()
	return NewStream(down, up, Limits{}), &pipeEnd{r: up, w: down}
}

type pipeEnd struct{ r, w *half }

func (p *pipeEnd) Read(b []byte) (int, error)  { return p.r.Read(b) }
func (p *pipeEnd) Write(b []byte) (int, error) { return p.w.Write(b) }
func (p *pipeEnd) TryWrite(b []byte) bool      { return p.w.TryWrite(b) }
func (p *pipeEnd) Close() error {
	_ = p.w.Close()
	return p.r.Close()
}

// half is one direction of an in-process connection. After Close, a reader gets the
// written data and then io.EOF; a writer gets io.ErrClosedPipe.
type half struct {
	mu     sync.Mutex
	change sync.Cond
	buf    []byte
	r      int
	closed bool
}

func newHalf() *half {
	h := &half{}
	h.change.L = &h.mu
	return h
}

func (h *half) Read(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for h.r == len(h.buf) {
		if h.closed {
			return 0, io.EOF
		}
		h.change.Wait()
	}
	n := copy(b, h.buf[h.r:])
	if h.r += n; h.r == len(h.buf) {
		h.buf, h.r = h.buf[:0], 0
	}
	h.change.Broadcast()
	return n, nil
}

func (h *half) Write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := 0
	for n < len(b) {
		for len(h.buf)-h.r >= pipeSize && !h.closed {
			h.change.Wait()
		}
		if h.closed {
			return n, io.ErrClosedPipe
		}
		part := b[n:min(len(b), n+pipeSize-(len(h.buf)-h.r))]
		h.add(part)
		n += len(part)
	}
	return n, nil
}

// TryWrite writes all of b if it fits.
func (h *half) TryWrite(b []byte) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed || len(h.buf)-h.r+len(b) > pipeSize {
		return false
	}
	h.add(b)
	return true
}

func (h *half) add(b []byte) {
	if h.r > 0 && len(h.buf)+len(b) > cap(h.buf) {
		h.buf, h.r = h.buf[:copy(h.buf, h.buf[h.r:])], 0
	}
	h.buf = append(h.buf, b...)
	h.change.Broadcast()
}

func (h *half) Close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	h.change.Broadcast()
	return nil
}
