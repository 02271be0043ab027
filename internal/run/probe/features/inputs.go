package features

import (
	"context"
	"slices"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/offer/surface"
	"mcptest/internal/run/allow"
	"mcptest/internal/run/probe/argument"
	"mcptest/internal/run/probe/exam"
	"mcptest/internal/run/probe/verdict"
)

// sent is what came in one session.
type sent struct {
	why        string        // no session could be opened
	all        []mcp.Message // of 2026-07-28 with the requests in results
	remembered []mcp.Message // asked for with a request that declares nothing
	left       bool          // a tool was not called
	control    bool          // … by a tool that asks for nothing on a connection of its own
}

// Inputs examines what a server sends, while its read-only tools are called, to a client
// that supports some kinds of input and has no subscription: all of that at once.
func Inputs(ctx context.Context, v *exam.Visit) {
	rules := []string{"input-mode", "input-sampling-tools", "request-id", "unsubscribed", "stateless-capabilities"}
	if slices.ContainsFunc(rules, v.Applies) {
		exam.Each(ctx, v, rules, func(ctx context.Context) sent {
			return converse(ctx, v)
		}, func(rule string, seen sent) exam.Outcome {
			return judge(v, rule, seen)
		})
	}
}

// converse calls the tools in a session of its own: no URL mode, and no tools in sampling.
// A process that runs is ended first, and the control has a connection of its own after that:
// the server may be there only once.
func converse(ctx context.Context, v *exam.Visit) (out sent) {
	if v.Stdio() {
		v.Close()
	}
	form := jsonv.ObjectOf("form", jsonv.Object())
	sess, err := v.Open(ctx, jsonv.ObjectOf("elicitation", form, "sampling", jsonv.Object(), "roots", jsonv.Object()))
	if err != nil {
		return sent{why: err.Error()}
	}
	do := v.Within(min(exam.Long, v.Reply), sess)
	var asking []jsonv.Value
	remembered := map[string][]mcp.Message{}
	tools := slices.DeleteFunc(exam.Read(ctx, surface.Lists()[0], do).Items, func(tool jsonv.Value) bool {
		return v.Slow(tool) || !allow.ReadOnly(tool)
	})
	for i, tool := range tools {
		if !exam.IsChosen(i, len(tools), callable) {
			out.left = true
			continue
		}
		x := callCounted(ctx, v, do, tool, jsonv.Object())
		asked := listRequests(x)
		out.all = append(out.all, asked...)
		if x.Request != nil && x.Response == nil {
			break // the server may be gone
		}
		if len(asked) > 0 && len(asking) < mostControls && v.Modern() {
			asking = append(asking, tool)
			nothing := jsonv.ObjectOf(protocol.MetaCapabilities, jsonv.Object())
			remembered[exam.Subject(tool)] = listRequests(callCounted(ctx, v, do, tool, nothing))
		}
	}
	time.Sleep(time.Second / 5) // what the server announces may come after the response
	if !v.Modern() {
		out.all = nil
	}
	out.all = append(out.all, sess.Messages(0)...)
	v.End(sess)
	for _, tool := range asking {
		if asksNothing(ctx, v, tool) {
			out.control, out.remembered = true, remembered[exam.Subject(tool)]
			break
		}
	}
	return out
}

// mostControls is how many tools that asked for input are called on a fresh connection.
const mostControls = 3

// asksNothing reports whether a tool that asked a capable client for input asks nothing of
// a client without capabilities on a fresh connection.
func asksNothing(ctx context.Context, v *exam.Visit, tool jsonv.Value) bool {
	fresh, err := v.Open(ctx, jsonv.Value{})
	if err != nil {
		return false
	}
	defer v.End(fresh)
	x := callCounted(ctx, v, v.Within(v.Reply, fresh), tool, jsonv.Object())
	return x.Response != nil && len(listRequests(x)) == 0
}

// callCounted calls a tool if it is read-only, with members of _meta.
func callCounted(
	ctx context.Context, v *exam.Visit, do func(context.Context, mcp.Call) *mcp.Exchange, tool, meta jsonv.Value,
) *mcp.Exchange {
	args := argument.Valid(tool)
	if !allow.ReadOnly(tool) || v.Policy.Call(tool, args) != "" {
		return &mcp.Exchange{}
	}
	return do(ctx, mcp.Call{Method: "tools/call", Params: exam.Text(exam.Params(tool, args, "_meta", meta))})
}

// listRequests returns the requests that came with a call.
func listRequests(x *mcp.Exchange) []mcp.Message {
	var requests []mcp.Message
	for _, m := range x.During {
		if m.Kind == mcp.KindRequest {
			requests = append(requests, m)
		}
	}
	return requests
}

func judge(v *exam.Visit, rule string, seen sent) exam.Outcome {
	if seen.why != "" {
		return exam.Unverified("%s", seen.why)
	}
	// Whether a request of the server's own comes in time is chance: none at all is right, too.
	provoked := rule == "unsubscribed" || rule == "request-id" || rule == "stateless-capabilities" && seen.control
	if m, why := v.WrongID(seen.all); rule == "request-id" && why != "" {
		return exam.BrokenBy(verdict.Evidence{Received: verdict.Excerpt(string(m.Raw), 1000)}, "%s", why)
	}
	for _, m := range seen.all {
		params, _ := jsonv.Parse(m.Params)
		e := verdict.Evidence{Received: verdict.Excerpt(string(m.Raw), 1000)}
		if m.Kind != mcp.KindRequest {
			if rule == "unsubscribed" && exam.Changes(m) {
				return exam.BrokenBy(e, "%s came without a subscription", m.Method)
			}
			continue
		}
		switch {
		case rule == "input-mode" && params.Lookup("mode").Text() == "url":
			return exam.BrokenBy(e, "%s has the mode url, but the client supports forms only", m.Method)
		case rule == "input-sampling-tools" && m.Method == "sampling/createMessage" && !params.Lookup("tools").IsAbsent():
			return exam.BrokenBy(e, "sampling/createMessage has tools, but the client does not declare sampling.tools")
		}
		provoked = provoked || rule == "input-mode" && m.Method == "elicitation/create" || rule == "input-sampling-tools" && m.Method == "sampling/createMessage"
	}
	switch {
	case !provoked:
		return exam.Unverified("no call of a tool with readOnlyHint: true provokes it")
	case rule == "stateless-capabilities" && len(seen.remembered) > 0:
		return exam.BrokenBy(verdict.Evidence{Received: string(seen.remembered[0].Raw)}, "a request that declares nothing was asked for what an earlier one declared")
	case seen.left && rule != "request-id": // which the other sessions show, too
		return exam.Unverified("only %d tools are called", callable)
	}
	return exam.Held()
}
