package protocol

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Event is one event of a text/event-stream. Data refers to memory of the parser and is
// valid until Feed continues.
type Event struct {
	Type  string // "" is "message"
	ID    string
	Retry int    // in milliseconds, 0 for none
	Data  []byte // nil if the event has none
	Over  int64  // bytes of data if they are more than the limit; Data is then their beginning
}

// EventParser parses text/event-stream (WHATWG HTML, "server-sent events"): any of the
// three line ends, comments, a byte order mark, several data lines. It keeps at most
// Limit bytes of one event.
type EventParser struct {
	Limit  int
	All    bool          // also events without data, which a client ignores
	LastID string        // last event id, "" for none
	Retry  time.Duration // the server's pause between two connections
	Wants  bool          // Retry was set

	line    []byte // an incomplete line
	dropped int64  // bytes of the incomplete line that were not kept
	data    []byte
	single  []byte // the only data line so far, not copied
	lines   int    // data lines of the event
	over    int64
	size    int64 // of the lines of the event so far
	event   Event // without its data
	fields  bool  // the event has one
	hasID   bool
	begun   bool // the byte order mark has been handled
	afterCR bool // the last byte was CR: a following LF belongs to it
}

// maxEventType limits the part of an event's type that is kept.
const maxEventType = 256

// maxEventID limits an id that the client sends back in a header.
const maxEventID = 4 << 10

// IsEventStream reports whether a value of Content-Type is that of an event stream.
func IsEventStream(contentType string) bool {
	media, _, _ := strings.Cut(contentType, ";")
	return strings.EqualFold(strings.TrimSpace(media), "text/event-stream")
}

// keptHead is the size of the beginning that is kept of an event over the limit.
const keptHead = 4 << 10

// Feed parses the next bytes of the stream and calls emit for each complete event. An
// event that does not end with an empty line is never emitted.
func (p *EventParser) Feed(b []byte, emit func(Event)) {
	for len(b) > 0 {
		if p.afterCR {
			p.afterCR = false
			if b[0] == '\n' {
				b = b[1:]
				continue
			}
		}
		end := bytes.IndexByte(b, '\n')
		seg := b
		if end >= 0 {
			seg = b[:end]
		}
		if cr := bytes.IndexByte(seg, '\r'); cr >= 0 {
			end, seg, p.afterCR = cr, b[:cr], true
		}
		p.size += int64(len(seg))
		if end < 0 {
			p.hold(seg)
			p.copyFields()
			return
		}
		b = b[end+1:]
		if len(p.line) == 0 && p.dropped == 0 {
			p.field(seg, 0, emit)
			continue
		}
		p.hold(seg)
		line, dropped := p.line, p.dropped
		p.line, p.dropped = p.line[:0], 0
		p.copyFields()
		p.field(line, dropped, emit)
		p.copyFields()
	}
	p.copyFields()
}

// Unfinished returns the size of the current event if that exceeds the limit,
// otherwise 0.
func (p *EventParser) Unfinished() int64 {
	if p.over > 0 || p.dropped > 0 && bytes.HasPrefix(p.line, []byte("data")) {
		return p.over + int64(len(p.line)) + p.dropped
	}
	return 0
}

// Begun returns the size of the current event so far, its beginning, and whether its last
// line is incomplete.
func (p *EventParser) Begun() (size int64, head []byte, inLine bool) {
	data := slices.Clip(p.data)
	head = append(data, bytes.TrimPrefix(p.line, []byte("data: "))...)
	return p.size, head[:min(len(head), keptHead)], len(p.line) > 0
}

// hold keeps a part of an incomplete line.
func (p *EventParser) hold(seg []byte) {
	room := max(0, p.Limit+len("data: ")+len(ByteOrderMark)-len(p.line))
	keep := min(room, len(seg))
	p.line = append(p.line, seg[:keep]...)
	p.dropped += int64(len(seg) - keep)
}

// copyFields copies a data line before its memory changes.
func (p *EventParser) copyFields() {
	if p.single != nil {
		p.data = append(p.data[:0], p.single...)
		p.single = nil
	}
}

// field parses one line.
func (p *EventParser) field(line []byte, dropped int64, emit func(Event)) {
	if !p.begun {
		p.begun = true
		line = bytes.TrimPrefix(line, ByteOrderMark)
	}
	if len(line) == 0 {
		p.dispatch(emit)
		return
	}
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "data":
		p.addData(value, dropped)
	case "event":
		p.event.Type = string(value[:min(len(value), maxEventType, p.Limit)])
	case "id":
		if dropped == 0 && len(value) <= min(maxEventID, p.Limit) && isHeaderSafe(value) {
			p.event.ID, p.hasID = string(value), true
		}
	case "retry":
		ms, err := strconv.ParseUint(string(value), 10, 31)
		if err != nil || value[0] == '+' {
			return
		}
		p.Retry, p.Wants, p.event.Retry = time.Duration(ms)*time.Millisecond, true, int(ms)
	default:
		return
	}
	p.fields = true
}

// isHeaderSafe reports whether an id can be sent in a header. The specification ignores
// ids with NUL; other control characters may be an attack.
func isHeaderSafe(b []byte) bool {
	for _, c := range b {
		if c < 0x20 && c != '\t' || c == 0x7f {
			return false
		}
	}
	return utf8.Valid(b)
}

func (p *EventParser) addData(value []byte, dropped int64) {
	size := int64(len(p.data)+len(p.single)+len(value)) + dropped
	p.lines++
	if p.lines > 1 {
		size++
	}
	if p.over > 0 || size > int64(p.Limit) {
		p.copyFields()
		if p.over == 0 {
			p.over = int64(len(p.data))
			head := min(p.Limit, keptHead)
			first := p.data[:min(len(p.data), head)]
			p.data = append(bytes.Clone(first), value[:min(len(value), head)]...)
			p.data = p.data[:min(len(p.data), head)]
		}
		p.over += int64(len(value)) + dropped + 1
		return
	}
	if p.lines == 1 {
		p.single = value
		p.data = p.data[:0]
		return
	}
	p.copyFields()
	p.data = append(append(p.data, '\n'), value...)
}

// dispatch ends an event.
func (p *EventParser) dispatch(emit func(Event)) {
	ev, fields := p.event, p.fields
	if p.hasID {
		p.LastID = ev.ID
	}
	ev.Over = p.over
	switch {
	case p.single != nil:
		ev.Data = p.single
	case p.data != nil && p.lines > 0:
		ev.Data = p.data
	case p.lines > 0:
		ev.Data = []byte{}
	}
	p.event = Event{}
	p.hasID = false
	p.fields = false
	p.single = nil
	p.lines = 0
	p.over = 0
	p.size = 0
	if len(ev.Data) > 0 || ev.Over > 0 || fields && p.All {
		emit(ev)
	}
	if cap(p.data) > keepBuffer {
		p.data = nil
	}
	p.data = p.data[:0]
	if cap(p.line) > keepBuffer && len(p.line) == 0 {
		p.line = nil
	}
}

// keepBuffer is the size above which a buffer is released after use.
const keepBuffer = 1 << 20
