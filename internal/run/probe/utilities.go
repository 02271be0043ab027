package probe

import (
	"context"
	"slices"
	"strings"
	"time"

	"mcptest/internal/base/jsonschema"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/offer/surface"
	"mcptest/internal/run/allow"
	"mcptest/internal/run/probe/verdict"
)

// utilityRules examines the rules of the family utilities.
type utilityRules struct{ *visit }

// utilities examines ping, completion, logging, cancellation and subscriptions.
func (v utilityRules) utilities(ctx context.Context) {
	v.check(ctx, "ping", "", func(ctx context.Context) outcome {
		if x := v.do(ctx, "ping", jsonv.Value{}); x.Result == nil {
			return broken(shown(x), "ping got %s", answer(x))
		}
		return held()
	})
	v.check(ctx, "ping-empty", "", func(ctx context.Context) outcome {
		x := v.do(ctx, "ping", jsonv.Value{})
		for key := range result(x).Members() {
			if key != "_meta" && key != "resultType" {
				return broken(shown(x), "the result of ping has the member %s", key)
			}
		}
		return held()
	})
	if v.declares("completions") {
		v.completion(ctx)
	}
	if v.declares("logging") && !v.modern() {
		v.check(ctx, "logging-level", "", func(ctx context.Context) outcome {
			return v.expectCode(ctx, "logging/setLevel", jsonv.ObjectOf("level", "loud"), protocol.CodeInvalidParams)
		})
		v.check(ctx, "logging-filter", "", v.logFilter)
	}
	v.check(ctx, "cancel-unknown", "", v.cancelUnknown)
	inputRules(v).inputs(ctx)
	v.subscriptions(ctx)
}

// completion asks for the values of an argument.
func (v utilityRules) completion(ctx context.Context) {
	v.check(ctx, "completion-limit", "", func(ctx context.Context) outcome {
		for _, p := range v.prompts {
			for _, a := range p.Lookup("arguments").Elems() {
				ref := jsonv.ObjectOf("type", "ref/prompt", "name", p.Lookup("name"))
				x := v.do(ctx, "completion/complete", jsonv.ObjectOf("ref", ref, "argument", jsonv.ObjectOf("name", a.Lookup("name"), "value", "")))
				values := result(x).Lookup("completion", "values")
				switch {
				case x.Result == nil:
					return unverified("completion/complete got %s", answer(x))
				case values.Kind() != jsonv.KindArray:
					return broken(shown(x), "the result has no completion.values")
				case values.Len() > 100:
					return broken(shown(x), "completion.values has %d entries, at most 100 are allowed", values.Len())
				}
				return held()
			}
		}
		return unverified("no prompt has an argument")
	})
	v.check(ctx, "completion-invalid", "", func(ctx context.Context) outcome {
		ref := jsonv.ObjectOf("type", "ref/prompt", "name", "mcptest-no-such-prompt")
		return v.expectCode(ctx, "completion/complete", jsonv.ObjectOf("ref", ref, "argument", jsonv.ObjectOf("name", "a", "value", "a")), protocol.CodeInvalidParams)
	})
}

// logFilter sets the level error and calls tools.
func (v utilityRules) logFilter(ctx context.Context) outcome {
	if v.hello.HTTP != nil && v.inSession(ctx, jsonv.Value{}).Get("Mcp-Session-Id") == "" {
		return unverified("without a session, the level has no place")
	}
	if x := v.do(ctx, "logging/setLevel", jsonv.ObjectOf("level", "error")); x.Result == nil {
		return unverified("logging/setLevel got %s", answer(x))
	}
	defer v.do(ctx, "logging/setLevel", jsonv.ObjectOf("level", "debug"))
	called := false
	for _, tool := range v.quick {
		x, why := v.call(ctx, tool, jsonschema.Arguments(tool.Lookup("inputSchema")))
		if called = called || why == ""; why != "" {
			continue
		}
		for _, m := range x.During {
			params, _ := jsonv.Parse(m.Params)
			if level := params.Lookup("level").Text(); m.Method == "notifications/message" && slices.Contains([]string{"debug", "info", "notice", "warning"}, level) {
				return broken(verdict.Evidence{Sent: string(x.Request), Received: string(m.Raw)}, "a message of level %s came after the level error was set", level)
			}
		}
	}
	if !called {
		return unverified("no tool may be called")
	}
	return held()
}

// cancelUnknown cancels a request that does not exist.
func (v utilityRules) cancelUnknown(ctx context.Context) outcome {
	if !v.stdio() && v.modern() {
		return inapplicable("only stdio defines the notification")
	}
	sess, err := v.session(ctx)
	if err != nil {
		return unverified("%v", err)
	}
	v.unclaimed(sess.TakeViolations())
	if err := sess.Notify(ctx, "notifications/cancelled", []byte(`{"requestId":987654321}`)); err != nil {
		return held() // an HTTP error status is allowed
	}
	x := v.once(ctx, mcp.Call{Method: v.idle()})
	for _, found := range append(sess.TakeViolations(), x.Violations...) {
		if found.Kind == protocol.NullID || found.Kind == protocol.MissingID || found.Kind == protocol.UnknownID {
			return broken(verdict.Evidence{Sent: "notifications/cancelled", Received: found.Excerpt}, "the cancellation of an unknown request got a response")
		}
	}
	if x.Response == nil {
		return broken(shown(x), "after the cancellation of an unknown request, %s got %s", v.idle(), answer(x))
	}
	return held()
}

// listen opens a subscription for changes of the tools, and returns it once it is
// acknowledged or refused.
func (v *visit) listen(ctx context.Context) *mcp.Exchange {
	params := jsonv.ObjectOf("notifications", jsonv.ObjectOf("toolsListChanged", true))
	return v.once(ctx, mcp.Call{Method: protocol.MethodListen, Params: params.Append(nil)})
}

// changes reports whether a message announces a change to those who subscribed to it.
func changes(m mcp.Message) bool {
	return m.Kind == mcp.KindNotification && (strings.HasSuffix(m.Method, "/list_changed") || m.Method == "notifications/resources/updated")
}

// subscriptions examines the beginning of a subscription.
func (v utilityRules) subscriptions(ctx context.Context) {
	v.check(ctx, "listen-ack", "", func(ctx context.Context) outcome {
		mark := v.mark()
		x := v.listen(ctx)
		switch {
		case refused(x):
			return unverified("subscriptions/listen got %s", answer(x))
		case len(x.During) == 0:
			return broken(shown(x), "the subscription was not acknowledged within %v", v.Reply)
		}
		for _, m := range append(v.sess.Messages(mark), x.During...) {
			params, _ := jsonv.Parse(m.Params)
			if m.Method == protocol.ListenAcknowledged {
				break
			}
			if params.Lookup("_meta", protocol.MetaSubscription).String() == x.ID {
				return broken(verdict.Evidence{Sent: string(x.Request), Received: string(m.Raw)}, "the first message of the subscription is %s, expected its acknowledgement", m.Method)
			}
		}
		return held()
	})
	if !slices.ContainsFunc([]string{"listen-tag", "listen-filter", "listen-only"}, v.applies) {
		return
	}
	x := v.listen(ctx)
	if refused(x) {
		return
	}
	for _, tool := range v.quick {
		inputRules(v).counted(ctx, v.once, tool, jsonv.ObjectOf(protocol.MetaLogLevel, "debug"))
		v.enter("listen-only", held())
	}
	time.Sleep(100 * time.Millisecond)
	logged := 0
	var sub []mcp.Message
	if v.sess != nil {
		sub = v.sess.Messages(0)
	}
	for _, m := range append(sub, x.During...) {
		params, _ := jsonv.Parse(m.Params)
		e := verdict.Evidence{Sent: string(x.Request), Received: string(m.Raw)}
		switch {
		case m.Method == "notifications/message" && (m.Stream == x.ID || string(protocol.SubscriptionOf(m.Params)) == x.ID):
			if logged++; logged > 1 { // seen twice
				v.enter("listen-only", broken(e, "a log message came on a subscription"))
			}
		case m.Method == protocol.ListenAcknowledged || strings.HasSuffix(m.Method, "/list_changed"):
			v.enter("listen-tag", tagged(params, e))
		}
		if m.Method == "notifications/prompts/list_changed" || m.Method == "notifications/resources/list_changed" || m.Method == "notifications/resources/updated" {
			v.enter("listen-filter", broken(e, "%s came, but only changes of tools were asked for", m.Method))
		}
	}
	v.enter("listen-filter", held())
}

func tagged(params jsonv.Value, e verdict.Evidence) outcome {
	if params.Lookup("_meta", protocol.MetaSubscription).IsAbsent() {
		return broken(e, "a notification of the subscription has no subscriptionId in _meta")
	}
	return held()
}

// inputRules examines what a server sends, while its read-only tools are called, to a
// client that supports some kinds of input and has no subscription.
type inputRules struct{ *visit }

// sent is what came in one session.
type sent struct {
	why        string        // no session could be opened
	all        []mcp.Message // of 2026-07-28 with the requests in results
	remembered []mcp.Message // asked for with a request that declares nothing
	control    bool          // … by a tool that asks for nothing on a connection of its own
}

// inputs examines all of that at once.
func (v inputRules) inputs(ctx context.Context) {
	rules := []string{"input-mode", "input-sampling-tools", "request-id", "unsubscribed", "stateless-capabilities"}
	if slices.ContainsFunc(rules, v.applies) {
		each(ctx, v.visit, rules, v.converse, v.judge)
	}
}

// converse calls the tools in a session of its own: no URL mode, and no tools in sampling.
func (v inputRules) converse(ctx context.Context) (out sent) {
	sess, err := v.open(ctx, jsonv.ObjectOf("elicitation", jsonv.ObjectOf("form", jsonv.Object()), "sampling", jsonv.Object(), "roots", jsonv.Object()))
	if err != nil {
		return sent{why: err.Error()}
	}
	defer v.end(sess)
	do := func(ctx context.Context, c mcp.Call) *mcp.Exchange {
		ctx, cancel := mcp.WithLimit(ctx, "response", min(slow, v.Reply))
		defer cancel()
		return sess.Do(ctx, c)
	}
	for i, tool := range v.read(ctx, surface.Lists()[0], do).items {
		if i >= callable || slices.Contains(v.tooSlow, tool.Lookup("name").Text()) {
			continue
		}
		x := v.counted(ctx, do, tool, jsonv.Object())
		asked := requested(x)
		out.all = append(out.all, asked...)
		if x.Request != nil && x.Response == nil {
			break // the server may be gone
		}
		if len(asked) == 0 || out.control || !v.modern() {
			continue
		}
		if fresh, err := v.open(ctx, jsonv.Value{}); err == nil {
			x := v.counted(ctx, fresh.Do, tool, jsonv.Object())
			out.control = x.Response != nil && len(requested(x)) == 0
			v.end(fresh)
		}
		out.remembered = requested(v.counted(ctx, do, tool, jsonv.ObjectOf(protocol.MetaCapabilities, jsonv.Object())))
	}
	time.Sleep(time.Second / 5) // what the server announces may come after the response
	if !v.modern() {
		out.all = nil
	}
	out.all = append(out.all, sess.Messages(0)...)
	return out
}

// counted calls a tool if it is read-only, with members of _meta.
func (v inputRules) counted(ctx context.Context, do func(context.Context, mcp.Call) *mcp.Exchange, tool, meta jsonv.Value) *mcp.Exchange {
	args := jsonschema.Arguments(tool.Lookup("inputSchema"))
	if !allow.ReadOnly(tool) || v.policy.Call(tool, args) != "" {
		return &mcp.Exchange{}
	}
	return do(ctx, mcp.Call{Method: "tools/call", Params: jsonv.ObjectOf("name", tool.Lookup("name"), "arguments", args, "_meta", meta).Append(nil)})
}

// requested are the requests that came with a call.
func requested(x *mcp.Exchange) (out []mcp.Message) {
	for _, m := range x.During {
		if m.Kind == mcp.KindRequest {
			out = append(out, m)
		}
	}
	return out
}

func (v inputRules) judge(rule string, seen sent) outcome {
	if seen.why != "" {
		return unverified("%s", seen.why)
	}
	// Whether a request of the server's own comes in time is chance: none at all is right, too.
	provoked := rule == "unsubscribed" || rule == "request-id" || rule == "stateless-capabilities" && seen.control
	ids := map[string]string{}
	for _, m := range seen.all {
		params, _ := jsonv.Parse(m.Params)
		e := verdict.Evidence{Received: verdict.Excerpt(string(m.Raw), 1000)}
		if m.Kind != mcp.KindRequest {
			if rule == "unsubscribed" && changes(m) {
				return broken(e, "%s came without a subscription", m.Method)
			}
			continue
		}
		id, _ := jsonv.Parse([]byte(m.ID))
		_, whole := id.Int64()
		earlier, again := ids[m.ID]
		ids[m.ID] = string(m.Raw)
		switch {
		case rule == "request-id" && id.Kind() != jsonv.KindString && !whole:
			return broken(e, "the server sent %s with the id %s, expected text or an integer", m.Method, m.ID)
		case rule == "request-id" && again && (v.stdio() || v.hello.HTTP.Header.Get(sessionID) != "" && earlier != string(m.Raw)): // over HTTP it may be sent again
			return broken(e, "the server sent a second request with the id %s", m.ID)
		case rule == "input-mode" && params.Lookup("mode").Text() == "url":
			return broken(e, "%s has the mode url, but the client supports forms only", m.Method)
		case rule == "input-sampling-tools" && m.Method == "sampling/createMessage" && !params.Lookup("tools").IsAbsent():
			return broken(e, "sampling/createMessage has tools, but the client does not declare sampling.tools")
		}
		provoked = provoked || rule == "input-mode" && m.Method == "elicitation/create" || rule == "input-sampling-tools" && m.Method == "sampling/createMessage"
	}
	switch {
	case !provoked:
		return unverified("no call of a tool with readOnlyHint: true provokes it")
	case rule == "stateless-capabilities" && len(seen.remembered) > 0:
		return broken(verdict.Evidence{Received: string(seen.remembered[0].Raw)}, "a request that declares nothing was asked for what an earlier one declared")
	}
	return held()
}
