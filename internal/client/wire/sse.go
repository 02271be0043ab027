package wire

import (
	"bytes"
	"strconv"
	"time"
	"unicode/utf8"

	"mcptest/internal/client/protocol"
)

// sseEvent is one event of a text/event-stream. Data refers to memory of the parser
// and is valid until feed continues.
type sseEvent struct {
	Type string // "" is "message"
	Data []byte
	Over int64 // bytes of data over the limit; Data is then empty
}

// sseParser parses text/event-stream (WHATWG HTML, "server-sent events"): any of the
// three line ends, comments, a byte order mark, several data lines. It keeps at most
// limit bytes of one event.
type sseParser struct {
	limit  int
	lastID string        // last event id, "" for none
	retry  time.Duration // the server's pause between two connections
	wants  bool          // retry was set

	line    []byte // an incomplete line
	dropped int64  // bytes of the incomplete line that were not kept
	data    []byte
	single  []byte // the only data line so far, not copied
	lines   int    // data lines of the event
	over    int64
	typ     string
	id      string
	hasID   bool
	begun   bool // the byte order mark has been handled
	afterCR bool // the last byte was CR: a following LF belongs to it
}

// maxEventType limits the part of an event's type that is kept.
const maxEventType = 256

// maxEventID limits an id that the client sends back in a header.
const maxEventID = 4 << 10

func newSSEParser(limit int) *sseParser { return &sseParser{limit: limit} }

// feed parses the next bytes of the stream and calls emit for each complete event. An
// event that does not end with an empty line is never emitted.
func (p *sseParser) feed(b []byte, emit func(sseEvent)) {
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
		if end < 0 {
			p.hold(seg)
			p.own()
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
		p.own()
		p.field(line, dropped, emit)
		p.own()
	}
	p.own()
}

// unfinished returns the size of the current event if that exceeds the limit,
// otherwise 0.
func (p *sseParser) unfinished() int64 {
	if p.over > 0 || p.dropped > 0 && bytes.HasPrefix(p.line, []byte("data")) {
		return p.over + int64(len(p.line)) + p.dropped
	}
	return 0
}

// hold keeps a part of an incomplete line.
func (p *sseParser) hold(seg []byte) {
	room := max(0, p.limit+len("data: ")+len(protocol.ByteOrderMark)-len(p.line))
	keep := min(room, len(seg))
	p.line = append(p.line, seg[:keep]...)
	p.dropped += int64(len(seg) - keep)
}

// own copies a data line before its memory changes.
func (p *sseParser) own() {
	if p.single != nil {
		p.data = append(p.data[:0], p.single...)
		p.single = nil
	}
}

// field parses one line.
func (p *sseParser) field(line []byte, dropped int64, emit func(sseEvent)) {
	if !p.begun {
		p.begun = true
		line = bytes.TrimPrefix(line, protocol.ByteOrderMark)
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
		p.typ = string(value[:min(len(value), maxEventType, p.limit)])
	case "id":
		if dropped == 0 && len(value) <= min(maxEventID, p.limit) && headerSafe(value) {
			p.id, p.hasID = string(value), true
		}
	case "retry":
		if ms, err := strconv.ParseUint(string(value), 10, 31); err == nil && value[0] != '+' {
			p.retry, p.wants = time.Duration(ms)*time.Millisecond, true
		}
	}
}

// headerSafe reports whether an id can be sent in a header. The specification ignores
// ids with NUL; other control characters may be an attack.
func headerSafe(b []byte) bool {
	for _, c := range b {
		if c < 0x20 && c != '\t' || c == 0x7f {
			return false
		}
	}
	return utf8.Valid(b)
}

func (p *sseParser) addData(value []byte, dropped int64) {
	size := int64(len(p.data)+len(p.single)+len(value)) + dropped
	if p.lines++; p.lines > 1 {
		size++
	}
	if p.over > 0 || size > int64(p.limit) {
		if p.over == 0 {
			p.over = int64(len(p.data) + len(p.single))
		}
		p.over += int64(len(value)) + dropped + 1
		p.data, p.single = nil, nil
		return
	}
	if p.lines == 1 {
		p.single = value
		p.data = p.data[:0]
		return
	}
	p.own()
	p.data = append(append(p.data, '\n'), value...)
}

// dispatch ends an event. One without data is ignored, except its id.
func (p *sseParser) dispatch(emit func(sseEvent)) {
	if p.hasID {
		p.lastID = p.id
	}
	ev := sseEvent{Type: p.typ, Data: p.data, Over: p.over}
	if p.single != nil {
		ev.Data = p.single
	}
	empty := p.over == 0 && len(ev.Data) == 0
	p.typ, p.id, p.hasID, p.single, p.lines, p.over = "", "", false, nil, 0, 0
	if !empty {
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
