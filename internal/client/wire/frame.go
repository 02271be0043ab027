package wire

import "time"

// Dir is the direction of a frame.
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

// Frame is one message as transmitted, without its delimiter. A frame passed to a
// [wire.Receiver] borrows the reader's buffer: Raw must be copied to be used after the
// call.
type Frame struct {
	Dir    Dir
	At     time.Time
	Raw    []byte
	Offset int64  // bytes of the stream before Raw
	Stream string // id of the request on whose own response stream it came; "" on a shared stream (stdio)

	Unterminated bool // the stream ended before the delimiter
	Whole        bool // not a line: it may contain newlines (HTTP)
}
