package run_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"mcptest/internal/client/wire"
	"mcptest/internal/report/result"
	"mcptest/internal/run"
	"mcptest/internal/run/connect"
	"mcptest/internal/spec/plan"
)

const oneTest = `
tools:
  - {name: one, tool: ok, args: {label: call one}}
`

// inBubble runs suites in simulated time.
func inBubble(t *testing.T, ctx func() context.Context, change func(*run.Deps), texts ...string) outcome {
	t.Helper()
	return new(sim).inBubble(t, ctx, change, texts...)
}

func (s *sim) inBubble(t *testing.T, ctx func() context.Context, change func(*run.Deps), texts ...string) outcome {
	t.Helper()
	p := compile(t, t.TempDir(), texts...)
	var out outcome
	synctest.Test(t, func(*testing.T) { out = s.run(ctx(), p, change) })
	return out
}

func phases(list []result.Phase) []string {
	var out []string
	for _, p := range list {
		out = append(out, strings.TrimSpace(string(p.Status)+" "+p.Phase+" "+p.Message))
	}
	return out
}

// A hook that exceeds its time limit is reported with the limit.
func TestHookLimits(t *testing.T) {
	out := inBubble(t, context.Background, nil, `
servers: {s: {command: [sim]}}
hooks:
  afterAll:
    - act x 1ms hang
    - {command: act x 1ms hang, mode: context, timeout: 2m}
`+oneTest, `
servers: {s: {command: [sim]}}
hooks:
  timeout: 90s
  afterAll: act x 1ms hang
tools:
  - {name: two, tool: ok}
`)
	want := []string{
		"fail afterAll timed out after 1m0s (limit: hook timeout 1m)",
		"fail afterAll timed out after 2m0s (limit: hook timeout 2m)",
		"fail afterAll timed out after 1m30s (limit: hook timeout 1m30s)",
	}
	if diff := cmp.Diff(want, phases(out.phase)); diff != "" {
		t.Error(diff)
	}
	if out.code != 0 || out.took != 270*time.Second {
		t.Errorf("exit %d after %v", out.code, out.took)
	}
}

// After a signal all cleanup shares ten seconds; each part gets at most half of the
// remaining time, and optional steps are skipped when little time is left.
func TestCleanupSharesTenSeconds(t *testing.T) {
	out := inBubble(t, func() context.Context { return signalled(time.Minute) }, nil, `
servers: {s: {command: [sim]}}
hooks:
  afterAll: [act after1 1ms hang, act after2 1ms hang]
teardown:
  - {run: [act, t1, 1ms, deaf]}
  - {run: [act, t2, 1ms, ok]}
  - {run: [act, t3, 1ms, hang], always: true}
  - {run: [act, t4, 1ms, hang], always: true}
tools:
  - {name: one, tool: hang, args: {label: call one}, timeout: 1h}
  - {name: two, tool: ok, args: {label: call two}}
`)
	want := []string{
		"fail teardown stopped after 4.3s (its share of the clean-up after SIGINT: 3.8s)",
		"skip teardown an earlier teardown step failed",
		"fail teardown stopped after 1.6s (its share of the clean-up after SIGINT: 1.6s)",
		"fail teardown stopped after 813ms (its share of the clean-up after SIGINT: 813ms)",
		"fail afterAll stopped after 406ms (its share of the clean-up after SIGINT: 406ms)",
		"fail afterAll stopped after 203ms (its share of the clean-up after SIGINT: 203ms)",
	}
	if diff := cmp.Diff(want, phases(out.phase)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"call one", "t1", "t3", "t4", "after1", "after2"}, out.log); diff != "" {
		t.Error(diff)
	}
	if out.code != 130 || out.took > 70*time.Second {
		t.Errorf("exit %d after %v", out.code, out.took)
	}
	for _, c := range out.cases {
		if c.Status != result.Skip || c.Message != "interrupted" {
			t.Errorf("%s: %s %s", c.Name, c.Status, c.Message)
		}
	}
}

// The limit also applies to a cleanup that is in progress when the signal arrives.
func TestSignalDuringCleanup(t *testing.T) {
	out := inBubble(t, func() context.Context { return signalled(30 * time.Second) }, nil, `
servers: {s: {command: [sim]}}
hooks:
  afterAll: act after 1s ok
teardown:
  - {run: [act, t1, 1ms, hang], timeout: 10m}
  - {run: [act, t2, 1s, ok], always: true}
  - {run: [act, t3, 1s, ok]}
`+oneTest)
	want := []string{
		"fail teardown stopped after 33.8s (its share of the clean-up after SIGINT: 3.8s)",
		"pass teardown",
		"skip teardown an earlier teardown step failed",
		"pass afterAll",
	}
	if diff := cmp.Diff(want, phases(out.phase)); diff != "" {
		t.Error(diff)
	}
	if out.code != 130 || out.cases[0].Status != result.Pass {
		t.Errorf("exit %d, %s", out.code, out.cases[0].Status)
	}
}

// If less than two seconds are left, only steps with always: true are started.
func TestLittleTimeLeft(t *testing.T) {
	out := inBubble(t, func() context.Context { return signalled(time.Minute) }, nil, `
servers: {s: {command: [sim]}}
setup_per_test:
  - {run: [act, each, 1ms, ok]}
hooks:
  afterEach: [act e 1ms hang, act e 1ms hang, act e 1ms hang]
teardown:
  - {run: [act, unset, 1ms, ok]}
  - {run: [act, always, 1ms, ok], always: true}
tools:
  - {name: one, tool: hang, args: {label: call one}, timeout: 1h}
`)
	want := []string{
		"skip teardown 900ms after SIGINT are left for clean-up",
		"pass teardown",
	}
	if diff := cmp.Diff(want, phases(out.phase)); diff != "" {
		t.Error(diff)
	}
}

// A context that is cancelled without a signal is an interruption too.
func TestCancelled(t *testing.T) {
	out := inBubble(t, func() context.Context {
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(time.Second, cancel)
		return ctx
	}, nil, `
servers: {s: {command: [sim]}}
setup:
  - {run: [act, s, 1m, ok]}
teardown:
  - {run: [act, t, 1s, ok]}
`+oneTest)
	want := []string{"skip setup context canceled", "pass teardown"}
	if diff := cmp.Diff(want, phases(out.phase)); diff != "" {
		t.Error(diff)
	}
	if out.code != run.ExitCancelled || out.cases[0].Message != "interrupted" {
		t.Errorf("exit %d, %q", out.code, out.cases[0].Message)
	}
}

// A panic ends only the hook, step or test in which it occurs; cleanup runs.
func TestPanicsInARun(t *testing.T) {
	for _, tt := range []struct {
		name, suite string
		code        int
		log         string
		status      result.Status
	}{
		{"beforeAll", `
hooks: {beforeAll: act b 1ms panic, afterAll: act a 1ms ok}
`, 1, "b a", result.Fail},
		{"setup", `
hooks: {afterAll: act a 1ms ok}
setup: [{run: [act, s, 1ms, panic]}]
teardown: [{run: [act, t, 1ms, ok]}]
`, 2, "s t a", result.Skip},
		{"beforeEach", `
hooks: {beforeEach: act b 1ms panic, afterEach: act e 1ms ok, afterAll: act a 1ms ok}
`, 1, "b e a", result.Fail},
		{"afterEach", `
hooks: {afterEach: [act e1 1ms panic, act e2 1ms ok], afterAll: act a 1ms ok}
`, 4, "call one e1 e2 a", result.Pass},
		{"teardown", `
teardown: [{run: [act, t1, 1ms, panic]}, {run: [act, t2, 1ms, ok], always: true}]
hooks: {afterAll: act a 1ms ok}
`, 4, "call one t1 t2 a", result.Pass},
		{"afterAll", `
hooks: {afterAll: [act a1 1ms panic, act a2 1ms ok]}
`, 4, "call one a1 a2", result.Pass},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out := inBubble(t, context.Background, nil, "servers: {s: {command: [sim]}}\n"+strings.TrimLeft(tt.suite, "\n")+oneTest)
			if got := strings.Join(out.log, " "); got != tt.log || out.code != tt.code || out.cases[0].Status != tt.status {
				t.Errorf("exit %d, %s, log %q", out.code, out.cases[0].Status, got)
			}
		})
	}
	t.Run("dial", func(t *testing.T) {
		out := inBubble(t, context.Background, func(w *run.Deps) {
			w.Dial = func(context.Context, *plan.Server, connect.Options) (wire.Transport, error) { panic("dial") }
		}, "servers: {s: {command: [sim]}}\nhooks: {afterEach: act e 1ms ok}\n"+oneTest)
		if out.code != 1 || out.cases[0].Status != result.Error || out.cases[0].Message != "internal error: dial" || out.log[0] != "e" {
			t.Errorf("exit %d, %s %s, log %q", out.code, out.cases[0].Status, out.cases[0].Message, out.log)
		}
	})
}
