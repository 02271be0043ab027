package run

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"mcptest/internal/expect"
	"mcptest/internal/jsonv"
	"mcptest/internal/mcp"
	"mcptest/internal/plan"
	"mcptest/internal/proc"
	"mcptest/internal/result"
	"mcptest/internal/secret"
	"mcptest/internal/source"
)

// judge evaluates the case's own tree on the last call.
func (a *attempt) judge(ctx context.Context) {
	tree := a.c.Tree
	if a.c.FillTree != nil {
		filled, diags := a.c.FillTree(a.steps)
		if diags.HasErrors() {
			a.fail(result.Fail, "what is expected could not be filled in with the values of the steps: "+diags[0].Msg)
			return
		}
		tree = filled
	}
	env := a.env()
	// The step's own items had to pass before: a failed call they let pass is
	// one that they looked at.
	env.Examined = a.c.Ops[len(a.c.Ops)-1].Tree != nil
	v := tree.Evaluate(context.WithoutCancel(ctx), &a.obs, env)
	a.out.Implicit = v.Implicit && len(a.out.Assertions) == 0
	a.out.Assertions = append(a.out.Assertions, a.assertions(v.Items, v.Scored || len(v.Metrics) > 0)...)
	if v.Scored {
		a.out.Score, a.out.Threshold = v.Score, tree.Threshold
	}
	for _, m := range v.Metrics {
		a.out.DerivedMetrics = append(a.out.DerivedMetrics, result.Metric{
			Name: m.Name, Value: m.Value, Threshold: m.Threshold, Passed: m.Passed, Notes: m.Notes,
		})
	}
	a.out.Warnings = append(a.out.Warnings, v.Notes...)
	a.unseen("", v.Items)
	if !v.Pass {
		a.fail(result.Fail, a.hint()+v.Message)
	}
}

// judgeStep judges one step of a flow and keeps its captures. A step must
// pass before the next one is made.
func (a *attempt) judgeStep(ctx context.Context, op *plan.Op, i int, _ *mcp.Exchange) bool {
	last := i == len(a.c.Ops)-1
	if op.Tree != nil {
		v := op.Tree.Evaluate(context.WithoutCancel(ctx), &a.obs, a.env())
		items := a.assertions(v.Items, false)
		for j := range items {
			items[j].Name = strings.TrimSpace(stepName(op, i) + " " + items[j].Name)
		}
		a.out.Assertions = append(a.out.Assertions, items...)
		a.unseen(stepName(op, i)+": ", v.Items)
		if !v.Pass {
			a.fail(result.Fail, stepName(op, i)+": "+a.hint()+v.Message)
			return false
		}
	} else if !last {
		implicit := expect.Merge(expect.Parts{}, expect.Parts{})
		if v := implicit.Evaluate(ctx, &a.obs, nil); !v.Pass {
			a.failStep(op, i, op.Pos, a.hint()+v.Message)
			return false
		}
	}
	for _, cp := range op.Capture {
		val, miss := cp.Target.Eval(&a.obs)
		if miss != nil {
			a.failStep(op, i, cp.Pos, fmt.Sprintf("capture %s: %s", cp.Name, miss))
			return false
		}
		a.keepSecret(cp, val)
		a.steps = a.steps.With(cp.Name, val)
	}
	return true
}

// unseen warns of assertions that passed without looking at all of their
// values.
func (a *attempt) unseen(before string, items []expect.ItemResult) {
	for i := range items {
		for _, text := range items[i].Unseen {
			a.out.Warnings = append(a.out.Warnings, before+items[i].Target+": "+text)
		}
		a.unseen(before, items[i].Items)
	}
}

// keepSecret keeps a captured value out of all reports when its name, or the
// name it had in the answer, is that of a credential.
func (a *attempt) keepSecret(cp plan.Capture, val jsonv.Value) {
	const least = 4 // below that it is hardly one, and stands for much else
	if a.w.Secret == nil || val.Kind() != jsonv.KindString || len(val.Text()) < least {
		return
	}
	if secret.Holds(cp.Name) || secret.HoldsAt(cp.Target.String()) {
		a.w.Secret(val.Text())
	}
}

// failStep fails a case at one of its steps, and says where that is written.
func (a *attempt) failStep(op *plan.Op, i int, pos source.Pos, msg string) {
	a.fail(result.Fail, stepName(op, i)+": "+msg)
	r := result.Assertion{Name: stepName(op, i), Message: msg, Line: pos.Line, Column: pos.Col}
	r.File, r.Source = a.place(pos, false)
	a.out.Assertions = append(a.out.Assertions, r)
}

// env is what matchers may touch.
func (a *attempt) env() *expect.Env {
	return &expect.Env{Dir: a.file.Dir, Exec: a.exec}
}

// exec runs a program of the suite for the exec matcher.
func (a *attempt) exec(ctx context.Context, argv []string, stdin []byte) ([]byte, error) {
	r := proc.Run(ctx, proc.Spec{Argv: argv, Dir: a.file.Dir, Env: a.file.HookEnv, Stdin: bytes.NewReader(stdin), Keeper: a.w.Keeper})
	if err := r.Err(); err != nil {
		if tail := strings.Join(r.Stderr.Lines(3), "; "); tail != "" {
			return nil, fmt.Errorf("%w: %s", err, tail)
		}
		return nil, err
	}
	return r.Stdout.Bytes(), nil
}

// assertions turns verdicts into their record.
func (a *attempt) assertions(items []expect.ItemResult, scored bool) []result.Assertion {
	out := make([]result.Assertion, 0, len(items))
	for i := range items {
		it := &items[i]
		r := result.Assertion{
			Name: it.Name, Set: it.Set, Target: it.Target, Matcher: it.Matcher, Pass: it.Pass,
			Message: it.Message, Expected: it.Expected, Actual: it.Actual, Diff: it.Diff, Notes: it.Notes,
			Threshold: it.Threshold, Line: it.Pos.Line, Column: it.Pos.Col,
		}
		if scored || it.Set {
			score := it.Score
			r.Score = &score
		}
		if scored {
			weight := it.Weight
			r.Weight = &weight
		}
		r.File, r.Source = a.place(it.Pos, it.Pass)
		if it.Set {
			r.Assertions = a.assertions(it.Items, true)
		}
		out = append(out, r)
	}
	return out
}

// place is the file of an assertion, when it is not the case's, and its line
// when it failed.
func (a *attempt) place(pos source.Pos, pass bool) (file, line string) {
	if pos.File == nil {
		return "", ""
	}
	if pos.File.Name != a.out.File {
		file = pos.File.Name
	}
	if !pass {
		line = strings.TrimRight(pos.File.Line(pos.Line), "\r\n")
	}
	return file, line
}

func headersJSON(h map[string][]string) jsonv.Value {
	var ms []jsonv.Member
	for _, k := range sortedKeys(h) {
		ms = append(ms, jsonv.Member{Key: k, Value: jsonv.String(strings.Join(h[k], ", "))})
	}
	return jsonv.Object(ms...)
}
