package report_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"mcptest/internal/base/display"
	"mcptest/internal/base/term"
	"mcptest/internal/base/testkit"
	"mcptest/internal/report"
	"mcptest/internal/report/render"
	"mcptest/internal/report/result"
)

// ownCommand matches a valid command of the github format: a known word, and properties
// without characters that could end them.
var ownCommand = regexp.MustCompile(`^::(error|warning|notice) ?(file=[^:,\n]*(,|::))?(line=\d+(,|::))?(col=\d+(,|::))?(title=[^:,\n]*::)?[^\r\n]*\n$`)

// TestHostileTextIsInactive writes the hostile record in every format and searches for
// forbidden output.
func TestHostileTextIsInactive(t *testing.T) {
	r := open(t, "hostile")
	for _, f := range report.Formats {
		for _, o := range []render.Options{{}, {Verbose: true}, {Width: 40}, {Listed: true}} {
			out := string(rendered(t, f.Name, r, o))
			name := fmt.Sprintf("%s %+v", f.Name, o)
			if !utf8.ValidString(out) {
				t.Errorf("%s: not UTF-8", name)
			}
			for i, c := range out {
				if c != '\n' && display.IsHidden(c) {
					t.Errorf("%s: %U in %q", name, c, out[max(0, i-20):min(len(out), i+20)])
					break
				}
			}
			for line := range strings.Lines(out) {
				trimmed := strings.TrimSpace(line)
				command := strings.HasPrefix(trimmed, "::")
				if f.Name == "github" && command { // its own commands are what it is for
					command = !ownCommand.MatchString(line)
				}
				if command || strings.Contains(line, "##[") || strings.Contains(line, "##vso[") {
					t.Errorf("%s: a CI command: %q", name, line)
				}
				if f.Ext == ".txt" && strings.HasPrefix(line, "PASSED") || strings.Contains(".txt .tap .md", f.Ext) && strings.HasPrefix(line, "VERDICT pass") {
					t.Errorf("%s: a forged verdict: %q", name, line)
				}
			}
			for _, s := range seededSecrets {
				for _, part := range strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune("\n /:@?= ", r) }) {
					if len(part) >= 8 && strings.ContainsAny(part, "0123456789") && strings.Contains(out, part) {
						t.Errorf("%s: the secret %q is there", name, part)
					}
				}
			}
		}
	}
	if out := rendered(t, "json", r, render.Options{}); !json.Valid(out) {
		t.Error("json: not valid")
	}
	for line := range bytes.Lines(rendered(t, "ndjson", r, render.Options{})) {
		if !json.Valid(line) {
			t.Errorf("ndjson: not valid: %s", line)
		}
	}
}

// TestColorOnlyWhenAsked: without a palette there is no escape sequence, and with one the
// text is the same.
func TestColorOnlyWhenAsked(t *testing.T) {
	for _, name := range names() {
		r := open(t, name)
		for _, format := range []string{"pretty", "minimal", "agent"} {
			plain := string(rendered(t, format, r, render.Options{}))
			if strings.Contains(plain, "\x1b") {
				t.Errorf("%s %s: color in plain text", name, format)
			}
			for _, p := range []term.Profile{term.Bold, term.Color} {
				painted := string(rendered(t, format, r, render.Options{Palette: term.NewPalette(p)}))
				if format != "agent" && !strings.Contains(painted, "\x1b[") {
					t.Errorf("%s %s: no color", name, format)
				}
				if got := strip(painted); strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(plain), " ") {
					t.Errorf("%s %s: the text depends on color", name, format)
				}
			}
		}
	}
}

func strip(s string) string {
	var b strings.Builder
	for {
		head, rest, ok := strings.Cut(s, "\x1b[")
		b.WriteString(head)
		if !ok {
			return b.String()
		}
		_, s, _ = strings.Cut(rest, "m")
	}
}

// many is a record of n tests, every tenth of which failed.
func many(t testing.TB, n int) *result.Run {
	rec := result.NewRecorder(result.RecorderOptions{})
	t.Cleanup(func() { rec.Close() })
	rec.Send(result.RunStarted{Total: n, Suites: []result.Suite{{Name: "big", File: "big.yaml"}}})
	for i := range n {
		c := &result.Case{
			Index: i, Name: fmt.Sprintf("case %d", i), Status: result.Pass, DurationMS: 1, File: "big.yaml", Line: i + 1, Suite: "big", Server: "s",
			Assertions: []result.Assertion{passed("result.content[0].text", "exact"), passed("result.isError", "exact")},
			Exchanges:  call("echo", `{"text":"hello"}`, `{"content":[{"type":"text","text":"hello"}]}`),
		}
		if i == 7 {
			c.Name = "</noscript><img src=x onerror=alert(7)>"
		}
		if i%10 == 0 {
			c.Status, c.Message = result.Fail, fmt.Sprintf("want %d, got %d", i, i+1)
			c.Assertions[0] = result.Assertion{Target: "result.content[0].text", Matcher: "exact", Message: c.Message, Line: i + 3, Column: 3, Source: "  - {target: a}"}
		}
		rec.Send(result.CaseFinished{Case: c})
	}
	rec.Send(result.RunFinished{DurationMS: 1000, ExitCode: 1})
	return rec.Run()
}

// TestBigRunsRenderFast limits every format to four seconds of processor time and 200 MB
// for 10,000 tests. Memory is the live heap while a report is written,
// measured at every megabyte.
func TestBigRunsRenderFast(t *testing.T) {
	r := many(t, testkit.Count(2_000, 10_000))
	limit := time.Minute
	if testkit.Bench() {
		limit = 4 * time.Second
	}
	for _, f := range report.Formats {
		var w *watcher
		took := quickest(limit, func() {
			w = &watcher{}
			if err := f.Write(w, r, render.Options{}); err != nil {
				t.Fatal(err)
			}
		})
		t.Logf("%-8s %9d bytes in %v, heap up to %d MB", f.Name, w.size, took.Round(time.Millisecond), w.heap>>20)
		if took > limit {
			t.Errorf("%s took %v", f.Name, took)
		}
		if w.heap > 200<<20 {
			t.Errorf("%s: %d MB of heap", f.Name, w.heap>>20)
		}
	}
}

// quickest returns a processor time: the first one if it is within the limit, otherwise
// the best of three.
func quickest(limit time.Duration, do func()) time.Duration {
	best := time.Duration(math.MaxInt64)
	for range 3 {
		start := testkit.ReadCPUTime()
		do()
		if best = min(best, testkit.ReadCPUTime()-start); best <= limit {
			break
		}
	}
	return best
}

// watcher counts the bytes written and measures the heap meanwhile.
type watcher struct {
	size, looked int
	heap         uint64
}

func (w *watcher) Write(p []byte) (int, error) {
	w.size += len(p)
	if w.looked == 0 || w.size-w.looked > 1<<20 {
		w.looked = w.size
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		w.heap = max(w.heap, m.HeapAlloc)
	}
	return len(p), nil
}

func TestManyFailuresEndWithASummary(t *testing.T) {
	out := string(rendered(t, "pretty", many(t, 2000), render.Options{}))
	if !strings.Contains(out, "… and 100 more failures, not shown here") {
		t.Error("the number of failures not shown is missing")
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if want := "FAILED  1800 passed, 200 failed of 2000 tests · 1.00 s"; lines[len(lines)-1] != want {
		t.Errorf("got %q", lines[len(lines)-1])
	}
}

// TestWriteErrors: a format returns an error when its output can't be written.
func TestWriteErrors(t *testing.T) {
	for _, f := range report.Formats {
		if err := f.Write(closedPipe{}, open(t, "hostile"), render.Options{}); err == nil {
			t.Errorf("%s: no error", f.Name)
		}
	}
}

// TestEmptyRuns: a record without tests is valid.
func TestEmptyRuns(t *testing.T) {
	for _, f := range report.Formats {
		for _, r := range []*result.Run{{}, {ExitCode: 7, Cases: result.NewStored()}} {
			if out := rendered(t, f.Name, r, render.Options{}); len(out) == 0 {
				t.Errorf("%s: nothing written", f.Name)
			}
		}
	}
}
