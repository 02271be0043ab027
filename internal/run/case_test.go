package run_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"mcptest/internal/report/result"
	"mcptest/internal/run"
)

// one returns the only case of a suite with one test, which has the given keys.
func one(t *testing.T, keys string) (*result.Case, outcome) {
	t.Helper()
	out := fake(t, "tools:\n  - {name: one, "+keys+"}\n")
	if len(out.cases) != 1 {
		t.Fatalf("%d cases", len(out.cases))
	}
	return out.cases[0], out
}

func TestRetries(t *testing.T) {
	for _, tt := range []struct {
		from, retries, attempts int
		status                  result.Status
		flaky                   bool
	}{
		{1, 2, 0, result.Pass, false}, // no attempts are listed for a single one
		{2, 2, 2, result.Pass, true},
		{3, 2, 3, result.Pass, true},
		{4, 2, 3, result.Fail, false},
		{2, 0, 0, result.Fail, false},
	} {
		c, out := one(t, fmt.Sprintf("tool: flaky, args: {label: l, from: %d}, retries: %d", tt.from, tt.retries))
		if c.Status != tt.status || c.Flaky != tt.flaky || len(c.Attempts) != tt.attempts {
			t.Errorf("pass at call %d with %d retries: %s, flaky %v, %d attempts", tt.from, tt.retries, c.Status, c.Flaky, len(c.Attempts))
		}
		if want := map[result.Status]int{result.Pass: 0, result.Fail: 1}[tt.status]; out.code != want {
			t.Errorf("exit %d", out.code)
		}
	}
}

func TestRepeat(t *testing.T) {
	for _, tt := range []struct {
		from   int
		rate   string
		passed int
		status result.Status
	}{
		{1, "1.0", 4, result.Pass},
		{2, "1.0", 3, result.Fail},
		{3, "0.5", 2, result.Pass}, // the limit is included
		{4, "0.5", 1, result.Fail},
	} {
		c, _ := one(t, fmt.Sprintf("tool: flaky, args: {label: l, from: %d}, repeat: {times: 4, pass_rate: %s}", tt.from, tt.rate))
		if c.Status != tt.status || c.Repeat == nil || c.Repeat.Passed != tt.passed || len(c.Attempts) != 4 {
			t.Errorf("pass from call %d, rate %s: %s, %+v", tt.from, tt.rate, c.Status, c.Repeat)
		}
	}
}

// Every attempt has its own test scope.
func TestRetriesRepeatTheTestScope(t *testing.T) {
	out := fake(t, `
hooks: {beforeEach: act before 1ms ok, afterEach: act after 1ms ok}
setup_per_test: [{run: [act, setup, 1ms, ok]}]
tools:
  - {name: one, tool: flaky, args: {label: call, from: 2}, retries: 3}
`)
	out.expect(t, "before setup call after before setup call after", "pass", 0)
	c := out.cases[0]
	if len(c.Attempts) != 2 || len(c.Attempts[0].Phases) != 3 || c.Attempts[1].Phases != nil || len(c.Phases) != 3 {
		t.Errorf("attempts %+v", c.Attempts)
	}
}

// A signal during a retry keeps the result of the attempt before it.
func TestSignalDuringARetry(t *testing.T) {
	out := new(sim).inBubble(t, func() context.Context { return signalled(1500 * time.Millisecond) }, nil, withServer([]string{`
hooks: {beforeEach: act before 1s ok}
tools:
  - {name: one, tool: fail, args: {label: call}, retries: 3}
`})...)
	c := out.cases[0]
	if c.Status != result.Fail || out.code != 130 || strings.Join(out.log, " ") != "before call before" {
		t.Errorf("exit %d, %s %q, log %v", out.code, c.Status, c.Message, out.log)
	}
	if len(c.Warnings) != 1 || c.Warnings[0] != "attempt 2: skipped: interrupted" {
		t.Errorf("warnings %q", c.Warnings)
	}
}

func TestTimeouts(t *testing.T) {
	for _, tt := range []struct{ name, suite, message string }{
		{"test", "tools: [{name: one, tool: hang, timeout: 2s}]", "limit: timeout 2s"},
		{"run_options", "run_options: {timeout: 3s}\ntools: [{name: one, tool: hang}]", "limit: timeout 3s"},
		{"default", "tools: [{name: one, tool: hang}]", "limit: timeout 30s"},
		{"step", "tools: [{name: one, timeout: 9s, steps: [{tool: hang, timeout: 4s}]}]", "limit: timeout of the step 4s"},
		{"steps together", "tools: [{name: one, timeout: 250ms, steps: [{tool: slow}, {tool: slow}, {tool: slow}]}]", "limit: timeout 250ms"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := fake(t, tt.suite).cases[0]
			if c.Status != result.Error || !strings.Contains(c.Message, tt.message) {
				t.Errorf("%s %q, expected %q", c.Status, c.Message, tt.message)
			}
		})
	}
}

// The time limit of a test applies to its calls: hooks and fixtures have separate limits.
func TestHooksDoNotUseTheTimeOfATest(t *testing.T) {
	fake(t, `
hooks: {beforeEach: act before 20s ok, afterEach: act after 20s ok}
setup_per_test: [{run: [act, setup, 20s, ok]}]
tools: [{name: one, tool: slow, args: {label: call}, timeout: 200ms}]
`).expect(t, "before setup call after", "pass", 0)
}

func TestFailFast(t *testing.T) {
	const tests = `
tools:
  - {name: a, tool: ok, args: {label: a}}
  - {name: b, tool: fail, args: {label: b}}
  - {name: c, tool: ok, args: {label: c}}
  - {name: d, tool: ok, args: {label: d}, skip: not today}
`
	out := fake(t, "run_options: {fail_fast: true}"+tests)
	out.expect(t, "a b", "pass fail skip skip", 1)
	if out.cases[2].Message != `not run: fail-fast after "b"` || out.cases[3].Message != "not today" {
		t.Errorf("messages %q, %q", out.cases[2].Message, out.cases[3].Message)
	}
	fake(t, tests).expect(t, "a b c", "pass fail pass skip", 1)
}

// fail_fast ends the later files as well, but not their cleanup.
func TestFailFastEndsLaterFiles(t *testing.T) {
	out := fake(t,
		"run_options: {fail_fast: true}\nhooks: {afterAll: act after1 1ms ok}\nteardown: [{run: [act, teardown1, 1ms, ok]}]\ntools: [{name: a, tool: fail, args: {label: a}}]\n",
		"hooks: {beforeAll: act before2 1ms ok}\ntools: [{name: b, tool: ok, args: {label: b}}]\n")
	out.expect(t, "a teardown1 after1", "fail skip", 1)
}

// A retry that passes does not end the run.
func TestFailFastAfterRetries(t *testing.T) {
	fake(t, `
run_options: {fail_fast: true}
tools:
  - {name: a, tool: flaky, args: {label: a, from: 2}, retries: 1}
  - {name: b, tool: ok, args: {label: b}}
`).expect(t, "a a b", "pass pass", 0)
}

func TestSkips(t *testing.T) {
	out := fake(t, `
hooks: {beforeEach: {command: act before 1ms skip, mode: context}, afterEach: act after 1ms ok}
tools:
  - {name: a, tool: ok, args: {label: a}, skip: not today}
  - {name: b, tool: ok, args: {label: b}, retries: 2}
`)
	out.expect(t, "before after", "skip skip", 0)
	if out.cases[0].Message != "not today" || out.cases[1].Message != "no creds" {
		t.Errorf("messages %q, %q", out.cases[0].Message, out.cases[1].Message)
	}
	out = fake(t, `
hooks: {beforeAll: {command: act before 1ms skip, mode: context}, afterAll: act after 1ms ok}
setup: [{run: [act, setup, 1ms, ok]}]
tools: [{name: a, tool: ok, args: {label: a}}]
`)
	out.expect(t, "before after", "skip", 0)
	if out.cases[0].Message != "no creds" {
		t.Errorf("message %q", out.cases[0].Message)
	}
}

// A server that cannot be started fails every case that needs it, and is started only once.
func TestServerThatCannotBeStarted(t *testing.T) {
	out := inBubble(t, context.Background, nil, `
servers: {s: {command: [sim]}, gone: {command: [unstartable]}}
tools:
  - {name: a, server: gone, tool: ok}
  - {name: b, server: gone, tool: ok}
  - {name: c, server: s, tool: ok}
`)
	out.expect(t, "", "error error pass", 1)
	if m := out.cases[0].Message; !strings.HasPrefix(m, `server "gone": cannot start the server`) || m != out.cases[1].Message {
		t.Errorf("messages %q, %q", m, out.cases[1].Message)
	}
}

// A server that crashed is restarted for the next test, so a second crash costs no other
// test its verdict.
func TestServerIsRestarted(t *testing.T) {
	s := &sim{logServers: true}
	out := s.fake(t, `
run_options: {parallel: false}
tools:
  - {name: a, tool: crash, args: {label: a}}
  - {name: b, tool: ok, args: {label: b}}
  - {name: c, tool: crash, args: {label: c}}
  - {name: d, tool: ok, args: {label: d}}
`)
	// It is undefined when the simulated server notices that it has exited.
	out.log = slices.DeleteFunc(out.log, func(entry string) bool { return entry == "stop s" })
	out.expect(t, "start s a start s b c start s d", "error pass error pass", 1)
	if !out.cases[1].AfterRestart || out.cases[0].AfterRestart || !out.cases[3].AfterRestart {
		t.Error("the cases after a restart are not marked")
	}
	if n := len(out.kind("server-restarted")); n != 2 {
		t.Errorf("%d findings about a restart", n)
	}
}

// After ten restarts the remaining tests are errors with a message of their own.
func TestServerIsNotRestartedForever(t *testing.T) {
	s := &sim{}
	var tests strings.Builder
	for i := range 12 {
		fmt.Fprintf(&tests, "  - {name: crash %d, tool: crash}\n  - {name: ok %d, tool: ok}\n", i, i)
	}
	out := s.fake(t, "run_options: {parallel: false}\ntools:\n"+tests.String())
	const lastCrash = 20 // the eleventh
	for i, c := range out.cases {
		crash := i%2 == 0
		if wantError := crash || i > lastCrash; wantError != (c.Status == result.Error) {
			t.Errorf("%s: %s: %s", c.Name, c.Status, c.Message)
		}
		if i > lastCrash && (!strings.Contains(c.Message, "died or hung 11 times") || !strings.Contains(c.Message, "restart_policy: per_test") || c.Stderr != "") {
			t.Errorf("%s: %q, stderr %q", c.Name, c.Message, c.Stderr)
		}
	}
}

// kind returns the findings of a kind.
func (o outcome) kind(kind string) []result.Finding {
	var out []result.Finding
	for _, f := range o.find {
		if f.Kind == kind {
			out = append(out, f)
		}
	}
	return out
}

func TestRestartPolicies(t *testing.T) {
	file := func(policy, n string) string {
		return "run_options: {restart_policy: " + policy + ", parallel: false}\ntools:\n" +
			"  - {name: a, tool: ok, args: {label: a" + n + "}}\n  - {name: b, tool: ok, args: {label: b" + n + "}}\n"
	}
	for _, tt := range []struct{ policy, log string }{
		{"per_run", "start s a1 b1 a2 b2 stop s"},
		{"per_file", "start s a1 b1 stop s start s a2 b2 stop s"},
		{"per_test", "start s a1 stop s start s b1 stop s start s a2 stop s start s b2 stop s"},
	} {
		t.Run(tt.policy, func(t *testing.T) {
			s := &sim{logServers: true}
			s.fake(t, file(tt.policy, "1"), file(tt.policy, "2")).expect(t, tt.log, "pass pass pass pass", 0)
		})
	}
}

// With per_test, setup's server is not the test's, but setup_per_test's server is; retries
// get a new one.
func TestRestartPerTestAroundFixtures(t *testing.T) {
	s := &sim{logServers: true}
	s.fake(t, `
run_options: {restart_policy: per_test}
setup: [{call: {tool: ok, args: {label: setup}}}]
setup_per_test: [{call: {tool: ok, args: {label: each}}}]
tools:
  - {name: one, tool: flaky, args: {label: call, from: 2}, retries: 1}
`).expect(t, "start s setup stop s start s each call stop s start s each call stop s", "pass", 0)
}

// A baseline may change a status before it counts.
func TestOnCaseDone(t *testing.T) {
	out := new(sim).inBubble(t, context.Background, func(d *run.Deps) {
		d.OnCaseDone = func(c *result.Case) {
			if c.Name == "known" {
				c.Status = result.Skip
			}
		}
	}, withServer([]string{`
run_options: {fail_fast: true}
tools:
  - {name: known, tool: fail, args: {label: a}}
  - {name: next, tool: ok, args: {label: b}}
`})...)
	out.expect(t, "a b", "skip pass", 0)
}

// A flow ends at its first failed step.
func TestFlowStopsAtAFailedStep(t *testing.T) {
	out := fake(t, `
tools:
  - name: flow
    steps:
      - {tool: ok, args: {label: s1}, capture: {got: text}}
      - {tool: ok, args: {label: "${steps.got}"}}
      - {tool: fail, args: {label: s3}}
      - {tool: ok, args: {label: s4}}
`)
	out.expect(t, "s1 ok s3", "fail", 1)
	if !strings.HasPrefix(out.cases[0].Message, "step 3 (tools/call fail): ") {
		t.Errorf("message %q", out.cases[0].Message)
	}
}
