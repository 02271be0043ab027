package features

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/run/probe/argument"
	"mcptest/internal/run/probe/exam"
)

// Isolation looks in one session for what another one has sent.
func Isolation(ctx context.Context, v *exam.Visit) {
	const rule = "isolation-data"
	switch {
	case v.Stdio():
		v.Enter(exam.Inapplicable("over stdio each client has a process of its own, started by its user"), rule)
		return
	case v.Pinned.Auth != nil || len(v.Pinned.Headers) > 0:
		v.Enter(exam.Unverified("both sessions have the credentials of one user, whose data they may share"), rule)
		return
	}
	n := 0
	v.Check(ctx, rule, "", func(ctx context.Context) exam.Outcome {
		n++
		return leaked(ctx, v, fmt.Sprintf("mcptest-mark-%d-%d-%s", v.Seed, n, v.Era))
	})
}

// leaked sends a mark in one session, and reads everything in another one.
func leaked(ctx context.Context, v *exam.Visit, mark string) exam.Outcome {
	var sent *mcp.Exchange
	why := "the server offers no tool that takes text"
	var takers, others []jsonv.Value
	for _, tool := range v.Tools {
		args := argument.Marked(argument.Complete(tool), mark)
		switch {
		case v.Slow(tool):
			continue
		case args.IsAbsent():
			others = append(others, tool)
			continue
		}
		takers = append(takers, tool)
		if x, refusal := v.Call(ctx, tool, args); refusal != "" {
			why = refusal
		} else if x.Response != nil {
			sent = x
		}
	}
	if sent == nil {
		return exam.Unverified("%s", why)
	}
	leak := func(x *mcp.Exchange, where string) exam.Outcome {
		o := exam.Broken(sent, "text that one session sent is in what another one gets from %s", where)
		o.Evidence = append(o.Evidence, exam.Shown(x))
		return o
	}
	v.Close() // the next request opens another session
	if _, err := v.Session(ctx); err != nil {
		return exam.Unverified("no second session could be opened: %v", err)
	}
	// Tools without texts come first: one with a text may replace what the other session left.
	for _, tool := range slices.Concat(others, takers) {
		if x, why := v.Call(ctx, tool, argument.Valid(tool)); why == "" && bytes.Contains(x.Response, []byte(mark)) {
			return leak(x, "the "+exam.Subject(tool))
		}
	}
	for _, r := range v.Resources[:min(len(v.Resources), 20)] {
		if x := v.Do(ctx, "resources/read", jsonv.ObjectOf("uri", r.Lookup("uri"))); bytes.Contains(x.Response, []byte(mark)) {
			return leak(x, "the resource "+r.Lookup("uri").Text())
		}
	}
	return exam.Held()
}
