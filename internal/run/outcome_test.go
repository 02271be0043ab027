package run_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
	"mcptest/internal/process/probe"
	"mcptest/internal/process/proc"
	"mcptest/internal/report/result"
	"mcptest/internal/run"
	"mcptest/internal/run/connect"
	"mcptest/internal/spec/plan"
)

// A violation while several calls are in flight belongs to the run; a test with exclusive
// use of the server fails.
func TestStrayOutput(t *testing.T) {
	const noisy = "tools: [{name: one, tool: noise, args: {label: call}%s}]\n"
	for _, tt := range []struct {
		name, servers, options, test string
		status                       result.Status
		findings                     string // severities
		code                         int
	}{
		{"free", "{command: [sim]}", "{}", "", result.Pass, "error", 1},
		{"tolerated", "{command: [sim], tolerate: [stray-output]}", "{}", "", result.Pass, "warning", 0},
		{"whole file", "{command: [sim]}", "{parallel: false}", "", result.Fail, "", 1},
		{"exclusive", "{command: [sim]}", "{}", ", expect: [{target: notifications, matcher: {length: 0}}]", result.Fail, "", 1},
		{"exclusive and tolerated", "{command: [sim], tolerate: [stray-output]}", "{parallel: false}", "", result.Pass, "", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out := inBubble(t, context.Background, nil,
				"servers: {s: "+tt.servers+"}\nrun_options: "+tt.options+"\n"+fmt.Sprintf(noisy, tt.test))
			var got []string
			for _, f := range out.kind(protocol.StrayOutput) {
				got = append(got, f.Severity)
			}
			if c := out.cases[0]; c.Status != tt.status || strings.Join(got, " ") != tt.findings || out.code != tt.code {
				t.Errorf("exit %d, %s %q, findings %v", out.code, c.Status, c.Message, out.find)
			}
		})
	}
}

// Equal findings are listed up to a limit, and then counted.
func TestManyFindings(t *testing.T) {
	text := "tools:\n"
	for i := range 25 {
		text += fmt.Sprintf("  - {name: t%d, tool: noise, args: {label: x}}\n", i)
	}
	out := fake(t, text)
	list := out.kind(protocol.StrayOutput)
	if len(list) != 21 || list[20].Message != "5 more of this kind were not listed" || out.code != 1 {
		t.Errorf("exit %d, %d findings, the last one %+v", out.code, len(list), list[len(list)-1])
	}
}

func TestExitCodes(t *testing.T) {
	const pass = "tools: [{name: one, tool: ok, args: {label: call}}]\n"
	dial := func(err error) func(*run.Deps) {
		return func(d *run.Deps) {
			d.Dial = func(context.Context, *plan.Server, connect.Options) (wire.Transport, error) { return nil, err }
		}
	}
	late := &connect.NotReadyError{Limit: time.Second, Waited: time.Second, Err: context.DeadlineExceeded}
	for _, tt := range []struct {
		name, suite string
		change      func(*run.Deps)
		code        int
	}{
		{"pass", pass, nil, 0},
		{"not ready", pass, dial(late), run.ExitReady},
		{"probe not ready", pass, dial(&probe.NotReadyError{}), run.ExitReady},
		{"not reachable", pass, dial(context.DeadlineExceeded), run.ExitFailed},
		{"not ready and a failed beforeAll", "hooks: {beforeAll: act b 1ms fail}\n" + pass, dial(late), run.ExitFailed},
		{"setup before a failure", "setup: [{run: [act, s, 1ms, fail]}]\n" + pass, dial(late), run.ExitInvalid},
		{"a final finding", pass, func(d *run.Deps) {
			d.FinalFindings = func() []result.Finding { return []result.Finding{{Kind: "x", Severity: "error"}} }
		}, run.ExitFailed},
		{"a final warning", pass, func(d *run.Deps) {
			d.FinalFindings = func() []result.Finding { return []result.Finding{{Kind: "x", Severity: "warning"}} }
		}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out := inBubble(t, context.Background, tt.change, withServer([]string{tt.suite})...)
			if out.code != tt.code {
				t.Errorf("exit %d, expected %d; %v", out.code, tt.code, out.find)
			}
		})
	}
}

// If a server is not ready and the retry passes, the exit code is 0.
func TestNotReadyAndThenReady(t *testing.T) {
	s := new(sim)
	n := 0
	out := s.inBubble(t, context.Background, func(d *run.Deps) {
		d.Dial = func(ctx context.Context, sv *plan.Server, o connect.Options) (wire.Transport, error) {
			if n++; n == 1 {
				return nil, &probe.NotReadyError{}
			}
			return s.dial(ctx, sv, o)
		}
	}, withServer([]string{"run_options: {restart_policy: per_test}\ntools: [{name: one, tool: ok, args: {label: call}, retries: 1}]\n"})...)
	out.expect(t, "call", "pass", 0)
	if !out.cases[0].Flaky {
		t.Error("not flaky")
	}
}

// Processes that are left at the end are stopped and reported.
func TestLeftoverProcesses(t *testing.T) {
	out := new(sim).inBubble(t, context.Background, func(d *run.Deps) {
		d.KillOrphans = func(ctx context.Context) []proc.Leftover {
			if ctx.Err() != nil {
				t.Error("under a context that has ended")
			}
			return []proc.Leftover{{Pid: 12, Command: "sleep 100", Of: `setup step "s"`}, {Pid: 13, Command: "sleep 200"}}
		}
	}, withServer([]string{"tools: [{name: one, tool: ok}]\n"})...)
	list := out.kind("leftover-process")
	if len(list) != 2 || list[0].Message != `a process was left running by setup step "s": pid 12 sleep 100 (stopped now)` || out.code != 0 {
		t.Errorf("exit %d, %+v", out.code, list)
	}
}

// Events arrive in order: the run, its cases, the end.
func TestEvents(t *testing.T) {
	var got []string
	s := &sim{opts: run.Options{Live: true, Notes: []string{"a note"}}}
	s.inBubble(t, context.Background, func(d *run.Deps) {
		send := d.Send
		d.Send = func(e result.Event) {
			got = append(got, strings.TrimPrefix(fmt.Sprintf("%T", e), "result."))
			send(e)
		}
	}, withServer([]string{"setup: [{run: [act, s, 1ms, ok]}]\ntools: [{name: one, tool: ok}]\n"})...)
	want := "RunStarted Noted PhaseFinished CaseStarted ServerUp CaseFinished ServerDown RunFinished"
	if strings.Join(got, " ") != want {
		t.Errorf("%v", got)
	}
}

// A failed attempt contains the command that runs the case again.
func TestRepro(t *testing.T) {
	s := &sim{opts: run.Options{RerunFlags: []string{"--env", "A=b c"}}}
	out := s.fake(t, "tools: [{name: \"one (1)\u200b\", tool: fail}]\n")
	if got, want := out.cases[0].Repro, `mcptest run f0.yml --filter 're:^one \(1\)\x{200b}$' --env 'A=b c'`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// A violation of a setup call fails the setup; its arguments are compared with
// the tool's inputSchema.
func TestSetupCalls(t *testing.T) {
	for _, tt := range []struct{ name, suite, warning, message string }{
		{"fits", "setup: [{call: {tool: typed, args: {limit: 1}}}]", "", ""},
		{"unknown", "setup: [{call: {tool: typed, args: {limt: 1}}}]", `arguments of typed: "limt" is not in the inputSchema (did you mean "limit"?)`, ""},
		{
			"strict", "run_options: {strict_args: true}\nsetup: [{call: {tool: typed, args: {limit: x}}}]",
			`arguments of typed: "limit" is "x", not of the type integer`,
			`setup failed: call typed: arguments of typed: "limit" is "x", not of the type integer (strict_args)`,
		},
		{"isError", "setup: [{call: {tool: fail}}]", "", "setup failed: call fail: the tool returned isError: true: \"fail\""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &sim{listsTools: true}
			out := s.fake(t, tt.suite+"\ntools: [{name: one, tool: ok}]\n")
			if got := strings.Join(out.phase[0].Warnings, "; "); got != tt.warning {
				t.Errorf("warnings %q", got)
			}
			if c := out.cases[0]; c.Message != tt.message {
				t.Errorf("%s %q", c.Status, c.Message)
			}
		})
	}
}
