package tail

import (
	"bytes"
	"regexp"
	"slices"
	"sync"
)

// maxLine limits the length of an incomplete line that is kept.
const maxLine = 64 << 10

// Splitter splits a stream into lines; it keeps an incomplete line until it is
// complete. Lines over maxLine are split.
type Splitter struct {
	rest []byte
	Emit func(line []byte)
}

// Feed adds the next bytes of the stream.
func (l *Splitter) Feed(p []byte) {
	for {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			break
		}
		if len(l.rest) > 0 {
			l.rest = append(l.rest, p[:i]...)
			l.Emit(bytes.TrimSuffix(l.rest, []byte("\r")))
			l.rest = l.rest[:0]
		} else {
			l.Emit(bytes.TrimSuffix(p[:i], []byte("\r")))
		}
		p = p[i+1:]
	}
	for len(l.rest)+len(p) > maxLine {
		n := maxLine - len(l.rest)
		l.rest = append(l.rest, p[:n]...)
		l.Emit(l.rest)
		l.rest, p = l.rest[:0], p[n:]
	}
	l.rest = append(l.rest, p...)
}

// Flush passes on the incomplete last line.
func (l *Splitter) Flush() {
	if len(l.rest) > 0 {
		l.Emit(bytes.TrimSuffix(l.rest, []byte("\r")))
		l.rest = nil
	}
}

// lineMatch matches an expression against each line of a stream as it is written, so
// that a flood of output cannot hide a match.
type lineMatch struct {
	re    *regexp.Regexp
	lines Splitter
	once  *sync.Once
	found chan struct{}
	hit   bool
}

// watch matches re against the kept and future output of t; found is closed on the
// first match, guarded by once. The returned func stops it.
func (t *Tail) watch(re *regexp.Regexp, once *sync.Once, found chan struct{}) *lineMatch {
	m := &lineMatch{re: re, once: once, found: found}
	m.lines.Emit = m.try
	t.mu.Lock()
	defer t.mu.Unlock()
	m.feed(t.head)
	if t.countDropped() > 0 {
		m.lines.Flush()
	}
	m.feed(t.end())
	t.watchers = append(t.watchers, m)
	return m
}

func (t *Tail) unwatch(m *lineMatch) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.watchers = slices.DeleteFunc(slices.Clone(t.watchers), func(w *lineMatch) bool { return w == m })
}

// tryRest matches the incomplete last line, such as a prompt.
func (t *Tail) tryRest(m *lineMatch) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(m.lines.rest) > 0 {
		m.try(m.lines.rest)
	}
}

func (m *lineMatch) feed(p []byte) {
	if !m.hit {
		m.lines.Feed(p)
	}
}

func (m *lineMatch) try(line []byte) {
	if !m.hit && m.re.Match(line) {
		m.hit = true
		m.once.Do(func() { close(m.found) })
	}
}

// LineWatch waits for a line that matches an expression in several streams.
type LineWatch struct {
	logs  []*Tail
	match []*lineMatch
	found chan struct{}
}

// WatchLines starts matching re against the kept and future output of logs, until
// Close.
func WatchLines(re *regexp.Regexp, logs []*Tail) *LineWatch {
	w := &LineWatch{logs: logs, found: make(chan struct{})}
	once := new(sync.Once)
	for _, t := range logs {
		w.match = append(w.match, t.watch(re, once, w.found))
	}
	return w
}

// Close ends the watch.
func (w *LineWatch) Close() {
	for i, t := range w.logs {
		t.unwatch(w.match[i])
	}
}

// Found is closed when a complete line matches.
func (w *LineWatch) Found() <-chan struct{} { return w.found }

// Ready reports whether a line matches, including incomplete last lines.
func (w *LineWatch) Ready() bool {
	for i, t := range w.logs {
		t.tryRest(w.match[i])
	}
	select {
	case <-w.found:
		return true
	default:
		return false
	}
}

// Over reports whether all streams have ended.
func (w *LineWatch) Over() bool {
	return !slices.ContainsFunc(w.logs, func(t *Tail) bool { return !t.Over() })
}
