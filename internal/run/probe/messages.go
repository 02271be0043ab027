package probe

import (
	"context"
	"net/http"
	"regexp"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/run/probe/verdict"
	"mcptest/internal/spec/suite"
)

// unknown is a method that no server has.
const unknown = "mcptest/no-such-method"

// messageRules examines the rules of the family messages.
type messageRules struct{ *visit }

// messages examines the form of messages.
func (v messageRules) messages(ctx context.Context) {
	v.check(ctx, "message-unanswered", "", func(ctx context.Context) outcome {
		if x := v.once(ctx, mcp.Call{Method: unknown}); x.Response == nil && status(x) == 0 {
			return broken(shown(x), "a request with an unknown method got %s", answer(x))
		}
		return held()
	})
	v.check(ctx, "message-unknown-method", "", func(ctx context.Context) outcome {
		x := v.send(ctx, mcp.Call{Method: unknown})
		switch got, ok := code(x); {
		case ok && got == protocol.CodeMethodNotFound:
			return held()
		case !ok && x.Result == nil:
			return unverified("there was %s", answer(x))
		}
		return broken(shown(x), "an unknown method got %s, expected the error -32601", answer(x))
	})
	v.check(ctx, "message-id", "text as id", func(ctx context.Context) outcome {
		x := v.raw(ctx, v.frame("mcptest-1", v.idle(), jsonv.Value{}))
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
	v.check(ctx, "message-notification", "", v.notification)
}

// idle is a method that does nothing.
func (v *visit) idle() string {
	if v.modern() {
		return protocol.MethodDiscover
	}
	return "ping"
}

// notification sends an unknown notification. Over HTTP an error status may have a body.
func (v messageRules) notification(ctx context.Context) outcome {
	const method = "notifications/mcptest-unknown"
	message := v.frame(nil, method, jsonv.Value{})
	if !v.stdio() {
		x := v.post(ctx, suite.Request{Body: message.Append(nil)}, v.inSession(ctx, message))
		if s := status(x); s >= 200 && s < 300 && strings.Contains(string(x.Response), `"jsonrpc"`) {
			return broken(shown(x), "a notification got a message as response")
		}
		return held()
	}
	sess, err := v.session(ctx)
	if err != nil {
		return unverified("%v", err)
	}
	v.unclaimed(sess.TakeViolations())
	if err := sess.Notify(ctx, method, message.Lookup("params").Append(nil)); err != nil {
		return unverified("%v", err)
	}
	x := v.once(ctx, mcp.Call{Method: v.idle()})
	for _, found := range append(sess.TakeViolations(), x.Violations...) {
		switch found.Kind {
		case protocol.NullID, protocol.MissingID, protocol.UnknownID, protocol.Echo:
			return broken(verdict.Evidence{Sent: message.String(), Received: found.Excerpt}, "a notification got a response")
		}
	}
	return held()
}

// metaKey is the form of a key in _meta.
var metaKey = regexp.MustCompile(`^([A-Za-z]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z]([A-Za-z0-9-]*[A-Za-z0-9])?)*/)?([A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?)?$`)

// errorForm examines the code of an error to a valid request of a stateless revision.
func (v *visit) errorForm(x *mcp.Exchange) {
	got, ok := code(x)
	if !ok || !v.modern() {
		return
	}
	v.enter("message-reserved-code", held())
	v.enter("message-code-meaning", held())
	switch {
	case got <= -32023 && got >= -32099 || got == -32002:
		v.enter("message-reserved-code", broken(shown(x), "%s got the reserved code %d", x.Method, got))
	case got == protocol.CodeHeaderMismatch && v.stdio():
		v.enter("message-code-meaning", broken(shown(x), "%s got -32020 (headers differ), but stdio has no headers", x.Method))
	case got == protocol.CodeUnsupportedVersion && v.info.Lookup("supportedVersions").Kind() == jsonv.KindArray:
		v.enter("message-code-meaning", broken(shown(x), "%s got -32022 (unsupported version) for a version that the server lists", x.Method))
	case got == protocol.CodeMissingCapability:
		v.enter("capability-error-data", v.missingCapability(x))
	}
}

// missingCapability examines the error -32021.
func (v *visit) missingCapability(x *mcp.Exchange) outcome {
	data, _ := jsonv.Parse(rpcError(x).Data)
	if data.Lookup("requiredCapabilities").IsAbsent() {
		return broken(shown(x), "the error -32021 has no data.requiredCapabilities")
	}
	if s := status(x); s != 0 && s != http.StatusBadRequest {
		return broken(shown(x), "the error -32021 has the status %d, expected 400", s)
	}
	return held()
}
