package pretty

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"mcptest/internal/base/term"
	"mcptest/internal/report/explain"
	"mcptest/internal/report/render"
	"mcptest/internal/report/result"
)

// LiveOptions configure a Live.
type LiveOptions struct {
	Out     io.Writer // finished tests are listed here
	Palette term.Palette
	Width   int // columns of Out; 0: not a terminal
	// Status is the progress line (on stderr); may be nil.
	Status *term.Status
	// StatusPalette are the colors of the progress line.
	StatusPalette term.Palette
	// InOrder lists the tests in plan order, delaying those that end early: for logs.
	// On a terminal they are listed as they end.
	InOrder bool
	Quiet   bool             // only show the progress line
	Verbose bool             // as in Options
	Now     func() time.Time // nil: time.Now
	// Gather is how long a finished test may be delayed to be written together with
	// others. A test that ends that long after the last write is written immediately.
	// 0: no delay.
	Gather time.Duration
}

// Live is a Listener that shows the progress of a run: it lists every finished test,
// and shows the running tests in a progress line. The pretty format with
// Options.Listed writes the end of the report.
//
// The recorder calls Event. A separate goroutine, which Close ends, repaints the
// progress line.
type Live struct {
	o    LiveOptions
	p    *render.Printer
	buf  bytes.Buffer // target of p
	err  error
	stop chan struct{}
	done sync.WaitGroup

	mu       sync.Mutex // guards the following fields, which the clock reads
	total    int
	up       bool // a server has started
	summary  result.Summary
	started  time.Time
	running  map[int]task
	finished bool

	listed bool // a heading was written
	title  string
	suites []result.Suite
	next   int           // index of the next case, if InOrder
	held   map[int]ready // cases that ended early, if InOrder
	slow   slowest

	gathered []byte    // not written yet
	wrote    time.Time // time of the last write
	later    *time.Timer
}

// task is a running case.
type task struct {
	name  string
	state string // how far it is
	since time.Time
}

// ready is the text of a case that waits for earlier ones.
type ready struct {
	title, text string
}

// slowest is the slowest test so far.
type slowest struct {
	name string
	ms   float64
}

// NewLive returns a Live. Close it after the run.
func NewLive(o LiveOptions) *Live {
	if o.Now == nil {
		o.Now = time.Now
	}
	l := &Live{o: o, running: map[int]task{}, held: map[int]ready{}, stop: make(chan struct{})}
	l.p = render.NewPrinter(&l.buf, &result.Run{}, render.Options{
		Palette: o.Palette,
		Width:   o.Width,
		Verbose: o.Verbose,
	})
	if o.Status.Live() {
		l.done.Go(l.runClock)
	}
	return l
}

// runClock repaints the progress line between events, to update the time while a server
// is silent.
func (l *Live) runClock() {
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-l.stop:
			return
		case <-tick.C:
			l.repaint()
		}
	}
}

func (l *Live) repaint() {
	if !l.o.Status.IsDue() {
		return
	}
	l.mu.Lock()
	line := l.formatProgress()
	l.mu.Unlock()
	l.o.Status.Set(line)
}

// Event handles one event.
func (l *Live) Event(e result.Event, r *result.Run) {
	l.mu.Lock()
	switch e := e.(type) {
	case result.RunStarted:
		l.total, l.started, l.suites = e.Total, l.o.Now(), e.Suites
		l.start(e)
	case result.ServerUp:
		l.up = true
	case result.CaseStarted:
		t, again := l.running[e.Index]
		t.name, t.state = e.Name, e.State
		if !again {
			t.since = l.o.Now()
		}
		l.running[e.Index] = t
	case result.CaseFinished:
		delete(l.running, e.Case.Index)
		l.summary = r.Summary
		if e.Case.DurationMS > l.slow.ms && e.Case.Status != result.Skip {
			l.slow = slowest{e.Case.Name, e.Case.DurationMS}
		}
		l.testCase(e.Case)
	case result.PhaseFinished:
		l.writePhase(&e.Phase)
	case result.RunFinished:
		l.finished = true
		l.release(true)
		l.flush()
	}
	l.mu.Unlock()
	if _, ok := e.(result.RunFinished); ok {
		l.o.Status.Clear()
		return
	}
	l.repaint()
}

func (l *Live) start(e result.RunStarted) {
	if l.o.Quiet {
		return
	}
	writeBanner(l.p, &result.Run{
		Tool:     e.Tool,
		Suites:   e.Suites,
		Summary:  result.Summary{Total: e.Total},
		Parallel: e.Parallel,
	})
	l.write()
}

// testCase lists a case now, or after the earlier ones.
func (l *Live) testCase(c *result.Case) {
	if l.o.Quiet {
		return
	}
	listCase(l.p, c)
	t := ready{title: formatSuiteTitle(l.p, c, l.suites), text: l.take()}
	if !l.o.InOrder {
		l.list(t)
		return
	}
	l.held[c.Index] = t
	l.release(false)
}

// release lists the held cases that are next, or all of them at the end.
func (l *Live) release(all bool) {
	for {
		t, ok := l.held[l.next]
		if !ok {
			break
		}
		delete(l.held, l.next)
		l.next++
		l.list(t)
	}
	if all {
		for _, i := range slices.Sorted(maps.Keys(l.held)) {
			l.list(l.held[i])
		}
		clear(l.held)
	}
}

func (l *Live) list(t ready) {
	text := t.text
	if !l.listed || t.title != l.title {
		l.listed, l.title = true, t.title
		head := "\n"
		if t.title != "" {
			head += t.title + "\n"
		}
		text = head + text
	}
	l.print(text)
}

func (l *Live) writePhase(ph *result.Phase) {
	if l.o.Quiet {
		return
	}
	// A phase of another file is listed below that file's heading.
	if title := formatFileTitle(l.p, ph, l.suites); title != "" && (!l.listed || title != l.title) {
		l.release(false)
		l.list(ready{title: title})
	}
	listPhase(l.p, ph)
	l.write()
}

// take returns the printer's output.
func (l *Live) take() string {
	l.p.Flush()
	text := l.buf.String()
	l.buf.Reset()
	return text
}

// write writes the printer's output immediately. It does not count as a test, so the
// first test is not delayed.
func (l *Live) write() {
	l.gathered = append(l.gathered, l.take()...)
	wrote := l.wrote
	l.flush()
	l.wrote = wrote
}

// print writes the text of a test, now or together with the next ones: with fast
// servers, a write for each costs more than evaluating it.
func (l *Live) print(text string) {
	l.gathered = append(l.gathered, text...)
	if wait := l.o.Gather - l.o.Now().Sub(l.wrote); wait <= 0 {
		l.flush()
	} else if l.later == nil {
		l.later = time.AfterFunc(wait, func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.flush()
		})
	}
}

// flush writes the gathered text. The caller holds mu.
func (l *Live) flush() {
	if l.later != nil {
		l.later.Stop()
		l.later = nil
	}
	if l.err == nil && len(l.gathered) > 0 {
		l.err = l.o.Status.Print(l.o.Out, string(l.gathered))
	}
	l.gathered, l.wrote = l.gathered[:0], l.o.Now()
}

// Err returns the first write error, after which nothing is listed.
func (l *Live) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// Close removes the progress line and stops its clock.
func (l *Live) Close() {
	select {
	case <-l.stop:
		return
	default:
	}
	close(l.stop)
	l.done.Wait()
	l.mu.Lock()
	l.flush()
	l.mu.Unlock()
	l.o.Status.Clear()
}

// formatProgress returns the progress line: completed tests, failures, elapsed and
// remaining time, and the current test.
func (l *Live) formatProgress() string {
	if l.finished || l.started.IsZero() {
		return ""
	}
	pal := l.o.StatusPalette
	s := l.summary
	elapsed := l.o.Now().Sub(l.started)
	parts := []string{pal.Paint(term.Strong, fmt.Sprintf("%d/%d", s.Total, l.total))}
	parts = append(append(parts, explain.ListNotPassed(pal, s)...), formatClock(elapsed))
	if eta := l.estimateRest(elapsed); eta != "" {
		parts = append(parts, pal.Paint(term.Faint, eta))
	}
	if now := l.formatCurrent(); now != "" {
		parts = append(parts, l.formatStarting()+now)
	}
	if l.slow.ms >= 1000 {
		slowest := "slowest " + render.OneLine(l.slow.name, 30) + " " + render.Duration(l.slow.ms)
		parts = append(parts, pal.Paint(term.Faint, slowest))
	}
	return strings.Join(parts, pal.Paint(term.Faint, " · "))
}

// formatStarting says that a server starts, before the first is up.
func (l *Live) formatStarting() string {
	if l.up || l.summary.Total > 0 {
		return ""
	}
	return "starting the server: "
}

// formatCurrent returns the case that has been running longest, and for how long.
func (l *Live) formatCurrent() string {
	var oldest task
	for _, i := range slices.Sorted(maps.Keys(l.running)) {
		t := l.running[i]
		if oldest.since.IsZero() || t.since.Before(oldest.since) {
			oldest = t
		}
	}
	if oldest.since.IsZero() {
		return ""
	}
	text := render.OneLine(oldest.name, 50)
	if oldest.state != "" { // first, because a narrow terminal cuts the end
		text = oldest.state + ": " + text
	}
	if d := l.o.Now().Sub(oldest.since); d >= time.Second {
		text += " " + formatClock(d)
	}
	if n := len(l.running) - 1; n > 0 {
		text += l.o.StatusPalette.Paint(term.Faint, fmt.Sprintf(" +%d", n))
	}
	return text
}

// estimateRest estimates the remaining time from the rate so far, if that is meaningful.
func (l *Live) estimateRest(elapsed time.Duration) string {
	done, left := l.summary.Total-l.summary.Skipped, l.total-l.summary.Total
	if done < 3 || left <= 0 || elapsed < 2*time.Second {
		return ""
	}
	return "about " + formatClock(elapsed/time.Duration(done)*time.Duration(left)) + " left"
}

// formatClock writes a duration in whole seconds.
func formatClock(d time.Duration) string {
	s := int(d / time.Second)
	if s < 60 {
		return fmt.Sprintf("%d s", s)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}
