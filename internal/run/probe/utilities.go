package probe

import (
	"context"
	"slices"
	"strings"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/run/probe/verdict"
	"mcptest/internal/spec/draft"
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
		x, why := v.call(ctx, tool, draft.Arguments(tool.Lookup("inputSchema")))
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
	if !v.applies("listen-tag") && !v.applies("listen-filter") {
		return
	}
	x := v.listen(ctx)
	if refused(x) {
		return
	}
	time.Sleep(100 * time.Millisecond)
	var sub []mcp.Message
	if v.sess != nil {
		sub = v.sess.Messages(0)
	}
	for _, m := range append(sub, x.During...) {
		params, _ := jsonv.Parse(m.Params)
		e := verdict.Evidence{Sent: string(x.Request), Received: string(m.Raw)}
		switch {
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
