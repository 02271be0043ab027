package run_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"mcptest/internal/report/result"
	"mcptest/internal/run"
)

// fake runs suites with fakes in simulated time; s is the server of each suite.
func fake(t *testing.T, suites ...string) outcome {
	t.Helper()
	return new(sim).fake(t, suites...)
}

func (s *sim) fake(t *testing.T, suites ...string) outcome {
	t.Helper()
	return s.inBubble(t, context.Background, nil, withServer(suites)...)
}

func withServer(suites []string) []string {
	out := make([]string, len(suites))
	for i, text := range suites {
		out[i] = "servers: {s: {command: [sim]}}\n" + strings.TrimLeft(text, "\n")
	}
	return out
}

// statuses returns the verdict of every case: "pass fail skip".
func statuses(out outcome) string {
	var list []string
	for _, c := range out.cases {
		list = append(list, string(c.Status))
	}
	return strings.Join(list, " ")
}

// expect compares the log, the statuses and the exit code.
func (o outcome) expect(t *testing.T, log, status string, code int) {
	t.Helper()
	if got := strings.Join(o.log, " "); got != log {
		t.Errorf("log  %s\nwant %s", got, log)
	}
	if got := statuses(o); got != status || o.code != code {
		t.Errorf("exit %d, %s; expected %d, %s", o.code, got, code, status)
	}
}

// everything is a file with all kinds of hooks and steps, whose test calls a tool. The
// words define how its parts end; the default is ok.
func everything(ends map[string]string) string {
	end := func(label string) string {
		if e := ends[label]; e != "" {
			return e
		}
		return "ok"
	}
	var b strings.Builder
	b.WriteString("hooks:\n  timeout: 5s\n")
	for _, phase := range []string{"beforeAll", "afterAll", "beforeEach", "afterEach"} {
		b.WriteString("  " + phase + ": [act " + phase + "1 1s " + end(phase+"1") + ", act " + phase + "2 1s " + end(phase+"2") + "]\n")
	}
	for _, phase := range []string{"setup", "setup_per_test", "teardown"} {
		b.WriteString(phase + ":\n")
		for _, n := range []string{"1", "2"} {
			b.WriteString("  - {run: [act, " + phase + n + ", 1s, " + end(phase+n) + "], timeout: 5s}\n")
		}
	}
	b.WriteString("tools:\n  - {name: one, tool: " + end("tool") + ", args: {label: call}, timeout: 5s}\n")
	return b.String()
}

// Everything runs in the documented order, and cleanup runs after every failure.
func TestOrder(t *testing.T) {
	const (
		before = "beforeAll1 beforeAll2 setup1 setup2"
		each   = "beforeEach1 beforeEach2 setup_per_test1 setup_per_test2 call afterEach1 afterEach2"
		after  = "teardown1 teardown2 afterAll1 afterAll2"
	)
	for _, tt := range []struct {
		name   string
		ends   map[string]string
		log    string
		status string
		code   int
	}{
		{"all pass", nil, before + " " + each + " " + after, "pass", 0},
		{"the test fails", map[string]string{"tool": "fail"}, before + " " + each + " " + after, "fail", 1},
		{"the test times out", map[string]string{"tool": "hang"}, before + " " + each + " " + after, "error", 1},
		{"the server crashes", map[string]string{"tool": "crash"}, before + " " + each + " " + after, "error", 1},
		{"beforeAll fails", map[string]string{"beforeAll1": "fail"}, "beforeAll1 afterAll1 afterAll2", "fail", 1},
		{"beforeAll times out", map[string]string{"beforeAll2": "hang"}, "beforeAll1 beforeAll2 afterAll1 afterAll2", "fail", 1},
		{"setup fails", map[string]string{"setup1": "fail"}, "beforeAll1 beforeAll2 setup1 " + after, "skip", 2},
		{"setup times out", map[string]string{"setup2": "hang"}, before + " " + after, "skip", 2},
		{
			"beforeEach fails",
			map[string]string{"beforeEach1": "fail"},
			before + " beforeEach1 afterEach1 afterEach2 " + after, "fail", 1,
		},
		{
			"beforeEach cannot be started",
			map[string]string{"beforeEach2": "missing"},
			before + " beforeEach1 beforeEach2 afterEach1 afterEach2 " + after, "fail", 1,
		},
		{
			"setup_per_test fails",
			map[string]string{"setup_per_test1": "fail"},
			before + " beforeEach1 beforeEach2 setup_per_test1 afterEach1 afterEach2 " + after, "fail", 1,
		},
		{"afterEach fails", map[string]string{"afterEach1": "fail"}, before + " " + each + " " + after, "pass", 0},
		{"afterEach times out", map[string]string{"afterEach1": "hang"}, before + " " + each + " " + after, "pass", 0},
		{"teardown fails", map[string]string{"teardown1": "fail"}, before + " " + each + " teardown1 afterAll1 afterAll2", "pass", 0},
		{"afterAll fails", map[string]string{"afterAll1": "fail"}, before + " " + each + " " + after, "pass", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fake(t, everything(tt.ends)).expect(t, tt.log, tt.status, tt.code)
		})
	}
}

// A signal ends the current phase; cleanup runs, and nothing else is started.
func TestOrderAfterASignal(t *testing.T) {
	for _, tt := range []struct {
		name, label string // what hangs
		log         string
	}{
		{"beforeAll", "beforeAll1", "beforeAll1 afterAll1 afterAll2"},
		{"setup", "setup1", "beforeAll1 beforeAll2 setup1 teardown1 teardown2 afterAll1 afterAll2"},
		{"beforeEach", "beforeEach1", "beforeAll1 beforeAll2 setup1 setup2 beforeEach1 afterEach1 afterEach2 teardown1 teardown2 afterAll1 afterAll2"},
		{
			"setup_per_test", "setup_per_test2", "beforeAll1 beforeAll2 setup1 setup2 beforeEach1 beforeEach2 setup_per_test1 setup_per_test2 " +
				"afterEach1 afterEach2 teardown1 teardown2 afterAll1 afterAll2",
		},
		{
			"call", "tool", "beforeAll1 beforeAll2 setup1 setup2 beforeEach1 beforeEach2 setup_per_test1 setup_per_test2 call " +
				"afterEach1 afterEach2 teardown1 teardown2 afterAll1 afterAll2",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			// Every part takes a second, and would be stopped after 5.
			text := strings.ReplaceAll(everything(map[string]string{tt.label: "hang"}), "5s", "1h")
			text = strings.ReplaceAll(text, " 1s ", " 100ms ")
			text = strings.ReplaceAll(text, ", 1s,", ", 100ms,") + "  - {name: two, tool: ok, args: {label: never}}\n"
			out := new(sim).inBubble(t, func() context.Context { return signalled(time.Minute) }, nil, withServer([]string{text})...)
			out.expect(t, tt.log, "skip skip", 130)
			if out.took > time.Minute+10*time.Second {
				t.Errorf("it took %v", out.took)
			}
		})
	}
}

// Servers stop after runAfterAll of the last file that uses them.
func TestServersEndAfterTheLastFile(t *testing.T) {
	s := &sim{logServers: true}
	file := func(n string) string {
		return "servers: {s: {command: [sim]}, own: {command: [sim, x" + n + "]}}\ndefault_server: s\nhooks: {afterAll: act after" + n + " 1ms ok}\n" +
			"tools:\n  - {name: a, tool: ok, args: {label: a" + n + "}}\n  - {name: b, tool: ok, server: own, args: {label: b" + n + "}}\nrun_options: {parallel: false}\n"
	}
	out := s.inBubble(t, context.Background, nil, file("1"), file("2"))
	i := func(label string) int {
		for i, l := range out.log {
			if l == label {
				return i
			}
		}
		t.Fatalf("%s is missing: %v", label, out.log)
		return -1
	}
	if i("after1") > i("stop own") || i("stop own") > i("a2") || i("after2") > i("stop s") {
		t.Errorf("log: %v", out.log)
	}
	if n := strings.Count(strings.Join(out.log, " "), "start s"); n != 1 {
		t.Errorf("the shared server was started %d times", n)
	}
}

// A file after an interrupted one is not started.
func TestSignalSkipsLaterFiles(t *testing.T) {
	first := "hooks: {afterAll: act after1 1ms ok}\ntools:\n  - {name: one, tool: hang, args: {label: hang}, timeout: 1h}\n"
	second := "hooks: {beforeAll: act before2 1ms ok, afterAll: act after2 1ms ok}\ntools:\n  - {name: two, tool: ok, args: {label: two}}\n"
	out := new(sim).inBubble(t, func() context.Context { return signalled(time.Minute) }, nil, withServer([]string{first, second})...)
	out.expect(t, "hang after1", "skip skip", 130)
}

// always: false keeps the state after a failure, always: true always runs.
func TestTeardownAlways(t *testing.T) {
	steps := `
teardown:
  - {run: [act, keep, 1ms, ok], always: false}
  - {run: [act, t1, 1ms, %]}
  - {run: [act, t2, 1ms, ok]}
  - {run: [act, t3, 1ms, ok], always: true}
tools:
  - {name: one, tool: @, args: {label: call}}
`
	for _, tt := range []struct{ tool, step, log string }{
		{"ok", "ok", "call keep t1 t2 t3"},
		{"fail", "ok", "call t1 t2 t3"},
		{"ok", "fail", "call keep t1 t3"},
	} {
		out := fake(t, strings.NewReplacer("%", tt.step, "@", tt.tool).Replace(steps))
		if got := strings.Join(out.log, " "); got != tt.log {
			t.Errorf("tool %s, step %s: %s", tt.tool, tt.step, got)
		}
	}
}

// afterAll hooks with mode: context receive the outcome of the file.
func TestPhasesAreReported(t *testing.T) {
	out := fake(t, everything(map[string]string{"setup2": "fail"}))
	var got []string
	for _, p := range out.phase {
		got = append(got, p.Phase+":"+string(p.Status))
	}
	want := "beforeAll:pass beforeAll:pass setup:pass setup:fail teardown:pass teardown:pass afterAll:pass afterAll:pass"
	if strings.Join(got, " ") != want {
		t.Errorf("%v", got)
	}
	if m := out.cases[0].Message; !strings.HasPrefix(m, "setup failed: ") {
		t.Errorf("message %q", m)
	}
}

// With SetupOnly nothing is stopped; TeardownOnly stops it, with the values that the hooks
// set.
func TestSetupOnlyAndTeardownOnly(t *testing.T) {
	text := strings.Replace(everything(nil), "act beforeAll1 1s ok", "{command: act beforeAll1 1s patch, mode: context}", 1)
	var saved []run.SavedState
	up := &sim{opts: run.Options{Phase: run.SetupOnly}}
	out := up.inBubble(t, context.Background, func(d *run.Deps) {
		d.Detach = func(files []run.SavedState) error { saved = files; return nil }
	}, withServer([]string{text})...)
	out.expect(t, "beforeAll1 beforeAll2 setup1 setup2", "skip", 0)
	if out.cases[0].Message != "not run: --setup-only" || len(saved) != 1 || saved[0].Env.Lookup("FROM").Text() != "beforeAll1" {
		t.Errorf("%q, saved %v", out.cases[0].Message, saved)
	}
	down := &sim{opts: run.Options{Phase: run.TeardownOnly, Saved: saved}}
	out = down.fake(t, text)
	if got := strings.Join(out.log, " "); got != "teardown1 teardown2 afterAll1 afterAll2" || out.code != 0 || len(out.cases) != 0 {
		t.Errorf("exit %d, %d cases, %s", out.code, len(out.cases), got)
	}
}

// A failed setup or Detach stops everything, the last file first.
func TestSetupOnlyFails(t *testing.T) {
	file := func(n, end string) string {
		return "setup: [{run: [act, setup" + n + ", 1ms, " + end + "]}]\nteardown: [{run: [act, teardown" + n + ", 1ms, ok]}]\ntools: [{tool: ok, name: t}]\n"
	}
	for _, tt := range []struct {
		name, end, log string
		detach         error
		code           int
	}{
		{"setup", "fail", "setup1 setup2 teardown2 teardown1", nil, 2},
		{"detach", "ok", "setup1 setup2 teardown2 teardown1", context.DeadlineExceeded, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &sim{opts: run.Options{Phase: run.SetupOnly}}
			out := s.inBubble(t, context.Background, func(d *run.Deps) {
				d.Detach = func([]run.SavedState) error { return tt.detach }
			}, withServer([]string{file("1", "ok"), file("2", tt.end)})...)
			out.expect(t, tt.log, "skip skip", tt.code)
		})
	}
}

// The case keeps the warnings and the results of hooks and steps.
func TestPhasesOfACase(t *testing.T) {
	c := fake(t, everything(map[string]string{"afterEach2": "fail"})).cases[0]
	var got []string
	for _, p := range c.Phases {
		got = append(got, p.Phase+":"+string(p.Status))
	}
	if strings.Join(got, " ") != "beforeEach:pass beforeEach:pass setup_per_test:pass setup_per_test:pass afterEach:pass afterEach:fail" {
		t.Errorf("%v", got)
	}
	if len(c.Warnings) != 1 || !strings.HasPrefix(c.Warnings[0], `afterEach hook "act afterEach2 1s fail" failed: `) {
		t.Errorf("warnings %q", c.Warnings)
	}
	if c.Status != result.Pass {
		t.Error(c.Status)
	}
}
