package conn

import (
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
