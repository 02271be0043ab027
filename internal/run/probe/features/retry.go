package features

import (
	"context"
	"fmt"
	"slices"

	"mcptest/internal/assert/target"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
	"mcptest/internal/client/mcp"
	"mcptest/internal/offer/ruleset"
	"mcptest/internal/run/allow"
	"mcptest/internal/run/probe/exam"
)

// Retry makes calls twice with equal arguments, as a client does that lost the response,
// and counts their effects.
func Retry(ctx context.Context, v *exam.Visit) {
	switch {
	case len(v.Retry) == 0:
		v.Enter(exam.Inapplicable("no entry of probe: in a suite names a call that may be repeated"), "retry-once")
		return
	case len(v.Retries.Calls()) > 0:
		v.Enter(exam.Inapplicable("the calls were repeated in another revision"), "retry-once")
		return
	}
	for _, r := range v.Retry {
		v.Check(ctx, "retry-once", "tool "+r.Tool, func(ctx context.Context) exam.Outcome {
			return callTwice(ctx, v, r)
		})
	}
}

func callTwice(ctx context.Context, v *exam.Visit, r *ruleset.Retry) exam.Outcome {
	tool, args := findListedTool(v, r.Tool, r.Args)
	if tool.IsAbsent() {
		return exam.Unverified("%s", explainUnlisted(v, r.Tool))
	}
	before, why := countEffects(ctx, v, r.Effects)
	var x *mcp.Exchange
	v.Retries.Named = []string{r.Tool}
	for range 2 {
		if why == "" {
			why = v.Retries.Call(tool, args)
		}
		if why != "" {
			return exam.Unverified("%s", why)
		}
		x = v.Do(ctx, "tools/call", exam.Params(tool, args))
	}
	after, why := countEffects(ctx, v, r.Effects)
	grown := after - before
	switch {
	case why != "":
		return exam.Unverified("%s", why)
	case grown > 1:
		o := exam.Broken(x, "two equal calls had %d effects", grown)
		o.Once = true
		return o
	case grown < 1:
		return exam.Unverified("no effect of the call was counted: it got %s", describeFailure(x))
	}
	return exam.Held()
}

// findListedTool returns the definition of a tool, absent if it is not listed, and its arguments.
func findListedTool(v *exam.Visit, name string, args *source.Node) (tool, arguments jsonv.Value) {
	arguments = args.JSON()
	if args == nil {
		arguments = jsonv.Object()
	}
	i := slices.IndexFunc(v.Tools, func(t jsonv.Value) bool { return t.Lookup("name").Text() == name })
	if i >= 0 {
		tool = v.Tools[i]
	}
	return tool, arguments
}

// explainUnlisted says that the server lists no tool with a name, and which one was meant.
func explainUnlisted(v *exam.Visit, name string) string {
	var names []string
	for _, tool := range v.Tools {
		names = append(names, tool.Lookup("name").Text())
	}
	return "the server lists no tool " + name + source.Parenthesis(source.DidYouMean(name, names))
}

// countEffects counts what calls have done so far, or says why it cannot.
func countEffects(ctx context.Context, v *exam.Visit, e ruleset.Effects) (n int, why string) {
	if e.Upstream != "" {
		for _, q := range v.Requests().Lookup(e.Upstream, "requests").List() {
			sameMethod := e.Method == "" || e.Method == q.Lookup("method").Text()
			samePath := e.Path == "" || e.Path == q.Lookup("path").Text()
			if sameMethod && samePath {
				n++
			}
		}
		return n, ""
	}
	tool, args := findListedTool(v, e.Tool, e.Args)
	if tool.IsAbsent() {
		return 0, "effects: " + explainUnlisted(v, e.Tool)
	}
	if !allow.ReadOnly(tool) {
		return 0, fmt.Sprintf("effects: the tool %s is not listed with readOnlyHint: true", e.Tool)
	}
	x, why := v.Call(ctx, tool, args)
	if why != "" {
		return 0, why
	}
	count, err := target.Parse(e.Count)
	if err != nil {
		return 0, err.Error()
	}
	val, miss := count.Eval(&target.Observation{Result: exam.Result(x)})
	whole, ok := val.Int64()
	switch {
	case val.Kind() == jsonv.KindArray:
		return val.Len(), ""
	case miss != nil || !ok:
		return 0, fmt.Sprintf("effects: %s is neither a number nor a list in the result of %s", e.Count, e.Tool)
	}
	return int(whole), ""
}
