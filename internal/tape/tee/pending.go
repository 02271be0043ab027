package tee

import (
	"io"
	"sync"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/protocol"
	"mcptest/internal/tape/cassette"
)

// pending is what a server may still have to do after the end of its input.
type pending struct {
	mu      sync.Mutex
	open    map[string]bool // ids of requests without a response
	scanner *protocol.Scanner
	all     bool      // all requests have been seen
	writing bool      // the client has not taken the output yet
	last    time.Time // of the last output, or of the end of the input
}

func newPending() *pending {
	return &pending{open: map[string]bool{}, scanner: protocol.NewScanner()}
}

// count follows the requests in a frame.
func (p *pending) count(f cassette.Frame) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.countMessage(f.Dir, f.Data)
}

func (p *pending) countMessage(dir cassette.Direction, data []byte) {
	if len(data) > 0 && data[0] == '[' {
		elems, _ := jsonv.Elements(data)
		for _, e := range elems {
			p.countMessage(dir, e)
		}
		return
	}
	s := p.scanner
	if s.Scan(data) != nil {
		return
	}
	method := protocol.TextOf(s.Method)
	switch {
	case dir == cassette.FromServer && s.IsResponse():
		delete(p.open, string(s.ID))
	case dir == cassette.FromServer || method == protocol.MethodListen: // a subscription ends with the connection
	case s.Has&protocol.HasMethod != 0 && s.Has&protocol.HasID != 0:
		p.open[string(s.ID)] = true
	case method == "notifications/cancelled":
		delete(p.open, string(protocol.MemberOf(s.Params, "requestId")))
	}
}

// noteInputEnd notes that all requests have been seen.
func (p *pending) noteInputEnd() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all, p.last = true, time.Now()
}

// isQuiet reports whether all requests have been answered and the server has written
// nothing for a time.
func (p *pending) isQuiet(d time.Duration) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.all && len(p.open) == 0 && !p.writing && time.Since(p.last) >= d
}

// isSilent reports whether the server has written nothing for a time, even if it has not
// answered all requests.
func (p *pending) isSilent(d time.Duration) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.writing && time.Since(p.last) >= d
}

// noteActivity notes the end of the input, from which silence counts.
func (p *pending) noteActivity() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = time.Now()
}

func (p *pending) setWriting(now bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.writing, p.last = now, time.Now()
}

// noted is a writer whose writes are activity of the server.
type noted struct {
	io.Writer
	*pending
}

// Write implements [io.Writer].
func (n noted) Write(b []byte) (int, error) {
	n.setWriting(true)
	defer n.setWriting(false)
	return n.Writer.Write(b)
}
