package tail

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"time"

	"mcptest/internal/display"
)

// Tail keeps the beginning and the end of a stream in a fixed amount of memory
// and counts what it had to drop between them. The zero value is not usable;
// see New. All methods may be called at any time from any goroutine.
type Tail struct {
	mu       sync.Mutex
	headCap  int
	ringCap  int
	head     []byte
	ring     []byte // grows to ringCap, then is written round
	at       int    // where the next byte goes once the ring is full
	total    int64
	first    time.Time // of the first byte
	changed  chan struct{}
	over     bool // nothing more will come
	watchers []*lineMatch
}

// DefaultLimit is how many bytes a Tail keeps by default.
const DefaultLimit = 64 << 10

// Mark is a place in a stream: the number of bytes that came before it.
type Mark int64

// New returns a Tail that keeps up to limit bytes: a quarter from the
// beginning and the rest from the end. A limit of 0 or less is DefaultLimit.
func New(limit int64) *Tail {
	if limit <= 0 {
		limit = DefaultLimit
	}
	head := int(limit / 4)
	return &Tail{headCap: head, ringCap: int(limit) - head}
}

// Write takes the next bytes of the stream. It never fails and never blocks on
// anything but the readers of the same Tail.
func (t *Tail) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, w := range t.watchers {
		w.feed(p)
	}
	if t.total == 0 {
		t.first = time.Now()
	}
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

// keep puts bytes into the ring.
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

// Finish notes that nothing more will come.
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

// Total is the number of bytes that came.
func (t *Tail) Total() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.total
}

// First is when the first byte came; zero: none has.
func (t *Tail) First() time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.first
}

// Dropped is the number of bytes that came and are no longer kept.
func (t *Tail) Dropped() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.dropped()
}

func (t *Tail) dropped() int64 { return t.total - int64(len(t.head)) - int64(len(t.ring)) }

// end returns a copy of the kept end of the stream.
func (t *Tail) end() []byte {
	out := make([]byte, 0, len(t.ring))
	out = append(out, t.ring[t.at:]...)
	return append(out, t.ring[:t.at]...)
}

// Bytes returns what is kept, without a mark where bytes were dropped.
func (t *Tail) Bytes() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append(bytes.Clone(t.head), t.end()...)
}

// String returns what is kept; where bytes were dropped it says how many, on a
// line of its own.
func (t *Tail) String() string { return t.Since(0) }

// Mark is the present end of the stream.
func (t *Tail) Mark() Mark { return Mark(t.Total()) }

// Since returns what came after m, as far as it is kept; where bytes were
// dropped it says how many, on a line of its own.
func (t *Tail) Since(m Mark) string {
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
	lost := gapEnd - max(from, gapStart)
	if lost > 0 {
		if b.Len() > 0 && !strings.HasSuffix(b.String(), "\n") {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "[%d bytes left out]\n", lost)
	}
	b.Write(t.end()[max(from-gapEnd, 0):])
	return b.String()
}

// Lines returns the last n lines that are kept, without their line ends and
// colors, the oldest first; an unfinished last line counts. Empty when nothing came.
func (t *Tail) Lines(n int) []string {
	text := strings.TrimSuffix(display.WithoutColors(t.String()), "\n")
	if text == "" || n <= 0 {
		return nil
	}
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimSuffix(l, "\r")
	}
	return lines[max(0, len(lines)-n):]
}

// Changed returns a channel that is closed when the next bytes come.
func (t *Tail) Changed() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.changed == nil {
		t.changed = make(chan struct{})
	}
	return t.changed
}
