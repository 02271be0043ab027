package probe

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"mcptest/internal/base/jsonschema"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/run/probe/argument"
)

// isolationRules examines the rules of the family isolation.
type isolationRules struct{ *visit }

// isolation looks in one session for what another one has sent.
func (v isolationRules) isolation(ctx context.Context) {
	const rule = "isolation-data"
	switch {
	case !v.applies(rule):
		return
	case v.stdio():
		v.add(rule, "", inapplicable("over stdio each client has a process of its own, started by its user"))
		return
	case v.server.Auth != nil || len(v.server.Headers) > 0:
		v.add(rule, "", unverified("both sessions have the credentials of one user, whose data they may share"))
		return
	}
	n := 0
	v.check(ctx, rule, "", func(ctx context.Context) outcome {
		n++
		return v.leaked(ctx, fmt.Sprintf("mcptest-mark-%d-%d-%s", v.Seed, n, v.era))
	})
}

// leaked sends a mark in one session, and reads everything in another one.
func (v isolationRules) leaked(ctx context.Context, mark string) outcome {
	var sent *mcp.Exchange
	why := "the server offers no tool that takes text"
	for _, tool := range v.tools {
		if slices.Contains(v.tooSlow, tool.Lookup("name").Text()) {
			continue
		}
		args := argument.Marked(jsonschema.Arguments(argument.Complete(tool.Lookup("inputSchema"))), mark)
		if args.IsAbsent() {
			continue
		}
		if x, refusal := v.call(ctx, tool, args); refusal != "" {
			why = refusal
		} else if x.Response != nil {
			sent = x
		}
	}
	if sent == nil {
		return unverified("%s", why)
	}
	v.close() // the next request opens another session
	// Tools without texts come first: one with a text may replace what the other session left.
	takesText := func(tool jsonv.Value) int {
		if argument.Marked(jsonschema.Arguments(argument.Complete(tool.Lookup("inputSchema"))), mark).IsAbsent() {
			return 0
		}
		return 1
	}
	for _, tool := range slices.SortedStableFunc(slices.Values(v.tools), func(a, b jsonv.Value) int { return takesText(a) - takesText(b) }) {
		if slices.Contains(v.tooSlow, tool.Lookup("name").Text()) {
			continue
		}
		if x, why := v.call(ctx, tool, jsonschema.Arguments(tool.Lookup("inputSchema"))); why == "" && bytes.Contains(x.Response, []byte(mark)) {
			return leak(sent, x, "the tool "+tool.Lookup("name").Text())
		}
	}
	for i, r := range v.resources {
		if i == 20 {
			break
		}
		if x := v.do(ctx, "resources/read", jsonv.ObjectOf("uri", r.Lookup("uri"))); bytes.Contains(x.Response, []byte(mark)) {
			return leak(sent, x, "the resource "+r.Lookup("uri").Text())
		}
	}
	return held()
}

func leak(sent, x *mcp.Exchange, where string) outcome {
	o := broken(shown(sent), "text that one session sent is in what another one gets from %s", where)
	o.evidence = append(o.evidence, shown(x))
	return o
}
