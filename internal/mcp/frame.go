package mcp

import "time"

// Dir tells which way a frame went.
type Dir uint8

// Directions of a frame.
const (
	ToServer Dir = iota
	FromServer
)

// String returns "to-server" or "from-server".
func (d Dir) String() string {
	if d == ToServer {
		return "to-server"
	}
	return "from-server"
}

// Frame is one message exactly as it was on the wire, without its delimiter.
// A frame that is handed to a [Sink] borrows the reader's buffer: whoever wants
// it after the call returned copies Raw.
type Frame struct {
	Dir    Dir
	At     time.Time
	Raw    []byte
	Offset int64  // bytes of the stream before Raw
	Stream string // id of the request on whose own response stream it came; "" on a shared stream (stdio)

	Unterminated bool // the stream ended before the delimiter
	Whole        bool // not a line: newlines in it mean nothing (HTTP)
}

// MessageKind says what a [Message] is.
type MessageKind uint8

// Kinds of messages that travel beside the answer of a call.
const (
	KindNotification MessageKind = iota // from the server
	KindRequest                         // from the server
	KindAnswer                          // ours, to a request of the server
)

// String returns "notification", "request" or "answer".
func (k MessageKind) String() string {
	switch k {
	case KindNotification:
		return "notification"
	case KindRequest:
		return "request"
	default:
		return "answer"
	}
}

// Message is a notification or request of the server, or our answer to one.
type Message struct {
	Frame
	Kind   MessageKind
	Method string // of the request, for an answer too
	ID     string // the id as JSON text ("7", `"abc"`); empty for notifications
	Params []byte // sub-slice of Raw; for an answer its result or error
	Shared bool   // several calls were in flight, each of them lists the message
}

// Mark is a place in the order of messages a session has received.
type Mark uint64
