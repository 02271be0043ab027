package line

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"mcptest/internal/assert/expect"
	"mcptest/internal/assert/match"
	"mcptest/internal/assert/snapshot"
	"mcptest/internal/assert/target"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/secret"
	"mcptest/internal/base/source"
	"mcptest/internal/client/mcp"
	"mcptest/internal/process/proc"
	"mcptest/internal/report/result"
	"mcptest/internal/run/record"
	"mcptest/internal/spec/plan"
)

// judge evaluates the assertions of the case on the last call.
func (a *attempt) judge(ctx context.Context) {
	tree := a.c.Tree
	if a.c.FillTree != nil {
		filled, diags := a.c.FillTree(a.steps)
		if diags.HasErrors() {
			a.out.fail(result.Fail, "the expectations could not be filled in with the values of earlier steps: "+diags[0].Msg)
			return
		}
		tree = filled
	}
	last := a.c.Ops[len(a.c.Ops)-1]
	if tree.Uses().Surface() && !(offering{a, a.findServer(last)}).add(ctx) {
		return
	}
	env := a.makeEnv(ctx, last, "")
	// The step's own items have passed, so a failed call that they accept counts as
	// examined.
	env.Examined = env.Examined || last.Tree != nil
	v := tree.Evaluate(context.WithoutCancel(ctx), &a.seen.obs, env)
	c := a.out.c
	c.Implicit = v.Implicit && len(c.Assertions) == 0
	if c.Implicit && c.Silent && last.CancelAfter > 0 {
		c.Implicit = false
		a.out.warn("the call was cancelled before it got a response, and nothing else was checked")
	}
	a.out.addVerdict(v, tree.Threshold)
	if !v.Pass {
		a.seen.late.ExplainMissed(&a.seen.obs, tree.Items, v.Items)
		a.out.fail(result.Fail, a.seen.addChallenge(a.seen.explain(v)))
	}
}

// judgeStep evaluates one step of a flow and keeps its captures. It returns false
// if the step failed, which ends the flow.
func (a *attempt) judgeStep(ctx context.Context, op *plan.Op, i int) bool {
	name := stepName(op, i)
	uses := op.Tree != nil && op.Tree.Uses().Surface()
	for _, cp := range op.Capture {
		uses = uses || cp.Target.Uses().Surface()
	}
	if uses && !(offering{a, a.findServer(op)}).add(ctx) {
		return false
	}
	if op.Tree != nil {
		env := a.makeEnv(ctx, op, cmp.Or(op.Name, name)+": ")
		v := op.Tree.Evaluate(context.WithoutCancel(ctx), &a.seen.obs, env)
		items := record.Assertions(v.Items, false, a.out.c.File)
		for j := range items {
			items[j].Name = strings.TrimSpace(name + " " + items[j].Name)
		}
		a.out.c.Assertions = append(a.out.c.Assertions, items...)
		a.out.warnUnseen(name+": ", v.Items)
		if !v.Pass {
			a.seen.late.ExplainMissed(&a.seen.obs, op.Tree.Items, v.Items)
			a.out.fail(result.Fail, a.seen.addChallenge(name+": "+a.seen.explain(v)))
			return false
		}
	} else if i < len(a.c.Ops)-1 {
		implicit := expect.Merge(expect.Parts{}, expect.Parts{})
		if v := implicit.Evaluate(ctx, &a.seen.obs, nil); !v.Pass {
			a.failStep(name, op.Pos, a.seen.explain(v))
			return false
		}
	}
	for _, cp := range op.Capture {
		val, why := captureValue(cp, &a.seen.obs)
		if why != "" {
			a.failStep(name, cp.Pos, fmt.Sprintf("capture %s: %s", cp.Name, why))
			return false
		}
		a.file.declareSecret(cp, val)
		a.steps = a.steps.With(cp.Name, val)
	}
	return true
}

// captureValue returns the value that a capture takes from an observation, or why there is none.
func captureValue(cp plan.Capture, obs *target.Observation) (val jsonv.Value, why string) {
	val, miss := cp.Target.Eval(obs)
	if miss != nil {
		return val, fmt.Sprint(miss)
	}
	if cp.Regex == nil {
		return val, ""
	}
	part, why := extractPart(cp.Regex, val)
	if why != "" {
		why = fmt.Sprintf("%s %s", cp.Target, why)
	}
	return part, why
}

// extractPart returns the part of a text that an expression captures: its group, or the
// whole match if it has none.
func extractPart(re *regexp.Regexp, v jsonv.Value) (out jsonv.Value, why string) {
	if v.Kind() != jsonv.KindString {
		return out, "is not a text, which the regular expression needs: " + v.Short(80)
	}
	at := re.FindStringSubmatchIndex(v.Text())
	if at == nil || at[len(at)-2] < 0 {
		return out, "does not match /" + re.String() + "/: " + v.Short(80)
	}
	return jsonv.String(v.Text()[at[len(at)-2]:at[len(at)-1]]), ""
}

// declareSecret masks a captured value in all reports if its name, or its name in
// the response, is that of a credential.
func (f *File) declareSecret(cp plan.Capture, val jsonv.Value) {
	const least = 4 // a shorter value is unlikely to be a secret and occurs in other text
	if val.Kind() != jsonv.KindString || len(val.Text()) < least {
		return
	}
	v := val.Text()
	if secret.Holds(cp.Name) || secret.HoldsText(cp.Name, v) || secret.HoldsText(cp.Target.String(), v) {
		f.Declare(v)
	}
}

// failStep fails a case at one of its steps, with the step's position.
func (a *attempt) failStep(name string, pos source.Pos, msg string) {
	msg = a.seen.addChallenge(msg)
	a.out.fail(result.Fail, name+": "+msg)
	r := result.Assertion{Name: name, Message: msg, Line: pos.Line, Column: pos.Col}
	r.File, r.Source = record.Place(pos, false, a.out.c.File)
	a.out.c.Assertions = append(a.out.c.Assertions, r)
}

// makeEnv returns the environment of matchers; step is the prefix of the names of
// snapshots.
func (a *attempt) makeEnv(ctx context.Context, op *plan.Op, step string) *match.Env {
	failed := a.seen.obs.HTTPStatus >= http.StatusBadRequest
	env := &match.Env{Exec: a.file.exec, Examined: failed && examinesHTTP(a.c, op)}
	env.Broken = func(why string) {
		_, late := errors.AsType[*mcp.Limit](context.Cause(ctx))
		if ctx.Err() == nil || late { // the end of the run stops programs too, that of the test's time does not
			a.out.fail(result.Error, why)
		}
	}
	if op.Method == "tools/call" {
		env.Output = func() jsonv.Value { return a.findServer(op).OutputSchema(ctx, op.Subject) }
	}
	offering{a, a.findServer(op)}.runMatchers(ctx, env)
	ungraded := func(err error) { a.out.setUngraded(err, a.file.Capped) }
	models := a.file.Models
	env.Grade = models.Judge(ctx, a.file.Plan.Suite, a.c.Ops[0].Action, a.c.Name, a.number, ungraded)
	if a.snapshots != nil {
		cm := comparer{a.file, a.c, a.out.c, a.snapshots}
		env.Snapshot = func(name string, o *snapshot.Options, s target.Subject) snapshot.Comparison {
			return cm.compare(step+name, o, s)
		}
	}
	return env
}

// exec runs a program of the suite for the exec matcher.
func (f *File) exec(ctx context.Context, argv []string, stdin []byte) ([]byte, error) {
	given := secret.NewProgram()
	given.AddWords(argv)
	f.Declare(given.Secrets()...)
	r := proc.Run(ctx, proc.Spec{
		Argv:     argv,
		Dir:      f.Plan.Dir,
		Env:      f.Plan.HookEnv,
		Stdin:    bytes.NewReader(stdin),
		Registry: f.Registry,
	})
	if err := r.Err(); err != nil {
		if tail := strings.Join(r.Stderr.Lines(3), "; "); tail != "" {
			return nil, fmt.Errorf("%w: %s", err, tail)
		}
		return nil, err
	}
	return r.Stdout.Bytes(), nil
}
