package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"mcptest/internal/jsonv"
	"mcptest/internal/mcp"
	"mcptest/internal/plan"
	"mcptest/internal/proc"
	"mcptest/internal/result"
)

// hookOutcome is what came of a list of hooks.
type hookOutcome struct {
	failed      string // why a hook failed; empty: none did
	interrupted bool   // the run was ended meanwhile; failed is empty then
	skip        string // the reason a context hook gave
	patch       patch  // what was known before, with own laid over it
	own         patch  // what these hooks handed over
	phases      []result.Phase
}

// hookCall is what a list of hooks is run for.
type hookCall struct {
	phase string
	test  *plan.Case // nil outside of a test
	after bool       // an after phase: goes on after failures, may not skip
	known verdict    // what an after phase is told
	patch patch
}

// hooks runs a list of hooks in order. Before phases stop at the first
// failure or skip, after phases run to the end.
func (f *fileRun) hooks(ctx context.Context, list []*plan.Hook, call hookCall) hookOutcome {
	out := hookOutcome{patch: call.patch}
	for _, h := range list {
		if !call.after && ctx.Err() != nil {
			out.interrupted = true
			return out
		}
		if left, limited := f.clean.left(); call.after && limited && left <= 0 {
			ph := f.phase(call.phase, h.Command, hookKind(h), h.Pos)
			ph.Status, ph.Message = result.Fail, "not run: no time was left for clean-up"
			out.phases = append(out.phases, ph)
			continue
		}
		ph, got, err := f.oneHook(ctx, h, call, out.patch)
		out.phases = append(out.phases, ph)
		out.own = out.own.with(got.patch)
		out.patch = out.patch.with(got.patch)
		switch {
		case call.after:
		case ph.Status == result.Skip:
			out.interrupted = true
			return out
		case err != nil:
			out.failed = fmt.Sprintf("%s hook %q failed: %v", call.phase, h.Command, err)
			return out
		case got.skip != "":
			out.skip = got.skip
			return out
		}
	}
	return out
}

func hookKind(h *plan.Hook) string {
	if h.Context {
		return "context"
	}
	return "command"
}

// oneHook runs one hook and records it. Its phase is a skip when the run was
// ended meanwhile.
func (f *fileRun) oneHook(ctx context.Context, h *plan.Hook, call hookCall, p patch) (result.Phase, hookAnswer, error) {
	ph := f.phase(call.phase, h.Command, hookKind(h), h.Pos)
	began := time.Now()
	var cancel context.CancelFunc
	if call.after {
		ctx, cancel = f.clean.limit("hook timeout", h.Timeout)
	} else {
		ctx, cancel = mcp.WithLimit(ctx, "hook timeout", h.Timeout)
	}
	defer cancel()
	var got hookAnswer
	var err error
	if fault := f.protect(func() { got, err = f.hook(ctx, h, call, p, &ph) }); fault != "" {
		err = errors.New(fault)
	}
	ph.DurationMS = f.since(began)
	ph.Status = result.Pass
	switch {
	case err != nil && !call.after && givenUp(ctx):
		ph.Status, ph.Message = result.Skip, err.Error()
	case err != nil:
		ph.Status, ph.Message = result.Fail, err.Error()
	}
	if got.skip != "" && call.after {
		ph.Warnings = append(ph.Warnings, "skip is ignored in an after phase")
	}
	return ph, got, err
}

// hook runs one hook's program and reads its answer.
func (f *fileRun) hook(ctx context.Context, h *plan.Hook, call hookCall, p patch, ph *result.Phase) (hookAnswer, error) {
	spec := proc.Spec{
		Name: fmt.Sprintf("%s hook %q", call.phase, h.Command), Argv: h.Argv, Dir: h.Dir, Keeper: f.w.Keeper, Linger: true,
		Env: withEnv(withEnv(f.file.HookEnv, []string{"MCPTEST_HOOK_PHASE=" + call.phase}), p.environ()),
	}
	if h.Context {
		spec.Stdin = bytes.NewReader(f.hookInput(call, p))
	}
	r := f.exec(ctx, spec, ph)
	got, err := hookResult(h, r)
	f.secrets(got.patch) // before anybody sees its output
	f.logProgram(ph, r)
	if err != nil {
		ph.Output = tailOf(r)
	}
	return got, err
}

// hookResult says whether a hook's program did its work, and reads what a
// context hook answered.
func hookResult(h *plan.Hook, r proc.Result) (hookAnswer, error) {
	if err := programError(r); err != nil || !h.Context {
		return hookAnswer{}, err
	}
	if r.Stdout.Dropped() > 0 {
		return hookAnswer{}, fmt.Errorf("its output is over %d bytes", proc.DefaultRunLimit)
	}
	return readPatch(r.Stdout.Bytes())
}

// exec runs a hook's or step's program. What it left running is a warning.
func (f *fileRun) exec(ctx context.Context, spec proc.Spec, ph *result.Phase) proc.Result {
	r := f.w.Exec(ctx, spec)
	for _, l := range r.Leftovers {
		ph.Warnings = append(ph.Warnings, leftWarning(l))
	}
	if r.Held {
		ph.Warnings = append(ph.Warnings, fmt.Sprintf("a process it left running holds its output open, which was waited for (%v): "+
			"make it a background step, or send its output elsewhere (>/dev/null 2>&1)", proc.WaitDelay))
	}
	return r
}

func leftWarning(l proc.Leftover) string {
	return fmt.Sprintf("left a process running: pid %d %s (ended now)", l.Pid, l.Command)
}

// programError says in one line why a program failed: how it ended, or which
// limit it hit.
func programError(r proc.Result) error {
	var limit *mcp.Limit
	var in *Interrupted
	switch {
	case errors.As(r.Cause, &limit) && strings.HasPrefix(limit.Name, cleanupLimit):
		// It may have run before the signal came, and ends after its time.
		return fmt.Errorf("stopped after %v (its share of the %s: %v)", round(r.Duration), limit.Name, limit.For)
	case errors.As(r.Cause, &limit):
		return fmt.Errorf("timed out after %v (limit: %w)", round(r.Duration), limit)
	case errors.As(r.Cause, &in):
		return in
	case r.StartErr == nil && r.Cause == nil && !r.Exit.Success():
		return errors.New(r.Exit.String())
	}
	return r.Err()
}

// round shortens a duration for a message.
func round(d time.Duration) time.Duration {
	if d > time.Second {
		return d.Round(100 * time.Millisecond)
	}
	return d.Round(time.Millisecond)
}

// tailOf is the beginning and the end of what a program wrote, standard error last.
func tailOf(r proc.Result) string {
	lines := append(r.Stdout.Ends(20), r.Stderr.Ends(20)...)
	return strings.Join(lines, "\n")
}

// hookInput is the JSON a context hook reads: all six keys, null where a
// phase has nothing to say.
func (f *fileRun) hookInput(call hookCall, p patch) []byte {
	env, vars := jsonv.Object(), jsonv.Object()
	for _, v := range f.file.Suite.Env {
		env = env.With(v.Name, jsonv.String(v.Value))
	}
	for k, v := range p.env.Members() {
		env = env.With(k, jsonv.String(scalarText(v)))
	}
	for _, v := range f.file.Suite.Variables {
		vars = vars.With(v.Name, v.Value.JSON())
	}
	for k, v := range p.vars.Members() {
		vars = vars.With(k, v)
	}
	named := func(name string) jsonv.Value {
		return jsonv.Object(jsonv.Member{Key: "name", Value: jsonv.String(name)})
	}
	test, res := jsonv.Null(), jsonv.Null()
	if call.test != nil {
		test = hookTest(call.test)
	}
	if call.after {
		res = jsonv.Object(jsonv.Member{Key: "verdict", Value: jsonv.String(string(call.known.status))})
		if call.known.message != "" {
			res = res.With("message", jsonv.String(call.known.message))
		}
	}
	in := jsonv.Object(
		jsonv.Member{Key: "phase", Value: jsonv.String(call.phase)},
		jsonv.Member{Key: "suite", Value: named(f.file.Name)},
		jsonv.Member{Key: "test", Value: test},
		jsonv.Member{Key: "env", Value: env},
		jsonv.Member{Key: "vars", Value: vars},
		jsonv.Member{Key: "result", Value: res},
	).Append(nil)
	return append(in, '\n') // for programs that read lines
}

// hookTest is what a context hook learns of its test: name, server and tags.
// The server is absent where the test has none.
func hookTest(c *plan.Case) jsonv.Value {
	test := jsonv.Object(jsonv.Member{Key: "name", Value: jsonv.String(c.Name)})
	if c.Server != nil {
		test = test.With("server", jsonv.String(c.Server.Name))
	}
	tags := make([]jsonv.Value, len(c.Tags))
	for i, tag := range c.Tags {
		tags[i] = jsonv.String(tag)
	}
	return test.With("tags", jsonv.Array(tags...))
}

// hooksAfterAll runs whatever happened; a failure is reported, never fatal.
func (f *fileRun) hooksAfterAll(ctx context.Context) {
	if len(f.file.AfterAll) == 0 {
		return
	}
	out := f.hooks(f.clean.ctx, f.file.AfterAll, hookCall{
		phase: "afterAll", after: true, known: f.verdict(ctx), patch: f.patch.with(f.afterPatch),
	})
	f.sendPhases(out.phases)
	for _, p := range out.phases {
		if p.Status == result.Fail {
			f.finding(result.Finding{
				Kind: "afterAll", Severity: "warning", File: p.File, Line: p.Line,
				Message: fmt.Sprintf("afterAll hook %q failed: %s", p.Name, p.Message),
			})
		}
	}
}

func (f *fileRun) sendPhases(list []result.Phase) {
	for _, p := range list {
		f.w.Send(result.PhaseFinished{Phase: p})
	}
}
