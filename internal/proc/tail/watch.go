package tail

import (
	"bytes"
	"regexp"
	"slices"
	"sync"
)

// maxLine bounds the line that is held back until its end comes.
const maxLine = 64 << 10

// Splitter cuts a stream into lines; the part after the last line end is held
// until more comes. A line over maxLine comes in pieces.
type Splitter struct {
	rest []byte
	Emit func(line []byte)
}

// Feed takes the next bytes of the stream.
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

// Flush passes on the rest, which has no line end.
func (l *Splitter) Flush() {
	if len(l.rest) > 0 {
		l.Emit(bytes.TrimSuffix(l.rest, []byte("\r")))
		l.rest = nil
	}
}

// lineMatch looks for an expression in each line of a stream as it passes, so
// that a flood between two looks can't hide a match.
type lineMatch struct {
	re    *regexp.Regexp
	lines Splitter
	once  *sync.Once
	found chan struct{}
	hit   bool
}

// watch looks for re in what t keeps and in what comes; found is closed once,
// guarded by once, on the first match. The returned func ends it.
func (t *Tail) watch(re *regexp.Regexp, once *sync.Once, found chan struct{}) *lineMatch {
	m := &lineMatch{re: re, once: once, found: found}
	m.lines.Emit = m.try
	t.mu.Lock()
	defer t.mu.Unlock()
	m.feed(t.head)
	if t.dropped() > 0 {
		m.lines.Flush()
	}
	m.feed(t.end())
	t.watchers = append(t.watchers, m)
	return m
}

func (t *Tail) unwatch(m *lineMatch) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, w := range t.watchers {
		if w == m {
			t.watchers = append(t.watchers[:i:i], t.watchers[i+1:]...)
			return
		}
	}
}

// tryRest looks at the unfinished last line, such as a prompt.
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

// LineWatch looks for a line that matches an expression in several streams.
type LineWatch struct {
	logs  []*Tail
	match []*lineMatch
	found chan struct{}
}

// WatchLines begins to look for re in what logs keep and in what comes. Close
// ends it.
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

// Found is closed when a whole line matches.
func (w *LineWatch) Found() <-chan struct{} { return w.found }

// Ready reports whether a line matches, unfinished last lines included.
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
