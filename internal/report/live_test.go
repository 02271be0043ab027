package report_test

import (
	"bytes"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"mcptest/internal/base/term"
	"mcptest/internal/report/pretty"
	"mcptest/internal/report/render"
	"mcptest/internal/report/result"
)

// pass advances the time of a bubble.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// play records a scenario with a Live listening and returns the record.
func play(t *testing.T, events []result.Event, l *pretty.Live) *result.Run {
	t.Helper()
	rec := result.NewRecorder(result.RecorderOptions{Listeners: []result.Listener{l}})
	t.Cleanup(func() { rec.Close() })
	for _, e := range events {
		rec.Send(e)
	}
	l.Close()
	return rec.Run()
}

// TestLiveAndFinalAreThePrettyReport: the lines written during the run and the end of the
// report together are the pretty report of the record.
func TestLiveAndFinalAreThePrettyReport(t *testing.T) {
	for _, name := range []string{"failures", "crash", "scores", "flaky", "interrupted", "hostile", "http", "setup", "pass", "agents"} {
		var b bytes.Buffer
		r := play(t, scenarios[name](), pretty.NewLive(pretty.LiveOptions{Out: &b, InOrder: true}))
		b.Write(rendered(t, "pretty", r, render.Options{Listed: true}))
		want := string(rendered(t, "pretty", open(t, name), render.Options{}))
		if got := b.String(); !sameLines(got, want) {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
		}
	}
}

// sameLines compares the lines, but for their order: a Live writes the line
// of a phase when it ended, which may be before the heading of its suite.
func sameLines(a, b string) bool {
	seen := map[string]int{}
	for l := range strings.Lines(a) {
		seen[l]++
	}
	for l := range strings.Lines(b) {
		seen[l]--
	}
	for l, n := range seen {
		if n != 0 && strings.TrimSpace(l) != "" {
			return false
		}
	}
	return true
}

func TestLiveOrder(t *testing.T) {
	finish := func(i int, name string) result.Event {
		return result.CaseFinished{Case: &result.Case{Index: i, Name: name, Status: result.Pass, Suite: "s", DurationMS: 1}}
	}
	events := []result.Event{
		result.RunStarted{Total: 4, Tool: result.Tool{Name: "mcptest"}},
		finish(2, "c"), finish(0, "a"), finish(1, "b"),
		result.RunFinished{ExitCode: 1, Interrupted: "SIGINT"},
	}
	for inOrder, want := range map[bool]string{false: "c a b", true: "a b c"} {
		var b bytes.Buffer
		play(t, events, pretty.NewLive(pretty.LiveOptions{Out: &b, InOrder: inOrder}))
		var got []string
		for l := range strings.Lines(b.String()) {
			if _, rest, ok := strings.Cut(l, "✓ "); ok {
				got = append(got, rest[:1])
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("in order %v: got %v, want %s\n%s", inOrder, got, want, b.String())
		}
	}
}

// writes counts the writes to it.
type writes struct {
	mu   sync.Mutex
	n    int
	text strings.Builder
}

func (w *writes) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.n++
	return w.text.Write(p)
}

// TestLiveGathersTests: the first test is written immediately, the following ones together,
// and none is missing at the end.
func TestLiveGathersTests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w writes
		l := pretty.NewLive(pretty.LiveOptions{Out: &w, Gather: 20 * time.Millisecond})
		defer l.Close()
		r := &result.Run{}
		seen := func(when, names string, n int) {
			t.Helper()
			w.mu.Lock()
			defer w.mu.Unlock()
			got := ""
			for l := range strings.Lines(w.text.String()) {
				if _, n, ok := strings.Cut(l, "✓ n"); ok {
					got += n[:1]
				}
			}
			if got != names || w.n != n {
				t.Errorf("%s: got %q in %d writes, want %q in %d", when, got, w.n, names, n)
			}
		}
		end := func(names string) {
			for _, c := range names {
				l.Event(result.CaseFinished{Case: &result.Case{Name: "n" + string(c), Status: result.Pass}}, r)
			}
		}
		l.Event(result.RunStarted{Total: 7, Tool: result.Tool{Name: "mcptest"}}, r)
		end("0")
		seen("the first", "0", 2)
		end("123")
		seen("at once", "0", 2)
		pass(21 * time.Millisecond)
		seen("later", "0123", 3)
		pass(21 * time.Millisecond)
		end("4")
		seen("alone", "01234", 4)
		end("5")
		l.Event(result.PhaseFinished{Phase: result.Phase{Phase: "teardown", Name: "x", Status: result.Pass}}, r)
		seen("before a phase", "012345", 5)
		end("6")
		l.Event(result.RunFinished{}, r)
		seen("at the end", "0123456", 6)
	})
}

// TestLiveHoldsBackUntilItsTurn: a case is written as soon as all cases before it have been
// written.
func TestLiveHoldsBackUntilItsTurn(t *testing.T) {
	var b bytes.Buffer
	l := pretty.NewLive(pretty.LiveOptions{Out: &b, InOrder: true})
	defer l.Close()
	r := &result.Run{}
	for _, step := range []struct {
		index int
		seen  string
	}{{1, ""}, {0, "01"}, {3, "01"}, {2, "0123"}} {
		l.Event(result.CaseFinished{Case: &result.Case{Index: step.index, Name: "n" + string(rune('0'+step.index)), Status: result.Pass}}, r)
		got := ""
		for l := range strings.Lines(b.String()) {
			if _, n, ok := strings.Cut(l, "✓ n"); ok {
				got += n[:1]
			}
		}
		if got != step.seen {
			t.Errorf("after %d: got %q, want %q", step.index, got, step.seen)
		}
	}
}

// lastLine returns the last line that a terminal shows.
func lastLine(s string) string {
	s = s[strings.LastIndex(s, "\n")+1:]
	return s[strings.LastIndex(s, "\r\x1b[K")+max(0, len("\r\x1b[K")):]
}

// TestProgressLine checks the progress line over time: the clock advances while a test
// runs, the remaining time is estimated from the rate so far.
func TestProgressLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out, tty bytes.Buffer
		status := term.NewStatusWith(&tty, term.StatusOptions{Live: true, Columns: func() int { return 120 }})
		l := pretty.NewLive(pretty.LiveOptions{Out: &out, Status: status})
		rec := result.NewRecorder(result.RecorderOptions{Listeners: []result.Listener{l}})
		defer rec.Close()
		rec.Send(result.RunStarted{Total: 10})
		for i := range 4 {
			rec.Send(result.CaseStarted{Index: i, Name: "quick"})
			pass(time.Second)
			st := result.Pass
			if i == 2 {
				st = result.Fail
			}
			rec.Send(result.CaseFinished{Case: &result.Case{Index: i, Name: "quick", Status: st, DurationMS: 1000}})
		}
		rec.Send(result.CaseStarted{Index: 4, Name: "slow\x1b[31m one"})
		rec.Send(result.CaseStarted{Index: 5, Name: "another"})
		pass(5*time.Second + 10*time.Millisecond)
		want := `4/10 · 1 failed · 9 s · about 13 s left · slow\x1b[31m one 5 s +1 · slowest quick 1.00 s`
		if got := lastLine(tty.String()); got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
		// How far the trials of a test are is before its name, which may be cut.
		rec.Send(result.CaseStarted{Index: 4, Name: "slow one", State: "7 of at most 30 trials, 6 passed, 0.000400 USD"})
		pass(time.Second)
		if got := lastLine(tty.String()); !strings.Contains(got, "s left · 7 of at most 30 trials, 6 passed, 0.000400 USD: slow one 6 s +1") {
			t.Errorf("got %q", got)
		}
		rec.Send(result.RunFinished{})
		if got := lastLine(tty.String()); got != "" {
			t.Errorf("left on the screen: %q", got)
		}
		l.Close()
		l.Close()
		if n := strings.Count(out.String(), "✓ quick"); n != 3 {
			t.Errorf("%d tests listed:\n%s", n, out.String())
		}
	})
}

func TestLiveOffTerminals(t *testing.T) {
	var out, errs bytes.Buffer
	l := pretty.NewLive(pretty.LiveOptions{Out: &out, Status: term.NewStatus(&errs, nil)})
	play(t, scenarios["failures"](), l)
	if errs.Len() > 0 {
		t.Errorf("progress on a file: %q", errs.String())
	}
	if strings.ContainsAny(out.String(), "\x1b\r") {
		t.Errorf("control characters in a file: %q", out.String())
	}
	out.Reset()
	play(t, scenarios["failures"](), pretty.NewLive(pretty.LiveOptions{Out: &out, Quiet: true}))
	if out.Len() > 0 {
		t.Errorf("not quiet: %q", out.String())
	}
}

func TestLiveSurvivesAClosedPipe(t *testing.T) {
	l := pretty.NewLive(pretty.LiveOptions{Out: closedPipe{}})
	r := play(t, scenarios["failures"](), l)
	if l.Err() != io.ErrClosedPipe {
		t.Errorf("got %v", l.Err())
	}
	if r.Summary.Total != 8 {
		t.Errorf("the record suffered: %+v", r.Summary)
	}
}
