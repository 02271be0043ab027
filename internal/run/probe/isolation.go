package probe

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/run/probe/argument"
)

// isolation looks in one session for what another one has sent.
func isolation(ctx context.Context, v *visit) {
	const rule = "isolation-data"
	switch {
	case v.stdio():
		v.enter(inapplicable("over stdio each client has a process of its own, started by its user"), rule)
		return
	case v.pinned.Auth != nil || len(v.pinned.Headers) > 0:
		v.enter(unverified("both sessions have the credentials of one user, whose data they may share"), rule)
		return
	}
	n := 0
	v.check(ctx, rule, "", func(ctx context.Context) outcome {
		n++
		return leaked(ctx, v, fmt.Sprintf("mcptest-mark-%d-%d-%s", v.Seed, n, v.era))
	})
}

// leaked sends a mark in one session, and reads everything in another one.
func leaked(ctx context.Context, v *visit, mark string) outcome {
	var sent *mcp.Exchange
	why := "the server offers no tool that takes text"
	var takers, others []jsonv.Value
	for _, tool := range v.tools {
		args := argument.Marked(argument.Complete(tool), mark)
		switch {
		case v.slow(tool):
			continue
		case args.IsAbsent():
			others = append(others, tool)
			continue
		}
		takers = append(takers, tool)
		if x, refusal := v.call(ctx, tool, args); refusal != "" {
			why = refusal
		} else if x.Response != nil {
			sent = x
		}
	}
	if sent == nil {
		return unverified("%s", why)
	}
	leak := func(x *mcp.Exchange, where string) outcome {
		o := broken(sent, "text that one session sent is in what another one gets from %s", where)
		o.evidence = append(o.evidence, shown(x))
		return o
	}
	v.close() // the next request opens another session
	// Tools without texts come first: one with a text may replace what the other session left.
	for _, tool := range slices.Concat(others, takers) {
		if x, why := v.call(ctx, tool, argument.Valid(tool)); why == "" && bytes.Contains(x.Response, []byte(mark)) {
			return leak(x, "the "+subject(tool))
		}
	}
	for _, r := range v.resources[:min(len(v.resources), 20)] {
		if x := v.do(ctx, "resources/read", jsonv.ObjectOf("uri", r.Lookup("uri"))); bytes.Contains(x.Response, []byte(mark)) {
			return leak(x, "the resource "+r.Lookup("uri").Text())
		}
	}
	return held()
}
