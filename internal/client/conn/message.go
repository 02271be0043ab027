package conn

import "mcptest/internal/client/wire"

// MessageKind is the kind of a [Message].
type MessageKind uint8

// Kinds of messages that accompany the response to a call.
const (
	KindNotification MessageKind = iota // from the server
	KindRequest                         // from the server
	KindResponse                        // of the client, to a request of the server
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

// Message is a notification or request of the server, or the client's response to one.
type Message struct {
	wire.Frame
	Kind   MessageKind
	Method string // for a response, that of the request
	ID     string // the id as JSON text ("7", `"abc"`); empty for notifications
	Params []byte // sub-slice of Raw; for a response its result or error
	Shared bool   // several calls were in flight; each of them contains the message
}

// Mark is a position in the order of the messages of a session.
type Mark uint64
