package live

import (
	"strings"
	"sync"
	"testing"
	"time"

	"mcptest/internal/base/testkit"
	"mcptest/internal/client/conn"
	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
)

func frame(dir wire.Dir, method, id, raw string) conn.Event {
	f := &conn.FrameEvent{Dir: dir, Raw: []byte(raw), Size: int64(len(raw)), Method: method, ID: id}
	return conn.Event{At: time.Now(), Frame: f, ID: id}
}

// A response has the method of its request and how long it took; what was found in it later
// names its row, also if another connection uses the same id.
func TestRowsOfACall(t *testing.T) {
	t.Parallel()
	f := NewFeed()
	one, two := f.follow(0), f.follow(1)
	one(frame(wire.ToServer, "tools/call", "5", "{}"))
	two(frame(wire.ToServer, "ping", "5", "{}"))
	two(frame(wire.FromServer, "", "5", "{}"))
	one(frame(wire.FromServer, "", "5", "{}"))
	one(conn.Event{ID: "5", Violations: []protocol.Violation{{Kind: protocol.BadResult}}})
	rows, lost, last := f.Since(0, 100)
	testkit.Equal(t, "lost", lost, 0)
	testkit.Equal(t, "last", last, 5)
	testkit.Equal(t, "method of the response", rows[3].Method, "tools/call")
	testkit.Equal(t, "row of the violation", rows[4].Of, 4)
	if rows[3].Took < 0 || rows[0].Took >= 0 {
		t.Errorf("took %v and %v", rows[3].Took, rows[0].Took)
	}
}

// Violations that turn out to be none are taken from the row that has them.
func TestWithdrawnViolations(t *testing.T) {
	t.Parallel()
	f := NewFeed()
	add := f.follow(0)
	bad := frame(wire.FromServer, "", "null", "{}")
	bad.Violations = []protocol.Violation{{Kind: protocol.NullID, Offset: 7}}
	add(bad)
	add(frame(wire.FromServer, "", "2", "{}"))
	add(conn.Event{Withdrawn: bad.Violations})
	rows, _, _ := f.Since(0, 100)
	testkit.Equal(t, "row", rows[2].Of, 1)
}

// A feed keeps the latest rows within its limits, and says how many a slow reader missed.
func TestFeedIsBounded(t *testing.T) {
	t.Parallel()
	f := NewFeed()
	add := f.follow(0)
	long := strings.Repeat("x", 1<<20)
	for range maxBytes>>20 + 50 {
		add(frame(wire.FromServer, "m", "", long))
	}
	if f.bytes > maxBytes {
		t.Errorf("%d bytes are kept", f.bytes)
	}
	for range maxRows + 10 {
		add(frame(wire.FromServer, "m", "", "{}"))
	}
	rows, lost, last := f.Since(0, 5)
	testkit.Equal(t, "rows", len(f.rows), maxRows)
	testkit.Equal(t, "lost", lost, maxBytes>>20+50+10)
	testkit.Equal(t, "first", rows[0].Seq, lost+1)
	testkit.Equal(t, "last", last, lost+5)
	if _, ok := f.Row(1); ok {
		t.Error("a row that was dropped is returned")
	}
	if _, ok := f.Row(last); !ok {
		t.Error("a row that is kept is not returned")
	}
}

// Those who add do not wait for a reader, and readers see every row that is kept, in order.
func TestFeedWithReaders(t *testing.T) {
	t.Parallel()
	f := NewFeed()
	var wg sync.WaitGroup
	for server := range 3 {
		wg.Go(func() {
			add := f.follow(server)
			for range 1000 {
				add(frame(wire.FromServer, "m", "", "{}"))
			}
		})
	}
	for range 2 {
		wg.Go(func() {
			for after := int64(0); after < 3000; {
				changed := f.Changed()
				rows, lost, last := f.Since(after, 100)
				for i, r := range rows {
					if lost != 0 || r.Seq != after+1+int64(i) {
						t.Errorf("row %d after %d, %d lost", r.Seq, after, lost)
						return
					}
				}
				if after = last; len(rows) == 0 {
					<-changed
				}
			}
		})
	}
	wg.Wait()
}

func BenchmarkFrame(b *testing.B) {
	add := NewFeed().follow(0)
	e := frame(wire.FromServer, "notifications/message", "", strings.Repeat("x", 300))
	for b.Loop() {
		add(e)
	}
}
