package term

import (
	"cmp"
	"io"
	"strings"
	"sync"
	"time"

	"mcptest/internal/base/display"
)

// Status owns the lower edge of a terminal: one line that is repainted in
// place, and text that is printed above it. On a stream that is no terminal
// the line does not exist and Print is a plain write.
//
// It is safe for concurrent use.
type Status struct {
	mu      sync.Mutex
	w       io.Writer
	live    bool
	columns func() int
	every   time.Duration
	now     func() time.Time
	painted time.Time
	line    string // wanted
	shown   string // on the screen, "" when there is no line
	err     error
}

// StatusOptions are the parts of a Status that depend on the stream.
type StatusOptions struct {
	Live    bool             // repaint a line; otherwise stay silent
	Columns func() int       // width of the terminal now; nil: 80
	Every   time.Duration    // at most one repaint in this time; 0: 100 ms
	Now     func() time.Time // nil: time.Now
}

// NewStatus returns a status line on w, which is live when w is a terminal
// that can move its cursor (TERM in env is not "dumb").
func NewStatus(w io.Writer, env []string) *Status {
	return NewStatusWith(w, StatusOptions{
		Live:    IsTerminal(w) && lookup(env, "TERM") != "dumb",
		Columns: func() int { return CountColumns(w, 80) },
	})
}

// NewStatusWith returns a status line with the given options, for tests and
// for streams that only pretend to be terminals.
func NewStatusWith(w io.Writer, o StatusOptions) *Status {
	s := &Status{w: w, live: o.Live, columns: o.Columns, every: o.Every, now: o.Now}
	if s.columns == nil {
		s.columns = func() int { return 80 }
	}
	s.every = cmp.Or(s.every, 100*time.Millisecond)
	if s.now == nil {
		s.now = time.Now
	}
	return s
}

// Live reports whether a line is painted at all, so that callers can skip
// composing it.
func (s *Status) Live() bool { return s != nil && s.live }

// IsDue reports whether Set would repaint now.
func (s *Status) IsDue() bool {
	if !s.Live() {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now().Sub(s.painted) >= s.every
}

// Set changes the line. It is repainted at most once per interval; call
// again to see the last change. The text must be escaped already;
// it is cut to the width of the terminal.
func (s *Status) Set(line string) {
	if !s.Live() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.line = line
	if now := s.now(); now.Sub(s.painted) >= s.every {
		s.painted = now
		s.paint()
	}
}

// Print writes whole lines above the status line, to w (nil: the stream of
// the status line). It is a plain write when there is no line.
func (s *Status) Print(w io.Writer, text string) error {
	if s == nil {
		_, err := io.WriteString(w, text)
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if w == nil {
		w = s.w
	}
	if s.shown == "" {
		_, err := io.WriteString(w, text)
		return err
	}
	if w == s.w { // one write: no flicker
		line := s.shown
		s.shown = ""
		s.write("\r\x1b[K" + text + line)
		s.shown = line
		return s.err
	}
	s.erase()
	_, err := io.WriteString(w, text)
	s.paint()
	return err
}

// Clear takes the line away.
func (s *Status) Clear() {
	if !s.Live() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.line = ""
	s.erase()
}

func (s *Status) paint() {
	n := s.columns()
	line := display.Truncate(strings.ReplaceAll(s.line, "\n", " "), max(n-1, 1))
	if line == s.shown {
		return
	}
	s.write("\r\x1b[K" + line)
	s.shown = line
}

func (s *Status) erase() {
	if s.shown == "" {
		return
	}
	s.write("\r\x1b[K")
	s.shown = ""
}

// write remembers the first failure and is silent from then on: a closed
// terminal must not end a run.
func (s *Status) write(text string) {
	if s.err == nil {
		_, s.err = io.WriteString(s.w, text)
	}
}
