package cassette

import (
	"bytes"
	"strconv"
)

// Events splits text/event-stream into events. Unlike a client it also passes on
// events without data, because their ids and pauses matter.
type Events struct {
	line    []byte
	afterCR bool
	event   Event
	data    []byte
	lines   int
	any     bool
	size    int64 // of the event so far
}

// Begun returns the recorded part of a large event that is incomplete; false if there
// is none.
func (s *Events) Begun() (Frame, bool) {
	data := append(s.data[:len(s.data):len(s.data)], bytes.TrimPrefix(s.line[:min(len(s.line), OmittedHead)], []byte("data: "))...)
	f := Frame{Dir: FromServer, Data: data[:min(len(data), OmittedHead)], Omitted: s.size, Unterminated: len(s.line) > 0}
	return f, s.size > OmittedHead
}

// add appends a part of a line, up to the size of a message.
func (s *Events) add(part []byte) {
	s.size += int64(len(part))
	s.line = append(s.line, part[:min(len(part), max(0, MaxMessage+1-len(s.data)-len(s.line)))]...)
}

// Feed processes the next bytes and calls emit for each complete event. Data is nil
// for an event without data.
func (s *Events) Feed(b []byte, emit func(e Event, data []byte)) {
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

func (s *Events) field(emit func(e Event, data []byte)) {
	if len(s.line) == 0 {
		if s.any {
			data := s.data
			if s.lines == 0 {
				data = nil
			}
			emit(s.event, data)
		}
		s.event, s.data, s.lines, s.any, s.size = Event{}, nil, 0, false, 0
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
