package tee

import (
	"bytes"
	"strconv"

	"mcptest/internal/cassette"
)

// events collects the lines of text/event-stream until an event is complete.
type events struct {
	head cassette.Event
	data []byte
	any  bool // the event has a field
}

// line adds a line without its end. It reports whether an event is complete.
func (e *events) line(line []byte) bool {
	line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
	if len(line) == 0 {
		return e.any
	}
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "data":
		if e.data == nil {
			e.data = []byte{}
		} else {
			e.data = append(e.data, '\n')
		}
		e.data = append(e.data, value...)
	case "id":
		e.head.ID = string(value)
	case "event":
		e.head.Type = string(value)
	case "retry":
		e.head.Retry, _ = strconv.Atoi(string(value)) // anything else is ignored
	default: // a comment, or a field that has no meaning
		return false
	}
	e.any = true
	return false
}

// take returns the complete event and begins the next one.
func (e *events) take() (*cassette.Event, []byte) {
	head, data := e.head, e.data
	*e = events{}
	return &head, data
}
