package tee

import (
	"bytes"
	"sync"
	"time"

	"mcptest/internal/tape/cassette"
)

// queueLimit is the number of bytes that may wait to be recorded.
const queueLimit = 256 << 20

// Tap records copies of frames, in order, on a separate goroutine.
type Tap struct {
	record func(cassette.Frame) error
	start  time.Time
	limit  int
	done   chan struct{}

	mu      sync.Mutex
	ready   sync.Cond // something is in the queue, or it is closed
	queue   []chunk
	waiting int // bytes in the queue
	closed  bool
	lost    int
	err     error
}

// chunk is a piece of a stream, the end of a stream, or a whole frame.
type chunk struct {
	frame cassette.Frame
	from  *Stream // nil for a frame
	end   bool
}

// NewTap returns a Tap that calls record for each frame, until it fails.
func NewTap(record func(cassette.Frame) error) *Tap {
	t := &Tap{record: record, start: time.Now(), limit: queueLimit, done: make(chan struct{})}
	t.ready.L = &t.mu
	go t.run()
	return t
}

// Close waits until everything is recorded. It returns the number of pieces that were
// lost because recording was too slow, and the error that ended it.
func (t *Tap) Close() (lost int, err error) {
	t.mu.Lock()
	t.closed = true
	t.ready.Signal()
	t.mu.Unlock()
	<-t.done
	return t.lost, t.err
}

// isIntact reports whether everything has been recorded so far.
func (t *Tap) isIntact() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.lost == 0 && t.err == nil
}

// Frame records a frame; the Tap keeps its data.
func (t *Tap) Frame(f cassette.Frame) { t.put(chunk{frame: f}) }

func (t *Tap) put(c chunk) {
	size := len(c.frame.Data)
	t.mu.Lock()
	defer t.mu.Unlock()
	c.frame.At = time.Since(t.start)
	switch {
	case t.closed: // data that a client sends after the server has ended
		return
	case t.err != nil || t.waiting+size > t.limit:
		t.lost++
		return
	}
	t.waiting += size
	t.queue = append(t.queue, c)
	t.ready.Signal()
}

// take waits for data in the queue; it returns nil when the queue is closed and
// empty.
func (t *Tap) take() []chunk {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.queue) == 0 && !t.closed {
		t.ready.Wait()
	}
	all := t.queue
	t.queue = nil
	return all
}

func (t *Tap) run() {
	defer close(t.done)
	for all := t.take(); all != nil; all = t.take() {
		for _, c := range all {
			if !t.finish(c, t.feed(c)) {
				return
			}
		}
	}
}

func (t *Tap) feed(c chunk) error {
	if c.from == nil {
		return t.record(c.frame)
	}
	return c.from.feed(c, t.record)
}

// finish counts a chunk as recorded. It reports whether recording continues.
func (t *Tap) finish(c chunk, err error) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.waiting -= len(c.frame.Data)
	t.err = err
	return err == nil
}

// Stream is one direction of a connection, which is split into frames.
type Stream struct {
	tap    *Tap
	head   cassette.Frame
	events *cassette.Events // nil: each line is a frame
	rest   []byte           // of the worker: an incomplete line
	// seen and ended follow what the worker records, up to its end; they may be nil.
	seen  func(cassette.Frame)
	ended func()
}

// Lines returns a direction of a connection on which each line is a frame. head
// contains the fields common to the frames.
func (t *Tap) Lines(head cassette.Frame) *Stream { return &Stream{tap: t, head: head} }

// Events returns a stream for a body of text/event-stream.
func (t *Tap) Events(head cassette.Frame) *Stream {
	return &Stream{tap: t, head: head, events: cassette.NewEvents()}
}

// Write copies a piece of the stream. It never waits for the recorder.
func (s *Stream) Write(p []byte) {
	s.tap.put(chunk{from: s, frame: cassette.Frame{Data: bytes.Clone(p)}})
}

// End records the data after the last line end.
func (s *Stream) End() { s.tap.put(chunk{from: s, end: true}) }

// feed records the frames that a piece completes.
func (s *Stream) feed(c chunk, record func(cassette.Frame) error) error {
	f := s.head
	f.At = c.frame.At
	if s.events != nil {
		return s.feedEvents(f, c.frame.Data, record)
	}
	noteAndRecord := func(f cassette.Frame) error {
		if s.seen != nil {
			s.seen(f)
		}
		return record(f)
	}
	if err := s.feedLines(f, c.frame.Data, noteAndRecord); err != nil {
		return err
	}
	if c.end {
		return s.feedRest(f, noteAndRecord)
	}
	return nil
}

// feedEvents records the events that a piece of the stream completes, up to the first that
// cannot be recorded.
func (s *Stream) feedEvents(f cassette.Frame, data []byte, record func(cassette.Frame) error) error {
	var err error
	s.events.Feed(data, func(e cassette.Frame) {
		f.Event, f.Data, f.Omitted = e.Event, e.Data, e.Omitted
		if err == nil {
			err = record(f)
		}
	})
	return err
}

// feedLines records the lines that a piece completes, and keeps the incomplete one.
func (s *Stream) feedLines(f cassette.Frame, data []byte, record func(cassette.Frame) error) error {
	for {
		line, rest, isComplete := bytes.Cut(data, []byte("\n"))
		if !isComplete {
			s.rest = append(s.rest, data...)
			return nil
		}
		data = rest
		if len(s.rest) > 0 {
			line, s.rest = append(s.rest, line...), nil
		}
		f.Data = line
		if err := record(f); err != nil {
			return err
		}
	}
}

// feedRest records the line that the end of the stream cut off.
func (s *Stream) feedRest(f cassette.Frame, record func(cassette.Frame) error) error {
	if s.ended != nil {
		defer s.ended()
	}
	if len(s.rest) == 0 {
		return nil
	}
	f.Data, s.rest, f.Unterminated = s.rest, nil, true
	return record(f)
}
