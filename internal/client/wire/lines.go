package wire

import (
	"bytes"
	"errors"
	"io"
	"time"
)

// Sizes of the reader's buffer, in bytes.
const (
	readBuffer = 32 << 10  // initial size
	keepBuffer = 1 << 20   // a larger buffer is released after use
	LargeFrame = 256 << 10 // a frame of at least this size is handed over, not copied
	longTail   = 4 << 10   // kept of the end of a long line
)

// errEndless ends a stream with a line longer than Limits.Drain.
var errEndless = errors.New("endless line without a newline")

// LineReceiver receives the lines of a LineReader.
type LineReceiver interface {
	OnFrame(f Frame) (kept bool)
	OnOversize(l OversizeMessage)
}

// LineReader splits a stream into lines. Its memory is bounded by the limit of one
// line: longer lines are skipped and reported.
type LineReader struct {
	src   io.Reader
	limit int   // bytes of one line
	drain int64 // bytes of one long line before errEndless

	buf     []byte
	r, w    int   // buf[r:w] is unread
	scanned int   // buf[r:scanned] contains no newline
	off     int64 // stream offset of buf[r]

	oversize OversizeMessage // Size > 0 while a long line is being skipped
	tail     []byte
}

// NewLineReader returns a reader of lines with at most limit bytes. It skips a longer
// line of up to drain bytes.
func NewLineReader(src io.Reader, limit int, drain int64) *LineReader {
	return &LineReader{src: src, limit: limit, drain: drain}
}

// ReadLines reads once and delivers every complete line. It returns the reader's
// error; it returns io.EOF after delivering the rest as an unterminated line.
func (l *LineReader) ReadLines(to LineReceiver) error {
	l.makeRoom()
	n, err := l.src.Read(l.buf[l.w:])
	l.w += n
	if n > 0 {
		if e := l.cut(to, time.Now()); e != nil {
			return e
		}
	}
	if err == io.EOF {
		l.finish(to)
	}
	return err
}

// makeRoom makes space after w.
func (l *LineReader) makeRoom() {
	switch {
	case l.r == l.w && len(l.buf) > keepBuffer, l.buf == nil:
		l.buf, l.r, l.w, l.scanned = make([]byte, readBuffer), 0, 0, 0
	case l.r == l.w:
		l.r, l.w, l.scanned = 0, 0, 0
	case l.w < len(l.buf):
	case l.r > 0:
		l.scanned -= l.r
		l.w = copy(l.buf, l.buf[l.r:l.w])
		l.r = 0
	default:
		size := 2 * len(l.buf)
		// One byte over the limit shows that the line is too long; two more allow for
		// its line end.
		if most := l.limit + 3; size > most && len(l.buf) < most {
			size = most
		}
		grown := make([]byte, size)
		l.w = copy(grown, l.buf[:l.w])
		l.buf = grown
	}
}

// cut delivers the complete lines of the buffer.
func (l *LineReader) cut(to LineReceiver, at time.Time) error {
	for {
		i := bytes.IndexByte(l.buf[l.scanned:l.w], '\n')
		if i < 0 {
			l.scanned = l.w
			return l.skipTooLong(to, at)
		}
		end := l.scanned + i
		line := l.buf[l.r:end:end]
		start := l.off
		l.off += int64(len(line)) + 1
		l.r, l.scanned = end+1, end+1
		if l.oversize.Size > 0 {
			l.endLong(to, line, at)
			continue
		}
		whole := line
		if n := len(line); n > 0 && line[n-1] == '\r' {
			line = line[:n-1]
		}
		if len(line) > l.limit {
			l.beginLong(to, whole, start, at)
			l.endLong(to, nil, at)
			continue
		}
		if to.OnFrame(Frame{Dir: FromServer, At: at, Raw: line, Offset: start}) {
			l.abandon()
		}
	}
}

// abandon gives up the buffer, because a receiver kept a line of it.
func (l *LineReader) abandon() {
	rest := l.buf[l.r:l.w]
	l.buf = make([]byte, max(readBuffer, len(rest)))
	l.scanned -= l.r
	l.w = copy(l.buf, rest)
	l.r = 0
}

// skipTooLong handles a rest without a newline.
func (l *LineReader) skipTooLong(to LineReceiver, at time.Time) error {
	rest := l.buf[l.r:l.w]
	if l.oversize.Size == 0 {
		if len(rest) <= l.limit+1 { // +1: it may end in \r
			return nil
		}
		l.beginLong(to, rest, l.off, at)
		// Skipping the rest does not need the large buffer.
		l.buf = nil
		l.makeRoomFor(len(rest))
		return nil
	}
	l.skip(rest)
	l.off += int64(len(rest))
	l.r, l.w, l.scanned = 0, 0, 0
	if l.oversize.Size > l.drain {
		return errEndless
	}
	return nil
}

// makeRoomFor starts a new buffer after n bytes were consumed.
func (l *LineReader) makeRoomFor(n int) {
	l.off += int64(n)
	l.buf, l.r, l.w, l.scanned = make([]byte, readBuffer), 0, 0, 0
}

func (l *LineReader) beginLong(to LineReceiver, head []byte, start int64, at time.Time) {
	l.oversize = OversizeMessage{At: at, Offset: start, Limit: l.limit}
	l.tail = l.tail[:0]
	l.skip(head)
	m := l.oversize
	m.Head = head
	to.OnOversize(m)
}

// skip counts b as part of the long line and keeps the line's end.
func (l *LineReader) skip(b []byte) {
	l.oversize.Size += int64(len(b))
	if len(b) >= longTail {
		l.tail = append(l.tail[:0], b[len(b)-longTail:]...)
		return
	}
	if over := len(l.tail) + len(b) - longTail; over > 0 {
		l.tail = l.tail[:copy(l.tail, l.tail[over:])]
	}
	l.tail = append(l.tail, b...)
}

func (l *LineReader) endLong(to LineReceiver, last []byte, at time.Time) {
	l.skip(last)
	m := l.oversize
	m.At, m.Done, m.Tail = at, true, l.tail
	l.oversize = OversizeMessage{}
	to.OnOversize(m)
}

// finish delivers what follows the last newline.
func (l *LineReader) finish(to LineReceiver) {
	rest := l.buf[l.r:l.w]
	start := l.off
	l.off += int64(len(rest))
	l.r, l.w, l.scanned = 0, 0, 0
	if l.oversize.Size > 0 {
		l.endLong(to, rest, time.Now())
		return
	}
	if len(rest) == 0 {
		return
	}
	l.buf = nil // the receiver may keep the frame
	to.OnFrame(Frame{Dir: FromServer, At: time.Now(), Raw: rest, Offset: start, Unterminated: true})
}
