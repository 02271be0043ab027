package probe

import (
	"context"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/run/probe/verdict"
)

// unknown is a method that no server has.
const unknown = "mcptest/no-such-method"

// messages examines the form of messages.
func messages(ctx context.Context, v *visit) {
	v.check(ctx, "message-unanswered", "", func(ctx context.Context) outcome {
		x := v.once(ctx, mcp.Call{Method: unknown})
		return brokenIf(silent(x), x, "a request with an unknown method got %s", answer(x))
	})
	v.check(ctx, "message-unknown-method", "", func(ctx context.Context) outcome {
		x := v.send(ctx, mcp.Call{Method: unknown})
		if rpcError(x) == nil && x.Result == nil {
			return unverified("there was %s", answer(x))
		}
		return brokenIf(!notFound(x), x, "an unknown method got %s, expected the error -32601", answer(x))
	})
	v.check(ctx, "message-id", "text as id", func(ctx context.Context) outcome {
		x := v.raw(ctx, v.frame("mcptest-1", v.idle(), jsonv.Value{}))
		message, err := jsonv.Parse(x.Response)
		if x.Response == nil || err != nil {
			return unverified("there was %s", answer(x))
		}
		id := message.Lookup("id")
		return brokenIf(id.Text() != "mcptest-1", x, "the response to the request with the id \"mcptest-1\" has the id %s", id.Short(40))
	})
	v.check(ctx, "message-notification", "", func(ctx context.Context) outcome {
		message := v.frame(jsonv.Value{}, "notifications/mcptest-unknown", jsonv.Value{})
		if !v.stdio() {
			x := v.tell(ctx, message, nil) // an error status may have a body
			return brokenIf(served(x) && strings.Contains(string(x.Response), `"jsonrpc"`), x, "a notification got a message as response")
		}
		_, found, err := v.notify(ctx, message.Lookup("method").Text(), message.Lookup("params").Append(nil), protocol.NullID, protocol.MissingID, protocol.UnknownID, protocol.Echo)
		switch {
		case err != nil:
			return unverified("%v", err)
		case found != nil:
			return brokenBy(verdict.Evidence{Sent: message.String(), Received: found.Excerpt}, "a notification got a response")
		}
		return held()
	})
}
