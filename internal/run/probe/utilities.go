package probe

import (
	"context"
	"slices"
	"strings"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/run/probe/argument"
	"mcptest/internal/run/probe/verdict"
)

// utilities examines ping, completion, logging, cancellation and subscriptions.
func utilities(ctx context.Context, v *visit) {
	v.check(ctx, "ping", "", func(ctx context.Context) outcome {
		x := v.do(ctx, "ping", jsonv.Value{})
		return brokenIf(x.Result == nil, x, "ping got %s", answer(x))
	})
	v.check(ctx, "ping-empty", "", func(ctx context.Context) outcome {
		x := v.do(ctx, "ping", jsonv.Value{})
		for key := range result(x).Members() {
			if key != "_meta" && key != "resultType" {
				return broken(x, "the result of ping has the member %s", key)
			}
		}
		return held()
	})
	if v.declares("completions") {
		v.check(ctx, "completion-limit", "", func(ctx context.Context) outcome { return completion(ctx, v) })
		v.refuses(ctx, "completion-invalid", "", "completion/complete", ofPrompt("mcptest-no-such-prompt", "a", "a"), protocol.CodeInvalidParams)
	}
	if v.declares("logging") && !v.modern() {
		v.refuses(ctx, "logging-level", "", "logging/setLevel", jsonv.ObjectOf("level", "loud"), protocol.CodeInvalidParams)
		v.check(ctx, "logging-filter", "", func(ctx context.Context) outcome { return logFilter(ctx, v) })
	}
	v.check(ctx, "cancel-unknown", "", func(ctx context.Context) outcome { return cancelUnknown(ctx, v) })
	inputs(ctx, v)
	subscriptions(ctx, v)
}

// ofPrompt are the parameters for the values of an argument of a prompt.
func ofPrompt(prompt, argument any, value string) jsonv.Value {
	return jsonv.ObjectOf("ref", jsonv.ObjectOf("type", "ref/prompt", "name", prompt), "argument", jsonv.ObjectOf("name", argument, "value", value))
}

// completion asks for the values of the first argument of a prompt.
func completion(ctx context.Context, v *visit) outcome {
	for _, p := range v.prompts {
		for _, a := range p.Lookup("arguments").Elems() {
			x := v.do(ctx, "completion/complete", ofPrompt(p.Lookup("name"), a.Lookup("name"), ""))
			values := result(x).Lookup("completion", "values")
			switch {
			case x.Result == nil:
				return unverified("completion/complete got %s", answer(x))
			case values.Kind() != jsonv.KindArray:
				return broken(x, "the result has no completion.values")
			}
			return brokenIf(values.Len() > 100, x, "completion.values has %d entries, at most 100 are allowed", values.Len())
		}
	}
	return unverified("no prompt has an argument")
}

// logFilter sets the level error and calls tools.
func logFilter(ctx context.Context, v *visit) outcome {
	if v.hello.HTTP != nil && v.inSession(ctx, jsonv.Value{}).Get(sessionID) == "" {
		return unverified("without a session, the level has no place")
	}
	if x := v.do(ctx, "logging/setLevel", jsonv.ObjectOf("level", "error")); x.Result == nil {
		return unverified("logging/setLevel got %s", answer(x))
	}
	defer v.do(ctx, "logging/setLevel", jsonv.ObjectOf("level", "debug"))
	o := unverified("no tool may be called")
	for _, tool := range v.quick {
		x, why := v.call(ctx, tool, argument.Valid(tool))
		if why != "" {
			continue
		}
		o = held()
		for _, m := range x.During {
			params, _ := jsonv.Parse(m.Params)
			if level := params.Lookup("level").Text(); m.Method == "notifications/message" && slices.Contains([]string{"debug", "info", "notice", "warning"}, level) {
				return brokenBy(verdict.Evidence{Sent: string(x.Request), Received: string(m.Raw)}, "a message of level %s came after the level error was set", level)
			}
		}
	}
	return o
}

// cancelUnknown cancels a request that does not exist.
func cancelUnknown(ctx context.Context, v *visit) outcome {
	if !v.stdio() && v.modern() {
		return inapplicable("only stdio defines the notification")
	}
	if _, err := v.session(ctx); err != nil {
		return unverified("%v", err)
	}
	x, found, err := v.notify(ctx, "notifications/cancelled", []byte(`{"requestId":987654321}`), protocol.NullID, protocol.MissingID, protocol.UnknownID)
	switch {
	case err != nil: // an HTTP error status is allowed
		return held()
	case found != nil:
		return brokenBy(verdict.Evidence{Sent: "notifications/cancelled", Received: found.Excerpt}, "the cancellation of an unknown request got a response")
	}
	return brokenIf(x.Response == nil, x, "after the cancellation of an unknown request, %s got %s", v.idle(), answer(x))
}

// subscriptions examines the beginning of a subscription.
func subscriptions(ctx context.Context, v *visit) {
	v.check(ctx, "listen-ack", "", func(ctx context.Context) outcome {
		mark := v.mark()
		x := listen(ctx, v)
		switch {
		case refused(x):
			return unverified("subscriptions/listen got %s", answer(x))
		case len(x.During) == 0:
			return broken(x, "the subscription was not acknowledged within %v", v.Reply)
		}
		for _, m := range append(v.sess.Messages(mark), x.During...) {
			params, _ := jsonv.Parse(m.Params)
			if m.Method == protocol.ListenAcknowledged {
				break
			}
			if params.Lookup("_meta", protocol.MetaSubscription).String() == x.ID {
				return brokenBy(verdict.Evidence{Sent: string(x.Request), Received: string(m.Raw)}, "the first message of the subscription is %s, expected its acknowledgement", m.Method)
			}
		}
		return held()
	})
	if !slices.ContainsFunc([]string{"listen-tag", "listen-filter", "listen-only"}, v.applies) {
		return
	}
	x := listen(ctx, v)
	if refused(x) {
		return
	}
	for _, tool := range v.quick {
		counted(ctx, v, v.once, tool, jsonv.ObjectOf(protocol.MetaLogLevel, "debug"))
		v.enter(held(), "listen-only")
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
				v.enter(brokenBy(e, "a log message came on a subscription"), "listen-only")
			}
		case m.Method != protocol.ListenAcknowledged && !strings.HasSuffix(m.Method, "/list_changed"):
		case params.Lookup("_meta", protocol.MetaSubscription).IsAbsent():
			v.enter(brokenBy(e, "a notification of the subscription has no subscriptionId in _meta"), "listen-tag")
		default:
			v.enter(held(), "listen-tag")
		}
		if m.Method == "notifications/prompts/list_changed" || m.Method == "notifications/resources/list_changed" || m.Method == "notifications/resources/updated" {
			v.enter(brokenBy(e, "%s came, but only changes of tools were asked for", m.Method), "listen-filter")
		}
	}
	v.enter(held(), "listen-filter")
}
