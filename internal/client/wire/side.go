package wire

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// SideEvent is something that happened in a session apart from the calls of its user. It may
// be why one of them failed.
type SideEvent struct {
	At   time.Time
	Kind SideKind
	Text string // begins with a noun, and has no time
	Call string // the id of the call that it is about; "" for none
	N    int    // how often it happened
}

// SideKind says what a side event can explain.
type SideKind uint8

// Kinds of side events.
const (
	// SideStream is the stream of the session (GET): messages outside of responses need it.
	SideStream SideKind = iota
	// SideSent is a notification or a response that the client sent by itself.
	SideSent
	// SideLate is a message that came after what it belongs to.
	SideLate
	// SideRival is another session with the same server.
	SideRival
)

// SideEvents is the list of a session, in order. The zero value is empty. It is safe for
// concurrent use.
type SideEvents struct {
	mu   sync.Mutex
	list []SideEvent
}

// maxSide limits the list.
const maxSide = 32

// Add adds an event, or counts it if its text is in the list.
func (s *SideEvents) Add(kind SideKind, text string) { s.AddOf("", kind, text) }

// AddOf is Add for an event about a call.
func (s *SideEvents) AddOf(call string, kind SideKind, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.list {
		if e := &s.list[i]; e.Text == text {
			e.N++
			e.At = time.Now()
			return
		}
	}
	if len(s.list) < maxSide {
		s.list = append(s.list, SideEvent{At: time.Now(), Kind: kind, Text: text, Call: call, N: 1})
	}
}

// List returns the events, the oldest first.
func (s *SideEvents) List() []SideEvent {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.list)
}

// FormatSideEvents joins events into the end of a message: "; in this session also: …", or "".
func FormatSideEvents(list []SideEvent) string {
	if len(list) == 0 {
		return ""
	}
	texts := make([]string, 0, len(list))
	for _, e := range list {
		text := e.Text
		if e.N > 1 {
			text += fmt.Sprintf(" (%d times)", e.N)
		}
		texts = append(texts, text)
	}
	return "; in this session also: " + strings.Join(texts, "; ")
}
