package leak_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"mcptest/internal/base/jsonschema"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/term"
	"mcptest/internal/base/testkit"
	"mcptest/internal/process/usage"
	"mcptest/internal/run/leak"
)

// fake is a server whose sessions take 5 ms.
type fake struct {
	usage usage.Usage
	after func(i int, u *usage.Usage) // changes what is used by session i
	fails map[int]error
	dies  int
	calls int
}

func (f *fake) options() leak.Options {
	return leak.Options{
		Least: kib, Limit: time.Minute,
		Do: func(ctx context.Context, i int) error {
			select {
			case <-time.After(5 * time.Millisecond):
			case <-ctx.Done():
				return ctx.Err()
			}
			f.calls++
			if f.after != nil {
				f.after(f.calls, &f.usage)
			}
			return f.fails[i]
		},
		Read: func() (usage.Usage, bool) { return f.usage, f.dies == 0 || f.calls < f.dies },
	}
}

func clean() *fake {
	return &fake{usage: usage.Usage{Memory: 50 * mib, Descriptors: 20, Threads: 8, Processes: 1}}
}

// grows is a server that leaks.
func grows(after func(int, *usage.Usage)) *fake {
	f := clean()
	f.after = after
	return f
}

func tenKiB(_ int, u *usage.Usage) { u.Memory += 10 * kib }

func TestRun(t *testing.T) {
	for _, tt := range []struct {
		name    string
		server  *fake
		change  func(*leak.Options)
		verdict leak.Verdict
		units   int
		failure string
	}{
		{"clean", clean(), nil, leak.NoneShown, 2000, ""},
		{"memory", grows(tenKiB), nil, leak.Leaks, 8000, ""},
		{"descriptors, early", grows(func(_ int, u *usage.Usage) { u.Descriptors++ }), nil, leak.Leaks, 500, ""},
		{"a flood of memory", grows(func(_ int, u *usage.Usage) { u.Memory += 8 * mib }), nil, leak.Leaks, 129, ""},
		{"a high level is no flood", grows(func(i int, u *usage.Usage) { u.Memory = 3 << 30 }), nil, leak.NoneShown, 2000, ""},
		{"one of ten threads", grows(func(i int, u *usage.Usage) { u.Threads += float64(1 - min(1, i%10)) }), nil, leak.Leaks, 500, ""},
		{"processes", grows(func(_ int, u *usage.Usage) { u.Processes++ }), nil, leak.Leaks, 500, ""},
		{"not measured", grows(func(_ int, u *usage.Usage) { u.Descriptors, u.Threads = usage.Unknown, usage.Unknown }), nil, leak.NoneShown, 2000, ""},
		{"the time is over", clean(), func(o *leak.Options) { o.Limit = 5 * time.Second }, leak.Inconclusive, 1000, ""},
		{"the number is reached", grows(tenKiB), func(o *leak.Options) { o.Most = 3000 }, leak.Inconclusive, 3000, ""},
		{"the growth is small enough", grows(tenKiB), func(o *leak.Options) { o.Least = 100 * kib }, leak.NoneShown, 2000, ""},
		{"a session fails", &fake{fails: map[int]error{700: errors.New("refused")}}, nil, leak.Inconclusive, 700, "refused"},
		{"the server ends", &fake{dies: 10}, nil, leak.Inconclusive, 9, "the server ended"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := tt.server.options()
				if tt.change != nil {
					tt.change(&o)
				}
				r := leak.Run(t.Context(), o, leak.Report{Unit: "session"})
				r.Finish("", "", nil, strings.Clone)
				testkit.Equal(t, "the verdict", r.Verdict, tt.verdict)
				testkit.Equal(t, "the units", r.Units, tt.units)
				testkit.Equal(t, "the failure", r.Failure, tt.failure)
				if tt.verdict == leak.Inconclusive && tt.failure == "" && !strings.Contains(strings.Join(r.Summary, "\n"), " would decide: --sessions ") {
					t.Errorf("it does not say what would decide: %q", r.Summary)
				}
				if tt.name == "not measured" && !strings.Contains(strings.Join(r.Summary, "\n"), "descriptors: not measured on this system") {
					t.Errorf("it does not say what was not measured: %q", r.Summary)
				}
			})
		})
	}
}

// An interrupted run has what was measured until then, and no failure.
func TestInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 4002*time.Millisecond)
		defer cancel()
		r := leak.Run(ctx, grows(func(_ int, u *usage.Usage) { u.Memory += 100 * kib }).options(), leak.Report{})
		testkit.Equal(t, "the units", r.Units, 800)
		testkit.Equal(t, "interrupted", r.Interrupted, true)
		testkit.Equal(t, "the failure", r.Failure, "")
		testkit.Equal(t, "the growth", r.Measures[0].Later.Value, 100.0*kib)
	})
}

// After a wait only what a second round adds counts.
func TestSecondRound(t *testing.T) {
	expire := func(keep float64) func(int, *usage.Usage) {
		return func(i int, u *usage.Usage) {
			if i == 8001 { // in the wait, all but a part is freed
				u.Memory = 50*mib + keep*8000*10*kib
			}
			u.Memory += 10 * kib
		}
	}
	for _, tt := range []struct {
		name  string
		after func(int, *usage.Usage)
		want  leak.Verdict
		says  string
	}{
		{"nothing is freed", tenKiB, leak.Leaks, "a second round after 1m30s added 10.0 KiB each"},
		{"all is freed", expire(0), leak.NoneShown, "memory: 10.0 KiB a session in the first round, 0 bytes in the second, after 1m30s"},
		{"half is freed", expire(0.5), leak.Inconclusive, "memory: 10.0 KiB a session in the first round, 5.0 KiB in the second"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := grows(tt.after)
				o := f.options()
				o.Wait = 90 * time.Second
				r := leak.Run(t.Context(), o, leak.Report{Unit: "session", Leave: "vanish"})
				r.Finish("", "", nil, strings.Clone)
				testkit.Equal(t, "the verdict", r.Verdict, tt.want)
				testkit.Equal(t, "sessions", f.calls, 16_000)
				if text := strings.Join(r.Summary, "\n"); !strings.Contains(text, tt.says) {
					t.Errorf("the summary lacks %q: %s", tt.says, text)
				}
				if r.Seconds < 90+16_000*0.005 {
					t.Errorf("it waited too short: %v s", r.Seconds)
				}
			})
		})
	}
	synctest.Test(t, func(t *testing.T) { // a clean server is not asked twice
		f := clean()
		o := f.options()
		o.Wait = time.Hour
		leak.Run(t.Context(), o, leak.Report{})
		testkit.Equal(t, "sessions of a clean server", f.calls, 2000)
	})
}

// Every format shows the findings; the JSON report follows its schema, and damaged ones do
// not.
func TestFormats(t *testing.T) {
	data, err := os.ReadFile("../../../schemas/leak-v1.json")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonv.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	schema, err := jsonschema.Compile(doc, jsonschema.Options{})
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		f := grows(func(_ int, u *usage.Usage) { u.Memory += 300 * kib; u.Threads = usage.Unknown })
		r := leak.Run(t.Context(), f.options(), leak.Report{Unit: "session", Leave: "vanish", Protocol: "2025-11-25", Server: "node <b>server</b>\x1b[2J.js hunter2"})
		r.Finish("1", "the server left 1 process running", []string{"GOGC=25"}, strings.NewReplacer("hunter2", "***").Replace)
		written := map[string]string{}
		for _, format := range leak.Formats() {
			var b strings.Builder
			if err := r.Write(&b, format, term.Palette{}); err != nil {
				t.Fatal(err)
			}
			written[format] = b.String()
			for _, want := range []string{"2,000 sessions", "300.0 KiB", "the server left 1 process running", "not measured", "GOGC=25", "longer than 10s"} {
				if format == "json" && (want == "2,000 sessions" || want == "not measured") {
					continue
				}
				if !strings.Contains(b.String(), want) {
					t.Errorf("%s lacks %q:\n%s", format, want, b.String())
				}
			}
			if strings.Contains(b.String(), "hunter2") {
				t.Errorf("%s has a secret", format)
			}
			if strings.Contains(b.String(), "\x1b") || format == "html" && strings.Contains(b.String(), "<b>server") {
				t.Errorf("%s has text of the server unescaped", format)
			}
		}
		for _, want := range []string{"second half: 300.0 KiB a session", `class="mean"`, `class="trace"`, "default-src &#39;none&#39;"} {
			if page := written["html"]; !strings.Contains(page, want) && !strings.Contains(page, strings.ReplaceAll(want, "&#39;", "'")) {
				t.Errorf("the page lacks %q", want)
			}
		}
		v, err := jsonv.Parse([]byte(written["json"]))
		if err != nil {
			t.Fatal(err)
		}
		check := func(v jsonv.Value) []jsonschema.Violation {
			out, err := schema.Validate(t.Context(), v)
			if err != nil {
				t.Fatal(err)
			}
			return out
		}
		for _, bad := range check(v) {
			t.Errorf("the report: %s: %s", bad.InstancePath, bad.Msg)
		}
		for _, damaged := range []jsonv.Value{v.With("schema", jsonv.String("other")), v.With("verdict", jsonv.String("fine")), v.Without("measures"), v.With("units", jsonv.String("1"))} {
			if len(check(damaged)) == 0 {
				t.Error("a damaged report is valid")
			}
		}
	})
}
