package probe

import (
	"context"
	"fmt"
	"slices"

	"mcptest/internal/assert/target"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/offer/ruleset"
	"mcptest/internal/run/allow"
)

// retry makes calls twice with equal arguments, as a client does that lost the response,
// and counts their effects.
func retry(ctx context.Context, v *visit) {
	if len(v.Retry) == 0 {
		v.enter(inapplicable("no entry of probe: in a suite names a call that may be repeated"), "retry-once")
	}
	for _, r := range v.Retry {
		v.check(ctx, "retry-once", "tool "+r.Tool, func(ctx context.Context) outcome { return twice(ctx, v, r) })
	}
}

func twice(ctx context.Context, v *visit, r *ruleset.Retry) outcome {
	tool, args := listedTool(v, r.Tool), jsonv.Object()
	if r.Args != nil {
		args = r.Args.JSON()
	}
	if tool.IsAbsent() {
		return unverified("the server lists no tool %s", r.Tool)
	}
	before, why := effects(ctx, v, r.Effects)
	var x *mcp.Exchange
	v.retries.Named = []string{r.Tool}
	for range 2 {
		if why == "" {
			why = v.retries.Call(tool, args)
		}
		if why != "" {
			return unverified("%s", why)
		}
		x = v.do(ctx, "tools/call", params(tool, args))
	}
	after, why := effects(ctx, v, r.Effects)
	switch grown := after - before; {
	case why != "":
		return unverified("%s", why)
	case grown > 1:
		o := broken(x, "two equal calls had %d effects", grown)
		o.once = true
		return o
	case grown < 1:
		return unverified("no effect of the call was counted: it got %s", failure(x))
	}
	return held()
}

// listedTool is the definition of a tool, absent if it is not listed.
func listedTool(v *visit, name string) jsonv.Value {
	if i := slices.IndexFunc(v.tools, func(t jsonv.Value) bool { return t.Lookup("name").Text() == name }); i >= 0 {
		return v.tools[i]
	}
	return jsonv.Value{}
}

// effects counts what calls have done so far, or says why it cannot.
func effects(ctx context.Context, v *visit, e ruleset.Effects) (n int, why string) {
	if e.Upstream != "" {
		for _, q := range v.Requests().Lookup(e.Upstream, "requests").List() {
			if (e.Method == "" || e.Method == q.Lookup("method").Text()) && (e.Path == "" || e.Path == q.Lookup("path").Text()) {
				n++
			}
		}
		return n, ""
	}
	tool, args := listedTool(v, e.Tool), jsonv.Object()
	if e.Args != nil {
		args = e.Args.JSON()
	}
	if !allow.ReadOnly(tool) {
		return 0, fmt.Sprintf("effects: the tool %s is not listed with readOnlyHint: true", e.Tool)
	}
	x, why := v.call(ctx, tool, args)
	if why != "" {
		return 0, why
	}
	count, err := target.Parse(e.Count)
	if err != nil {
		return 0, err.Error()
	}
	val, miss := count.Eval(&target.Observation{Result: result(x)})
	whole, ok := val.Int64()
	switch {
	case val.Kind() == jsonv.KindArray:
		return val.Len(), ""
	case miss != nil || !ok:
		return 0, fmt.Sprintf("effects: %s is no number and no list in the result of %s", e.Count, e.Tool)
	}
	return int(whole), ""
}
