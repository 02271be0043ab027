package opening

import (
	"context"
	"net/http"
	"time"

	"mcptest/internal/base/jsonv"
)

// A Line is a connection with a server while a script is played on it.
type Line interface {
	// Send sends a frame, and for a request returns what came for it. It answers the
	// server's own requests meanwhile.
	Send(ctx context.Context, f Frame) Answer
	// Fresh ends the process and starts another one; over HTTP it forgets the session.
	Fresh(ctx context.Context) error
	// Listen opens the stream of the session (HTTP), if the server has one.
	Listen(ctx context.Context, header http.Header)
}

// A Frame is one message of a client.
type Frame struct {
	Method string
	Raw    []byte
	Asks   bool        // a request
	Header http.Header // of HTTP
	// Limit is how long to wait for an answer; 0 is the limit of the user. It begins when
	// the process has started.
	Limit time.Duration
	// Takes reports whether the client takes a message for the response to this request.
	Takes func(message jsonv.Value) bool
	// Strict means that a line that is no JSON ends the connection.
	Strict bool
}

// An Answer is what came for a frame.
type Answer struct {
	Status      int // of HTTP
	ContentType string
	Body        []byte      // of HTTP, if it holds no response: the beginning
	Message     jsonv.Value // the response; absent if there was none
	Stray       jsonv.Value // a response that the client doesn't take for one; absent if there was none
	Garbage     string      // a line that is no JSON, before the response
	Ended       string      // why the connection ended
	Gone        bool        // it could not be made at all, or there is no process
	Silent      time.Duration
	Asked       []string // methods of the server's requests that the client declares no answer to
	Elapsed     time.Duration
}
