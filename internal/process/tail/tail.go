package tail

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"
	"sync"
	"time"

	"mcptest/internal/base/display"
)

// Tail keeps the beginning and the end of a stream in a fixed amount of memory and
// counts the bytes dropped between them. The zero value is not usable; see New. All
// methods are safe for concurrent use.
type Tail struct {
	mu       sync.Mutex
	headCap  int
	ringCap  int
	head     []byte
	ring     []byte // grows to ringCap, then is overwritten
	at       int    // position of the next byte once the ring is full
	total    int64
	first    time.Time // of the first byte
	stamps   []stamp
	changed  chan struct{}
	over     bool // the stream has ended
	written  func() int64
	watchers []*lineMatch
}

// DefaultLimit is the number of bytes that a Tail keeps by default.
const DefaultLimit = 64 << 10

// Mark is a position in a stream, in bytes.
type Mark int64

// stamp is the time of the bytes from a position on.
type stamp struct {
	from int64
	at   time.Time
}

// A Tail keeps up to stampsMost stamps. The first are those of each write, later ones
// are at least stampEvery apart.
const (
	stampsMost = 256
	stampsEach = 128
	stampEvery = time.Millisecond
)

// New returns a Tail that keeps up to limit bytes: a quarter from the beginning and
// the rest from the end. A limit of 0 or less means DefaultLimit.
func New(limit int64) *Tail {
	limit = cmp.Or(max(limit, 0), DefaultLimit)
	head := int(limit / 4)
	return &Tail{headCap: head, ringCap: int(limit) - head}
}

// Write appends to the stream. It never fails, and only blocks while the Tail is
// being read.
func (t *Tail) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, w := range t.watchers {
		w.feed(p)
	}
	t.stamp(time.Now())
	t.total += int64(len(p))
	rest := p
	if room := t.headCap - len(t.head); room > 0 {
		n := min(room, len(rest))
		t.head = appendWithin(t.head, rest[:n], t.headCap)
		rest = rest[n:]
	}
	t.keep(rest)
	if t.changed != nil {
		close(t.changed)
		t.changed = nil
	}
	return len(p), nil
}

// stamp records the time of the bytes that are written next.
func (t *Tail) stamp(now time.Time) {
	if t.total == 0 {
		t.first = now
	}
	n := len(t.stamps)
	if n >= stampsEach && now.Sub(t.stamps[n-1].at) < stampEvery {
		return
	}
	if n == stampsMost {
		t.stamps = append(t.stamps[:0], t.stamps[n/2:]...)
	}
	t.stamps = append(t.stamps, stamp{t.total, now})
}

// keep appends bytes to the ring.
func (t *Tail) keep(p []byte) {
	if len(p) > t.ringCap {
		p = p[len(p)-t.ringCap:]
	}
	if room := t.ringCap - len(t.ring); room > 0 {
		n := min(room, len(p))
		t.ring = appendWithin(t.ring, p[:n], t.ringCap)
		p = p[n:]
	}
	for len(p) > 0 {
		n := copy(t.ring[t.at:], p)
		p = p[n:]
		t.at = (t.at + n) % t.ringCap
	}
}

// appendWithin appends to a buffer that doubles up to most bytes.
func appendWithin(b, p []byte, most int) []byte {
	if need := len(b) + len(p); need > cap(b) {
		b = append(make([]byte, 0, min(max(2*cap(b), need), most)), b...)
	}
	return append(b, p...)
}

// Follow sets the function that returns the length of the stream so far, including
// what was not passed to Write yet. It must be set before the Tail is used.
func (t *Tail) Follow(written func() int64) { t.written = written }

// catchUpMost limits the wait for output that was written but does not arrive.
const catchUpMost = time.Second

// catchUp waits until the Tail has what was written before: a program that writes to
// standard error and then responds expects that both are read in this order.
func (t *Tail) catchUp() {
	if t.written == nil {
		return
	}
	want := t.written()
	var limit <-chan time.Time
	for {
		changed := t.Changed()
		if t.Total() >= want || t.Over() {
			return
		}
		if limit == nil {
			limit = time.After(catchUpMost)
		}
		select {
		case <-changed:
		case <-limit:
			return
		}
	}
}

// Finish marks the end of the stream.
func (t *Tail) Finish() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over = true
}

// Over reports whether the stream has ended, as far as its reader knows.
func (t *Tail) Over() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.over
}

// Total returns the number of bytes written.
func (t *Tail) Total() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.total
}

// First returns the time of the first byte, or zero.
func (t *Tail) First() time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.first
}

// Dropped returns the number of bytes that are no longer kept.
func (t *Tail) Dropped() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.countDropped()
}

func (t *Tail) countDropped() int64 { return t.total - int64(len(t.head)) - int64(len(t.ring)) }

// Lost returns how many of the bytes after a mark were dropped.
func (t *Tail) Lost(m Mark) int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	gapStart, gapEnd := int64(len(t.head)), t.total-int64(len(t.ring))
	return max(gapEnd-max(int64(m), gapStart), 0)
}

// end returns a copy of the kept end of the stream.
func (t *Tail) end() []byte {
	out := make([]byte, 0, len(t.ring))
	out = append(out, t.ring[t.at:]...)
	return append(out, t.ring[:t.at]...)
}

// Bytes returns the kept bytes, without a mark for dropped ones.
func (t *Tail) Bytes() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append(bytes.Clone(t.head), t.end()...)
}

// String returns the kept output; a separate line counts the dropped bytes, if any.
func (t *Tail) String() string { return t.Since(0) }

// Mark returns the current end of the stream.
func (t *Tail) Mark() Mark {
	t.catchUp()
	return Mark(t.Total())
}

// Since returns the output after m, as far as it is kept; a separate line counts the
// dropped bytes, if any.
func (t *Tail) Since(m Mark) string {
	t.catchUp()
	t.mu.Lock()
	defer t.mu.Unlock()
	from := max(int64(m), 0)
	if from >= t.total {
		return ""
	}
	gapStart, gapEnd := int64(len(t.head)), t.total-int64(len(t.ring))
	var b strings.Builder
	if from < gapStart {
		b.Write(t.head[from:])
	}
	if lost := gapEnd - max(from, gapStart); lost > 0 {
		if b.Len() > 0 && !strings.HasSuffix(b.String(), "\n") {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "[%d bytes left out]\n", lost)
	}
	b.Write(t.end()[max(from-gapEnd, 0):])
	return b.String()
}

// Lines returns the last n kept lines without line ends and colors, the oldest first,
// including an incomplete last line.
func (t *Tail) Lines(n int) []string {
	text := strings.TrimSuffix(display.StripColors(t.String()), "\n")
	if text == "" || n <= 0 {
		return nil
	}
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimSuffix(l, "\r")
	}
	return lines[max(0, len(lines)-n):]
}

// Changed returns a channel that is closed when more bytes are written.
func (t *Tail) Changed() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.changed == nil {
		t.changed = make(chan struct{})
	}
	return t.changed
}
