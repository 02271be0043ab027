package features

import (
	"context"
	"slices"
	"strings"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lazy"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/run/allow"
	"mcptest/internal/run/probe/argument"
	"mcptest/internal/run/probe/exam"
	"mcptest/internal/run/probe/verdict"
)

// Utilities examines ping, completion, logging, cancellation and subscriptions.
func Utilities(ctx context.Context, v *exam.Visit) {
	v.Check(ctx, "ping", "", func(ctx context.Context) exam.Outcome {
		x := v.Do(ctx, "ping", jsonv.Value{})
		if len(x.Request) == 0 {
			return exam.Unverified("there was %s", exam.Answer(x))
		}
		return exam.BrokenIf(x.Result == nil, x, "ping got %s", exam.Answer(x))
	})
	v.Check(ctx, "ping-empty", "", func(ctx context.Context) exam.Outcome {
		x := v.Do(ctx, "ping", jsonv.Value{})
		for key := range exam.Result(x).Members() {
			if key != "_meta" && key != "resultType" {
				return exam.Broken(x, "the result of ping has the member %s", key)
			}
		}
		return exam.Held()
	})
	if v.Declares("completions") {
		v.Check(ctx, "completion-limit", "", func(ctx context.Context) exam.Outcome { return checkCompletion(ctx, v) })
		v.Refuses(ctx, "completion-invalid", "", "completion/complete", makePromptParams("mcptest-no-such-prompt", "a", "a"), protocol.CodeInvalidParams)
	}
	if v.Declares("logging") && !v.Modern() {
		v.Refuses(ctx, "logging-level", "", "logging/setLevel", jsonv.ObjectOf("level", "loud"), protocol.CodeInvalidParams)
		v.Check(ctx, "logging-filter", "", func(ctx context.Context) exam.Outcome { return logFilter(ctx, v) })
	}
	v.Check(ctx, "cancel-unknown", "", func(ctx context.Context) exam.Outcome { return cancelUnknown(ctx, v) })
	checkSubscriptions(ctx, v)
	listChanges(ctx, v)
}

// makePromptParams returns the parameters for the values of an argument of a prompt.
func makePromptParams(prompt, argument any, value string) jsonv.Value {
	return jsonv.ObjectOf("ref", jsonv.ObjectOf("type", "ref/prompt", "name", prompt), "argument", jsonv.ObjectOf("name", argument, "value", value))
}

// mostCompletions is how many arguments are completed.
const mostCompletions = 20

// checkCompletion asks for the values of the arguments of prompts, and of the variables of
// templates; the examiner counts them.
func checkCompletion(ctx context.Context, v *exam.Visit) exam.Outcome {
	var all []jsonv.Value
	for _, p := range v.Prompts {
		for _, a := range p.Lookup("arguments").Elems() {
			all = append(all, makePromptParams(p.Lookup("name"), a.Lookup("name"), ""))
		}
	}
	for _, t := range v.Templates {
		uri := t.Lookup("uriTemplate").Text()
		for _, name := range variable().FindAllStringSubmatch(uri, -1) {
			ref := jsonv.ObjectOf("type", "ref/resource", "uri", uri)
			all = append(all, jsonv.ObjectOf("ref", ref, "argument", jsonv.ObjectOf("name", name[1], "value", "")))
		}
	}
	o := exam.Unverified("no prompt has an argument, and no template a variable")
	for i, params := range all {
		if ctx.Err() != nil {
			return o
		}
		if i == mostCompletions {
			return exam.Unverified("only %d arguments are completed", mostCompletions)
		}
		x := v.Do(ctx, "completion/complete", params)
		switch {
		case x.Result != nil:
			o = exam.Held()
		case o.Verdict != verdict.Pass:
			o = exam.Unverified("completion/complete got %s", exam.Answer(x))
		}
	}
	return o
}

// variable is the first variable of an expression in a URI template.
var variable = lazy.Regexp(`\{[+#./;?&]?(\w+)`)

// logFilter sets the level error and calls tools.
func logFilter(ctx context.Context, v *exam.Visit) exam.Outcome {
	if v.Hello.HTTP != nil && v.InSession(ctx, jsonv.Value{}).Get(exam.SessionID) == "" {
		return exam.Unverified("without a session, the level has no place")
	}
	if x := v.Do(ctx, "logging/setLevel", jsonv.ObjectOf("level", "error")); x.Result == nil {
		return exam.Unverified("logging/setLevel got %s", exam.Answer(x))
	}
	defer v.Do(ctx, "logging/setLevel", jsonv.ObjectOf("level", "debug"))
	o := exam.Unverified("no tool may be called")
	for _, tool := range v.Tools {
		if v.Slow(tool) || ctx.Err() != nil {
			continue
		}
		x, why := v.Call(ctx, tool, argument.Valid(tool))
		if why != "" {
			continue
		}
		o = exam.Held()
		for _, m := range x.During {
			params, _ := jsonv.Parse(m.Params)
			level := params.Lookup("level").Text()
			if m.Method == "notifications/message" && slices.Contains([]string{"debug", "info", "notice", "warning"}, level) {
				return exam.BrokenBy(verdict.Evidence{Sent: string(x.Request), Received: string(m.Raw)}, "a message of level %s came after the level error was set", level)
			}
		}
	}
	return o
}

// cancelUnknown cancels a request that does not exist.
func cancelUnknown(ctx context.Context, v *exam.Visit) exam.Outcome {
	if !v.Stdio() && v.Modern() {
		return exam.Inapplicable("only stdio defines the notification")
	}
	if _, err := v.Session(ctx); err != nil {
		return exam.Unverified("%v", err)
	}
	x, found, err := v.Notify(ctx, "notifications/cancelled", []byte(`{"requestId":987654321}`), protocol.NullID, protocol.MissingID, protocol.UnknownID)
	switch {
	case err != nil: // an HTTP error status is allowed
		return exam.Held()
	case found != nil:
		return exam.BrokenBy(verdict.Evidence{Sent: "notifications/cancelled", Received: found.Excerpt}, "the cancellation of an unknown request got a response")
	}
	return exam.BrokenIf(x.Response == nil, x, "after the cancellation of an unknown request, %s got %s", v.Idle(), exam.Answer(x))
}

// checkSubscriptions examines the beginning of a subscription.
func checkSubscriptions(ctx context.Context, v *exam.Visit) {
	v.Check(ctx, "listen-ack", "", func(ctx context.Context) exam.Outcome {
		mark := v.Mark()
		x := listen(ctx, v)
		switch {
		case exam.Refused(x):
			return exam.Unverified("subscriptions/listen got %s", exam.Answer(x))
		case len(x.During) == 0:
			return exam.Broken(x, "the subscription was not acknowledged within %v", v.Reply/2)
		}
		for _, m := range append(v.Sess.Messages(mark), x.During...) {
			params, _ := jsonv.Parse(m.Params)
			if m.Method == protocol.ListenAcknowledged {
				break
			}
			if params.Lookup("_meta", protocol.MetaSubscription).String() == x.ID {
				return exam.BrokenBy(verdict.Evidence{Sent: string(x.Request), Received: string(m.Raw)}, "the first message of the subscription is %s, expected its acknowledgement", m.Method)
			}
		}
		return exam.Held()
	})
	if !slices.ContainsFunc([]string{"listen-tag", "listen-filter", "listen-only"}, v.Applies) {
		return
	}
	x := listen(ctx, v)
	if exam.Refused(x) {
		return
	}
	callWithLogs(ctx, v)
	time.Sleep(100 * time.Millisecond)
	var sub []mcp.Message
	if v.Sess != nil {
		sub = v.Sess.Messages(0)
	}
	for _, m := range append(sub, x.During...) {
		params, _ := jsonv.Parse(m.Params)
		e := verdict.Evidence{Sent: string(x.Request), Received: string(m.Raw)}
		switch {
		case m.Method == "notifications/message" && (m.Stream == x.ID || string(protocol.SubscriptionOf(m.Params)) == x.ID):
			v.Enter(exam.BrokenBy(e, "a log message came on a subscription"), "listen-only")
		case m.Method != protocol.ListenAcknowledged && !strings.HasSuffix(m.Method, "/list_changed"):
		case params.Lookup("_meta", protocol.MetaSubscription).IsAbsent():
			v.Enter(exam.BrokenBy(e, "a notification of the subscription has no subscriptionId in _meta"), "listen-tag")
		default:
			v.Enter(exam.Held(), "listen-tag")
		}
		if m.Method == "notifications/prompts/list_changed" || m.Method == "notifications/resources/list_changed" || m.Method == "notifications/resources/updated" {
			v.Enter(exam.BrokenBy(e, "%s came, but only changes of tools were asked for", m.Method), "listen-filter")
		}
	}
	v.Enter(exam.Held(), "listen-filter")
}

// callWithLogs calls the read-only tools with requests that ask for log messages.
func callWithLogs(ctx context.Context, v *exam.Visit) {
	for _, tool := range v.Tools {
		if v.Slow(tool) || !allow.ReadOnly(tool) || ctx.Err() != nil {
			continue
		}
		callCounted(ctx, v, v.Once, tool, jsonv.ObjectOf(protocol.MetaLogLevel, "debug"))
		v.Enter(exam.Held(), "listen-only")
	}
}
