package run_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"mcptest/internal/process/proc"

	"pgregory.net/rapid"

	"mcptest/internal/report/result"
)

// randomFile is a suite file whose hooks, steps and tests have random outcomes.
type randomFile struct {
	beforeAll, afterAll, beforeEach, afterEach []action
	setup, perTest, teardown                   []action
	tests                                      []randomTest
	failFast                                   bool
	policy                                     string
}

type action struct {
	label, end string
	context    bool
	call       string // a tool in place of a program
	always     string // "", true or false
	after      time.Duration
}

type randomTest struct {
	name, tool, server string
	retries, repeat    int
	skip               bool
}

func drawAction(t *rapid.T, label string, step bool) action {
	a := action{label: label, after: time.Duration(rapid.IntRange(0, 2000).Draw(t, "ms")) * time.Millisecond}
	ends := []string{"ok", "ok", "ok", "ok", "ok", "fail", "hang", "deaf", "missing", "panic"}
	if !step && rapid.Bool().Draw(t, "context") {
		a.context = true
		ends = append(ends, "patch", "patch", "skip", "garbage")
	}
	a.end = rapid.SampledFrom(ends).Draw(t, "end")
	if step && rapid.IntRange(0, 3).Draw(t, "call") == 0 {
		a.call = rapid.SampledFrom([]string{"ok", "ok", "fail", "slow", "hang", "crash"}).Draw(t, "tool")
	}
	if strings.Contains(label, "teardown") {
		a.always = rapid.SampledFrom([]string{"", "true", "false"}).Draw(t, "always")
	}
	return a
}

func drawFile(t *rapid.T, n int) randomFile {
	list := func(phase string, step bool) []action {
		var out []action
		for i := range rapid.SampledFrom([]int{0, 0, 0, 1, 2}).Draw(t, phase) {
			out = append(out, drawAction(t, fmt.Sprintf("f%d-%s-%d", n, phase, i), step))
		}
		return out
	}
	f := randomFile{
		beforeAll: list("beforeAll", false), afterAll: list("afterAll", false),
		beforeEach: list("beforeEach", false), afterEach: list("afterEach", false),
		setup: list("setup", true), perTest: list("setup_per_test", true), teardown: list("teardown", true),
		failFast: rapid.IntRange(0, 4).Draw(t, "fail-fast") == 0,
		policy:   rapid.SampledFrom([]string{"per_run", "per_run", "per_file", "per_test"}).Draw(t, "policy"),
	}
	for i := range rapid.IntRange(1, 4).Draw(t, "tests") {
		f.tests = append(f.tests, randomTest{
			name: fmt.Sprintf("f%d-test-%d", n, i), skip: rapid.IntRange(0, 6).Draw(t, "skip") == 0,
			tool:    rapid.SampledFrom([]string{"ok", "ok", "ok", "fail", "slow", "hang", "crash"}).Draw(t, "tool"),
			server:  rapid.SampledFrom([]string{"a", "a", "a", "b", "gone"}).Draw(t, "server"),
			retries: rapid.SampledFrom([]int{0, 0, 2}).Draw(t, "retries"),
			repeat:  rapid.SampledFrom([]int{0, 0, 3}).Draw(t, "repeat"),
		})
	}
	return f
}

// text is the file as YAML.
func (f randomFile) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "servers: {a: {command: [sim]}, b: {command: [sim, b]}, gone: {command: [unstartable]}}\ndefault_server: a\n")
	fmt.Fprintf(&b, "run_options: {fail_fast: %t, restart_policy: %s}\nhooks:\n  timeout: 3s\n", f.failFast, f.policy)
	hooks := func(name string, list []action) {
		fmt.Fprintf(&b, "  %s:\n", name)
		if len(list) == 0 {
			b.WriteString("    []\n")
		}
		for _, a := range list {
			cmd := fmt.Sprintf("act %s %v %s", a.label, a.after, a.end)
			if a.context {
				fmt.Fprintf(&b, "    - {command: %s, mode: context}\n", cmd)
			} else {
				fmt.Fprintf(&b, "    - %s\n", cmd)
			}
		}
	}
	hooks("beforeAll", f.beforeAll)
	hooks("afterAll", f.afterAll)
	hooks("beforeEach", f.beforeEach)
	hooks("afterEach", f.afterEach)
	steps := func(name string, list []action) {
		if len(list) == 0 {
			return
		}
		fmt.Fprintf(&b, "%s:\n", name)
		for _, a := range list {
			fmt.Fprintf(&b, "  - name: %s\n    timeout: 3s\n", a.label)
			if a.call != "" {
				fmt.Fprintf(&b, "    call: {tool: %s, args: {label: %s}}\n", a.call, a.label)
			} else {
				fmt.Fprintf(&b, "    run: [act, %s, %v, %s]\n", a.label, a.after, a.end)
			}
			if a.always != "" {
				fmt.Fprintf(&b, "    always: %s\n", a.always)
			}
		}
	}
	steps("setup", f.setup)
	steps("setup_per_test", f.perTest)
	steps("teardown", f.teardown)
	b.WriteString("tools:\n")
	for _, t := range f.tests {
		fmt.Fprintf(&b, "  - name: %s\n    server: %s\n    tool: %s\n    args: {label: %s}\n    timeout: 2s\n", t.name, t.server, t.tool, t.name)
		if t.skip {
			b.WriteString("    skip: not today\n")
		}
		if t.repeat > 0 {
			fmt.Fprintf(&b, "    repeat: {times: %d, pass_rate: 0.5}\n", t.repeat)
		} else if t.retries > 0 {
			fmt.Fprintf(&b, "    retries: %d\n", t.retries)
		}
	}
	return b.String()
}

// For all behaviors of hooks, steps, tests and servers, and a signal at any time: test
// scopes are balanced, each test has one status, teardown ran, and the exit code is the
// documented one.
func TestRandomPlans(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		var files []randomFile
		var texts []string
		for i := range rapid.IntRange(1, 2).Draw(rt, "files") {
			files = append(files, drawFile(rt, i))
			texts = append(texts, files[i].text())
		}
		signal := time.Duration(-1)
		if rapid.Bool().Draw(rt, "interrupted") {
			signal = time.Duration(rapid.IntRange(0, 30_000).Draw(rt, "at")) * time.Millisecond
		}
		p := compile(t, dir, texts...)
		var out outcome
		synctest.Test(t, func(*testing.T) {
			ctx, cancel := context.WithCancelCause(context.Background())
			defer cancel(nil)
			if signal >= 0 {
				defer time.AfterFunc(signal, func() { cancel(&proc.Interrupted{Signal: "SIGINT", Code: 130}) }).Stop()
			}
			out = new(sim).run(ctx, p, nil)
		})
		if err := check(files, out, signal); err != nil {
			rt.Fatalf("%v\nexit %d after %v, signal at %v\nlog: %s\nphases: %s\n%s", err, out.code, out.took, signal,
				strings.Join(out.log, " "), strings.Join(phases(out.phase), "\n        "), strings.Join(texts, "---\n"))
		}
	})
}

// check checks the properties of every run.
func check(files []randomFile, out outcome, signal time.Duration) error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	interrupted := out.code == 130
	if interrupted && (signal < 0 || out.took < signal) {
		bad("interrupted without a signal")
	}
	if signal >= 0 && out.took > signal+cleanupBound {
		bad("the run took %v after the signal", out.took-signal)
	}
	if out.ended != 1 {
		bad("the end of the run was sent %d times", out.ended)
	}
	i, rest := 0, out.log
	for n, f := range files {
		for _, t := range f.tests {
			if i >= len(out.cases) || out.cases[i].Index != i || out.cases[i].Name != t.name {
				bad("test %s has no verdict, or more than one: %d of %d", t.name, i, len(out.cases))
				break
			}
			c := out.cases[i]
			i++
			if c.Status == "" || t.skip && (c.Status != result.Skip || c.Message != "not today") {
				bad("%s: %q %q", t.name, c.Status, c.Message)
			}
			if c.Status == result.Pass && (t.tool == "hang" || t.tool == "crash" || t.tool == "fail" || t.server == "gone") {
				bad("%s passed on %s", t.name, t.tool)
			}
			if c.Status == result.Error && strings.HasPrefix(c.Message, "interrupted") {
				bad("%s: an interruption is no error: %s", t.name, c.Message)
			}
		}
		var mine []string
		prefix := fmt.Sprintf("f%d-", n)
		for len(rest) > 0 && strings.HasPrefix(rest[0], prefix) {
			mine, rest = append(mine, strings.TrimPrefix(rest[0], prefix)), rest[1:]
		}
		errs = append(errs, checkFile(f, prefix, mine, out)...)
	}
	if len(rest) > 0 {
		bad("files are not run one after the other: %v", rest)
	}
	if want := wantCode(out); !interrupted && out.code != want {
		bad("exit %d, want %d", out.code, want)
	}
	return errors.Join(errs...)
}

// cleanupBound is ten seconds plus the time for stopping programs and servers: half a
// second for a program that ignores SIGTERM, and the grace period of a server.
const cleanupBound = 15 * time.Second

// wantCode computes the exit code from the reports.
func wantCode(out outcome) int {
	code := 0
	for _, f := range out.find {
		if f.Kind == "internal-error" {
			code = 4
		}
	}
	for _, c := range out.cases {
		if c.Status == result.Fail || c.Status == result.Error {
			code = 1
		}
	}
	for _, f := range out.find {
		if f.Severity == "error" {
			code = 1
		}
	}
	for _, p := range out.phase {
		if p.Phase == "beforeAll" && p.Status == result.Fail {
			code = 1
		}
	}
	for _, p := range out.phase {
		if p.Phase == "setup" && p.Status == result.Fail {
			return 2
		}
	}
	return code
}

// checkFile checks the scopes of one file with the log of what was started.
func checkFile(f randomFile, prefix string, log []string, out outcome) (errs []error) {
	bad := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf(prefix+": "+format, args...))
	}
	reported := map[string]int{}
	var teardownPhases, afterPhases int
	for _, p := range out.phase {
		if strings.Contains(p.Name, prefix) {
			reported[p.Phase]++
			switch {
			case p.Phase == "afterAll":
				afterPhases++
			case p.Phase == "teardown":
				teardownPhases++
			}
		}
	}
	order := []string{"beforeAll", "setup", "test", "teardown", "afterAll"}
	at := 0
	begun := map[string]bool{}
	open, each := false, 0
	calls := map[string]bool{}
	for _, a := range slices.Concat(f.setup, f.perTest, f.teardown) {
		calls[strings.TrimPrefix(a.label, prefix)] = a.call != ""
	}
	for _, label := range log {
		phase := label[:strings.LastIndexByte(label, '-')]
		group := phase
		switch phase {
		case "beforeEach", "setup_per_test", "afterEach":
			group = "test"
		}
		if (phase == "test" || calls[label]) && interruptedRun(out) {
			continue // a call that was given up may reach its server late
		}
		i := slices.Index(order, group)
		if i < at {
			bad("%s after %s", phase, order[at])
		}
		at = max(at, i)
		begun[group] = true
		switch phase {
		case "beforeEach":
			if strings.HasSuffix(label, "-0") {
				if open && len(f.afterEach) > 0 {
					bad("a test scope begins inside another")
				}
				open, each = true, each+1
			}
		case "afterEach":
			if strings.HasSuffix(label, "-0") {
				if !open && len(f.beforeEach) > 0 {
					bad("afterEach without its beforeEach")
				}
				open, each = false, each-1
			}
		}
	}
	if open && len(f.afterEach) > 0 && !outOfTime(out) {
		bad("a test scope is not closed")
	}
	started := len(log) > 0
	if started && afterPhases != len(f.afterAll) {
		bad("%d of %d afterAll hooks are reported", afterPhases, len(f.afterAll))
	}
	if (begun["setup"] || begun["test"]) && teardownPhases != len(f.teardown) {
		bad("%d of %d teardown steps are reported", teardownPhases, len(f.teardown))
	}
	if len(f.setup) > 0 && reported["setup"] == 0 && teardownPhases > 0 && !interruptedRun(out) {
		bad("teardown without setup")
	}
	for _, a := range f.teardown {
		if a.always == "true" && teardownPhases > 0 && a.call == "" && !slices.Contains(log, strings.TrimPrefix(a.label, prefix)) && !outOfTime(out) {
			bad("%s did not run", a.label)
		}
	}
	return errs
}

func interruptedRun(out outcome) bool { return out.code == 130 }

// outOfTime reports whether the ten seconds were over before cleanup was complete.
func outOfTime(out outcome) bool {
	return slices.ContainsFunc(out.phase, func(p result.Phase) bool {
		return strings.Contains(p.Message, "left for clean-up")
	}) || slices.ContainsFunc(out.cases, func(c *result.Case) bool {
		return slices.ContainsFunc(c.Phases, func(p result.Phase) bool { return strings.Contains(p.Message, "left for clean-up") })
	})
}
