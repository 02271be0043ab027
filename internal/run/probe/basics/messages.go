package basics

import (
	"context"
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/run/probe/exam"
	"mcptest/internal/run/probe/verdict"
)

// unknown is a method that no server has.
const unknown = "mcptest/no-such-method"

// Messages examines the form of messages.
func Messages(ctx context.Context, v *exam.Visit) {
	v.State(ctx, "message-schema", v.Hello.Method, judgeHandshake(v))
	v.Check(ctx, "message-unanswered", "", func(ctx context.Context) exam.Outcome {
		x := v.Once(ctx, mcp.Call{Method: unknown})
		if len(x.Request) == 0 {
			return exam.Unverified("there was %s", exam.Answer(x))
		}
		return exam.BrokenIf(exam.Silent(x), x, "a request with an unknown method got %s", exam.Answer(x))
	})
	const atOnce = "two requests at once"
	v.Check(ctx, "message-unanswered", atOnce, func(ctx context.Context) exam.Outcome { return sendTogether(ctx, v) })
	v.Check(ctx, "message-unknown-method", "", func(ctx context.Context) exam.Outcome {
		x := v.Send(ctx, mcp.Call{Method: unknown})
		if exam.RPCError(x) == nil && x.Result == nil {
			return exam.Unverified("there was %s", exam.Answer(x))
		}
		return exam.BrokenIf(!exam.NotFound(x), x, "an unknown method got %s, expected the error -32601", exam.Answer(x))
	})
	for _, c := range []struct{ what, id string }{
		{"text as id", "mcptest-1"},
		{"text as id, not in ASCII", "mcptest-\u00e9-\u6f22"},
	} {
		v.Check(ctx, "message-id", c.what, func(ctx context.Context) exam.Outcome { return sendTextID(ctx, v, c.id) })
	}
	v.Check(ctx, "message-batch", "", func(ctx context.Context) exam.Outcome { return sendBatch(ctx, v) })
	v.Check(ctx, "message-notification", "", func(ctx context.Context) exam.Outcome {
		message := v.Frame(jsonv.Value{}, "notifications/mcptest-unknown", jsonv.Value{})
		if !v.Stdio() {
			x := v.Tell(ctx, message, nil) // an error status may have a body
			return exam.BrokenIf(exam.Served(x) && strings.Contains(string(x.Response), `"jsonrpc"`), x, "a notification got a message as response")
		}
		method, params := message.Lookup("method").Text(), exam.Text(message.Lookup("params"))
		_, found, err := v.Notify(ctx, method, params, protocol.NullID, protocol.MissingID, protocol.UnknownID, protocol.Echo)
		switch {
		case err != nil:
			return exam.Unverified("%v", err)
		case found != nil:
			return exam.BrokenBy(verdict.Evidence{Sent: message.String(), Received: found.Excerpt}, "a notification got a response")
		}
		return exam.Held()
	})
}

// sendTextID sends a request with a text as id.
func sendTextID(ctx context.Context, v *exam.Visit, id string) exam.Outcome {
	x := v.Raw(ctx, v.Frame(id, v.Idle(), jsonv.Value{}))
	message, err := jsonv.Parse(x.Response)
	if x.Response == nil || err != nil {
		return exam.Unverified("there was %s", exam.Answer(x))
	}
	got := message.Lookup("id")
	const wrong = "the response to the request with the id %q has the id %s"
	return exam.BrokenIf(got.Text() != id, x, wrong, id, got.Short(40))
}

// sendTogether sends a request while another one is in flight. One that has no response then, but
// has one alone, was lost.
func sendTogether(ctx context.Context, v *exam.Visit) exam.Outcome {
	calls := [2]mcp.Call{{Method: v.FirstList()}, {Method: v.Idle()}}
	for i, x := range v.Together(ctx, calls) {
		if len(x.Request) == 0 || ctx.Err() != nil {
			return exam.Unverified("there was %s", exam.Answer(x))
		}
		if !v.RanOut(ctx, x) {
			continue
		}
		if alone := v.Once(ctx, calls[i]); alone.Response == nil {
			return exam.Unverified("%s got %s", calls[i].Method, exam.Answer(alone))
		}
		return exam.Broken(x, "%s got no response next to another request in flight; alone it gets one", calls[i].Method)
	}
	return exam.Held()
}

// sendBatch sends two requests in one message, which 2025-03-26 has. Both responses may come in
// one message or in two.
func sendBatch(ctx context.Context, v *exam.Visit) exam.Outcome {
	first := v.Frame("mcptest-batch-1", v.Idle(), jsonv.Value{})
	second := v.Frame("mcptest-batch-2", v.FirstList(), jsonv.Value{})
	message := jsonv.Array(first, second)
	x := v.Raw(ctx, message)
	if !v.Stdio() {
		x = v.Tell(ctx, message, nil)
	}
	if len(x.Request) == 0 {
		return exam.Unverified("a batch was not sent: %s", exam.Answer(x))
	}
	if exam.Silent(x) || exam.Refused(x) {
		return exam.Broken(x, "a batch of two requests got %s", exam.Answer(x))
	}
	answered, _ := jsonv.Parse(x.Response)
	var ids []string
	for _, response := range answered.List() {
		ids = append(ids, response.Lookup("id").Text())
	}
	isMixed := len(ids) > 1 && !(slices.Contains(ids, "mcptest-batch-1") && slices.Contains(ids, "mcptest-batch-2"))
	const mixed = "the responses to a batch of two requests have the ids %s"
	return exam.BrokenIf(isMixed, x, mixed, strings.Join(ids, " and "))
}
