package conn

import (
	"context"
	"slices"
	"time"

	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
)

// Watch is called when a connection is made. It returns the function that receives the
// events of that connection, while they happen. The function is called from several
// goroutines, and the connection waits for it: it must not block, nor call the connection.
type Watch func() func(Event)

// Event is something that happened on a connection. At most one of Frame, Stderr, HTTP and
// End is set; none if Violations belong to an earlier message.
type Event struct {
	At     time.Time
	Frame  *FrameEvent
	Stderr string         // what the process wrote to standard error
	HTTP   *wire.HTTPInfo // how a request of HTTP was answered
	End    error          // why the connection ended
	// ID is the id of the call that HTTP or Violations are about, as JSON text; may be
	// empty.
	ID         string
	Violations []protocol.Violation
	// Withdrawn are violations of earlier events that turned out to be none.
	Withdrawn []protocol.Violation
}

// FrameEvent is a frame in one of the directions.
type FrameEvent struct {
	Dir  wire.Dir
	Raw  []byte // as on the wire; it must be copied to be used after the call
	Size int64  // bytes, more than len(Raw) if the message is over the size limit
	// Method and ID are what the envelope says; empty if it cannot be read. Part is set for
	// a message in an array of messages, which has an event of its own.
	Method, ID string
	Part       bool
}

// emit passes an event to the watcher, if there is one.
func (s *state) emit(e Event) {
	if s.watch == nil {
		return
	}
	if e.At.IsZero() {
		e.At = time.Now()
	}
	s.watch(e)
}

// emitSent passes a message that is about to be sent to the watcher.
func (s *state) emitSent(out wire.Outgoing) {
	if s.watch == nil {
		return
	}
	s.emit(Event{Frame: &FrameEvent{Dir: wire.ToServer, Raw: out.Raw, Size: int64(len(out.Raw)), Method: out.Method, ID: out.ID}, ID: out.ID})
}

// emitReceived passes a frame with its findings to the watcher.
func (s *state) emitReceived(in *incoming, found []finding) {
	if s.watch == nil || in.shape == blank && len(found) == 0 {
		return
	}
	e := Event{At: in.At, ID: in.id}
	for _, f := range found {
		v := f.Violation
		v.ID, v.Tolerated = in.id, s.log.tolerated(v.Kind)
		e.Violations = append(e.Violations, v)
	}
	if in.shape == adopted { // it was passed on when it arrived
		s.emit(e)
		return
	}
	f := FrameEvent{Dir: wire.FromServer, Raw: in.Raw, Size: int64(len(in.Raw)), Part: in.part}
	if in.line != nil {
		f.Raw, f.Size = in.line, int64(len(in.line))
	}
	if in.over != nil {
		f.Size = in.over.Size
	}
	if env := in.envelope; env != nil {
		f.Method, f.ID = protocol.TextOf(env.Method), string(env.ID)
	}
	e.Frame = &f
	s.emit(e)
}

// send sends a message.
func (c *Conn) send(ctx context.Context, out wire.Outgoing) error {
	c.state.emitSent(out)
	return c.t.Send(ctx, out)
}

// watchStderr passes on what the process writes to standard error.
func (c *Conn) watchStderr() {
	out := c.Facts().Stderr
	if c.state.watch == nil || out == nil {
		return
	}
	c.wg.Go(func() {
		out.Each(c.ctx.Done(), func(text string) { c.state.emit(Event{Stderr: text}) })
	})
}

// Report passes violations to the watcher that were found in a message after its call.
func (c *Conn) Report(list []protocol.Violation) {
	for _, v := range list {
		c.state.emit(Event{ID: v.ID, Violations: slices.Clone([]protocol.Violation{v})})
	}
}
