package probe

import (
	"context"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
)

// unknown is a method that no server has.
const unknown = "mcptest/no-such-method"

// messages examines the form of messages.
func (v *visit) messages(ctx context.Context) {
	v.check(ctx, "message-unanswered", "", func(ctx context.Context) outcome {
		x := v.once(ctx, mcp.Call{Method: unknown})
		if x.Response == nil && status(x) == 0 {
			return broken(shown(x), "a request with an unknown method got %s", answer(x))
		}
		return held()
	})
	v.check(ctx, "message-unknown-method", "", func(ctx context.Context) outcome {
		x := v.once(ctx, mcp.Call{Method: unknown})
		switch got, ok := code(x); {
		case ok && got == protocol.CodeMethodNotFound:
			return held()
		case !ok && x.Result == nil:
			return unverified("there was %s", answer(x))
		default:
			return broken(shown(x), "an unknown method got %s, not the error -32601", answer(x))
		}
	})
	v.check(ctx, "message-id", "text as id", func(ctx context.Context) outcome {
		x := v.raw(ctx, v.frame("mcptest-1", "ping", jsonv.Value{}))
		message, err := jsonv.Parse(x.Response)
		switch id := message.Lookup("id"); {
		case x.Response == nil || err != nil:
			return unverified("there was %s", answer(x))
		case id.Text() == "mcptest-1":
			return held()
		default:
			return broken(shown(x), "the response to the request with the id \"mcptest-1\" has the id %s", id.Short(40))
		}
	})
}
