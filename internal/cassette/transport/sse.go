package transport

import (
	"bytes"
	"strconv"

	"mcptest/internal/cassette"
)

// splitter cuts text/event-stream into events. Unlike a client it also passes on
// events without data, because their ids and pauses count.
type splitter struct {
	line    []byte
	afterCR bool
	event   cassette.Event
	data    []byte
	lines   int
	any     bool
	size    int64 // of the event so far
}

// begun returns the beginning of an event that is not complete.
func (s *splitter) begun() []byte {
	data := append(s.data[:len(s.data):len(s.data)], bytes.TrimPrefix(s.line[:min(len(s.line), cassette.OmittedHead)], []byte("data: "))...)
	return data[:min(len(data), cassette.OmittedHead)]
}

// add keeps a part of a line, up to the size of a message.
func (s *splitter) add(part []byte) {
	s.size += int64(len(part))
	s.line = append(s.line, part[:min(len(part), max(0, cassette.MaxMessage+1-len(s.data)-len(s.line)))]...)
}

// feed takes the next bytes and calls emit for each complete event. Data is nil
// for an event that has none.
func (s *splitter) feed(b []byte, emit func(e cassette.Event, data []byte)) {
	for len(b) > 0 {
		if s.afterCR && b[0] == '\n' {
			b = b[1:]
		}
		s.afterCR = false
		end := bytes.IndexAny(b, "\r\n")
		if end < 0 {
			s.add(b)
			return
		}
		s.afterCR = b[end] == '\r'
		s.add(b[:end])
		b = b[end+1:]
		s.field(emit)
		s.line = s.line[:0]
		if len(b) == 0 {
			return
		}
	}
}

func (s *splitter) field(emit func(e cassette.Event, data []byte)) {
	if len(s.line) == 0 {
		if s.any {
			data := s.data
			if s.lines == 0 {
				data = nil
			}
			emit(s.event, data)
		}
		s.event, s.data, s.lines, s.any, s.size = cassette.Event{}, nil, 0, false, 0
		return
	}
	name, value, _ := bytes.Cut(bytes.TrimPrefix(s.line, []byte("\xef\xbb\xbf")), []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "data":
		if s.lines++; s.lines > 1 {
			s.data = append(s.data, '\n')
		}
		s.data = append(s.data, value...)
		if s.data == nil {
			s.data = []byte{}
		}
	case "event":
		s.event.Type = string(value)
	case "id":
		s.event.ID = string(value)
	case "retry":
		n, err := strconv.Atoi(string(value))
		if err != nil {
			return
		}
		s.event.Retry = n
	default:
		return
	}
	s.any = true
}

// appendEvent writes an event as a server does.
func appendEvent(dst []byte, e *cassette.Event, data []byte, has bool) []byte {
	if e != nil {
		if e.ID != "" {
			dst = append(append(append(dst, "id: "...), e.ID...), '\n')
		}
		if e.Type != "" {
			dst = append(append(append(dst, "event: "...), e.Type...), '\n')
		}
		if e.Retry > 0 {
			dst = append(strconv.AppendInt(append(dst, "retry: "...), int64(e.Retry), 10), '\n')
		}
	}
	if has {
		for line := range bytes.SplitSeq(data, []byte{'\n'}) {
			dst = append(append(append(dst, "data: "...), line...), '\n')
		}
	}
	return append(dst, '\n')
}
