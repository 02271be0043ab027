package cassette

import (
	"encoding/json"
	"fmt"
	"time"
)

// Version is the version of the format that this program writes and reads.
const Version = 1

// Suffix is the suffix of the names of cassette files.
const Suffix = ".cassette.ndjson"

// Masks that a cassette can declare. A reader rejects a cassette with any other mask,
// because it could not compare requests with the recorded ones.
const (
	// MaskSecrets replaces secrets by secret.Mask.
	MaskSecrets = "secrets"
	// MaskSessions replaces the ids of HTTP sessions by session-1, session-2, …
	MaskSessions = "session-ids"
	// MaskForms replaces secrets by other texts of the same form, and equal secrets
	// by equal texts. The recording program does this.
	MaskForms = "forms"
)

// masks are the masks that this program supports.
var masks = map[string]bool{MaskSecrets: true, MaskSessions: true, MaskForms: true}

// Transports of a cassette.
const (
	Stdio          = "stdio"
	StreamableHTTP = "streamable-http"
	HTTPSSE        = "sse"
)

// Header is the first line of a cassette.
type Header struct {
	Version  int       `json:"mcptest_cassette"`
	Program  string    `json:"program,omitempty"` // the recording program
	Recorded time.Time `json:"recorded,omitzero"`
	Server   Server    `json:"server"`
	// Protocol is the protocol version negotiated in the first session; "" if none
	// was.
	Protocol  string   `json:"protocol,omitempty"`
	Transport string   `json:"transport"`
	Masks     []string `json:"masks"`
	// Volatile are paths into the parameters of requests that are ignored when
	// requests are compared, such as arguments.now.
	Volatile []string `json:"volatile,omitempty"`
	// Suites are the suites of a recorded run that use the server: paths relative to
	// the folder of the cassette, with slashes.
	Suites []string `json:"suites,omitempty"`
	// Note is data of the recording program for its own replay. Others ignore it.
	Note json.RawMessage `json:"note,omitempty"`
}

// Server describes the recorded server to people; none of it is executed.
type Server struct {
	Name    string          `json:"name,omitempty"` // as in a suite, with @VARIANT
	Command []string        `json:"command,omitempty"`
	URL     string          `json:"url,omitempty"`
	Info    json.RawMessage `json:"info,omitempty"` // serverInfo
}

// Direction is the direction of a frame.
type Direction string

// Directions.
const (
	ToServer   Direction = "to-server"
	FromServer Direction = "from-server"
)

// Frame is one line after the header: a message with its transport data, or the end
// of a stream or session.
type Frame struct {
	// Session is the number of the connection, from 1: a process, or an HTTP
	// client from its first request to its last.
	Session int
	At      time.Duration // since the recording began
	Dir     Direction
	// Stream is the number of the HTTP exchange in its session, from 1, on which
	// the frame was carried; 0 on stdio.
	Stream int
	HTTP   *HTTP  // of the first frame of an HTTP exchange in each direction
	Event  *Event // of an event of text/event-stream
	// Data is the message, or the data sent in its place. It is nil if there is none,
	// or if it is so large that it stays in the file (see [Cassette.Data]).
	Data []byte
	// Omitted is the size of a message over the limit, of which Data is only the
	// beginning; Tail is its end if it contains the id of the request.
	Omitted int64
	Tail    string
	// Unterminated: the output of a process, or a stream, ended before the end of
	// this line.
	Unterminated bool
	Stderr       string          // what a process wrote to standard error before the next frame
	End          *End            // the stream, or without one the session, ended
	Note         json.RawMessage // see [Header.Note]
	// Masked is set if Data and Note contain no secrets.
	Masked bool

	Line   int   // in the file, from 1; filled in by the reader
	offset int64 // of the line, if the data stayed in the file
	size   int
}

// HTTP is the head of a request or response.
type HTTP struct {
	Method string              `json:"method,omitempty"` // of a request
	Status int                 `json:"status,omitempty"` // of a response
	Header map[string][]string `json:"header,omitempty"`
}

// Event contains the fields of an event of text/event-stream other than its data.
type Event struct {
	ID    string `json:"id,omitempty"`
	Type  string `json:"type,omitempty"`
	Retry int    `json:"retry_ms,omitempty"`
}

// End is the reason why a stream or session ended.
type End struct {
	Reason string   `json:"reason,omitempty"` // "" for the normal end
	Client bool     `json:"client,omitempty"` // the client ended it
	Exit   *Exit    `json:"exit,omitempty"`   // of a process
	Stderr []string `json:"stderr,omitempty"` // the end of it
}

// findNormalExit returns how a process exited at the end of its session, unless a signal ended it.
func (e *End) findNormalExit() *Exit {
	if e == nil || e.Exit == nil || e.Exit.Signal != "" || e.Exit.Code >= 128 {
		return nil
	}
	return e.Exit
}

// Exit describes how a process ended.
type Exit struct {
	Code   int    `json:"code"`
	Signal string `json:"signal,omitempty"`
}

// isAbnormal reports whether a process ended in a way that is not due to its client.
func (e *Exit) isAbnormal() bool {
	switch e.Signal {
	case "":
		return e.Code != 0
	case "terminated", "killed", "interrupt", "hangup", "SIGTERM", "SIGKILL", "SIGINT", "SIGHUP":
		return false // usually the client
	}
	return true
}

// line is the written form of a [Frame]. At most one of Message, Text and Bytes is
// set: a message that is JSON on one line is written unchanged, other text as a
// string, and data that is not UTF-8 in base64.
type line struct {
	Session int             `json:"session"`
	At      json.Number     `json:"at_ms"`
	Dir     Direction       `json:"dir,omitempty"`
	Stream  int             `json:"stream,omitempty"`
	HTTP    *HTTP           `json:"http,omitempty"`
	Event   *Event          `json:"event,omitempty"`
	End     *End            `json:"end,omitempty"`
	Stderr  string          `json:"stderr,omitempty"`
	Note    json.RawMessage `json:"note,omitempty"`
	Omitted int64           `json:"omitted,omitempty"`
	Tail    string          `json:"tail,omitempty"`
	Cut     bool            `json:"unterminated,omitempty"`
	Message json.RawMessage `json:"message,omitempty"`
	Text    *string         `json:"text,omitempty"`
	Bytes   []byte          `json:"bytes,omitempty"`
}

// Error describes what is wrong with a cassette.
type Error struct {
	File string
	Line int // 0: none
	Says string
}

// Error begins with the file and the line.
func (e *Error) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.Says
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Says)
}
