package live

import (
	"sync"
	"time"

	"mcptest/internal/client/protocol"
)

// Kind says what a row is about.
type Kind string

// Kinds of rows.
const (
	Request      Kind = "request"
	Response     Kind = "response"
	Notification Kind = "notification"
	NoMessage    Kind = "no message" // a line of standard output, for instance
	Stderr       Kind = "stderr"
	HTTP         Kind = "http"
	End          Kind = "end"
	Finding      Kind = "finding" // violations that were found in an earlier row
)

// Row is one line of the timeline.
type Row struct {
	Seq      int64 // from 1, without gaps
	At       time.Time
	Server   int // number of the server
	Kind     Kind
	ToServer bool
	Method   string // of a response: that of its request
	ID       string // as JSON text
	Took     time.Duration
	Size     int64
	Status   int    // of HTTP
	Text     string // of what is no message
	Raw      []byte // the frame, or its beginning
	// Of is the row that the violations belong to; 0: this one.
	Of         int64
	Violations []protocol.Violation
	Withdrawn  []protocol.Violation

	conn int64
}

// Limits of a feed. A frame over maxRaw is kept in part.
const (
	maxRows  = 20_000
	maxBytes = 96 << 20
	maxRaw   = 16 << 20
)

// Feed is the timeline of all sessions: the latest rows, in order. It is safe for concurrent
// use, and nothing that adds to it waits.
type Feed struct {
	mu      sync.Mutex
	rows    []Row // the oldest first
	bytes   int
	next    int64 // Seq of the next row
	conns   int64
	changed chan struct{} // nil: there is no reader that waits
}

// NewFeed returns an empty feed.
func NewFeed() *Feed { return &Feed{next: 1} }

// Since returns rows after a sequence number, at most limit of them, how many are no longer
// kept, and the number to continue with.
func (f *Feed) Since(after int64, limit int) (rows []Row, lost, last int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	after = min(max(after, 0), f.next-1)
	first := f.next - int64(len(f.rows))
	if after+1 < first {
		lost = first - after - 1
		after = first - 1
	}
	from := after + 1 - first
	to := min(from+int64(limit), int64(len(f.rows)))
	rows = append(rows, f.rows[from:to]...)
	return rows, lost, after + int64(len(rows))
}

// Row returns a row by its number; ok is false if it is no longer kept.
func (f *Feed) Row(seq int64) (r Row, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := seq - (f.next - int64(len(f.rows)))
	if i < 0 || i >= int64(len(f.rows)) {
		return Row{}, false
	}
	return f.rows[i], true
}

// Changed returns a channel that is closed when a row is added.
func (f *Feed) Changed() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.changed == nil {
		f.changed = make(chan struct{})
	}
	return f.changed
}

// add adds a row, drops the oldest ones over the limits, and returns its number. The caller
// holds the lock.
func (f *Feed) add(r Row) int64 {
	r.Seq = f.next
	f.next++
	f.rows = append(f.rows, r)
	f.bytes += weight(r)
	drop := 0
	for (len(f.rows)-drop > maxRows || f.bytes > maxBytes) && drop < len(f.rows)-1 {
		f.bytes -= weight(f.rows[drop])
		f.rows[drop] = Row{}
		drop++
	}
	f.rows = f.rows[drop:]
	if f.changed != nil {
		close(f.changed)
		f.changed = nil
	}
	return r.Seq
}

func weight(r Row) int { return len(r.Raw) + len(r.Text) + 200 }

// latest returns the newest row for which ok is true, of those that are not too old to
// matter; 0 if there is none. The caller holds the lock.
func (f *Feed) latest(ok func(*Row) bool) int64 {
	const far = 5_000
	for i := len(f.rows) - 1; i >= max(0, len(f.rows)-far); i-- {
		if ok(&f.rows[i]) {
			return f.rows[i].Seq
		}
	}
	return 0
}
