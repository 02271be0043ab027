package probe

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/conn"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/run/probe/verdict"
)

// introduction is an initialize request on a connection of its own.
type introduction struct {
	*mcp.Exchange
	early []mcp.Message // what the server sent before notifications/initialized
}

func (i introduction) version() string { return result(i.Exchange).Lookup("protocolVersion").Text() }

// introduce sends initialize with a version, for a client that can do everything.
func introduce(ctx context.Context, v *visit, version string) (i introduction) {
	caps := jsonv.ObjectOf("roots", jsonv.Object(), "sampling", jsonv.Object(), "elicitation", jsonv.Object())
	i.Exchange = v.alone(ctx, func(ctx context.Context, c *conn.Conn) *mcp.Exchange {
		mark := c.Mark()
		x := c.Do(ctx, mcp.Call{Method: "initialize", Params: text(v.greeting(version, caps))}, conn.Delivery{})
		if x.Result != nil {
			time.Sleep(200 * time.Millisecond)
		}
		i.early = c.Messages(mark)
		return x
	})
	return i
}

// lifecycle examines the handshake.
func lifecycle(ctx context.Context, v *visit) {
	if v.modern() {
		v.state(ctx, "discover-present", "", discovered(v))
		v.check(ctx, "lifecycle-modern-initialize", "", func(ctx context.Context) outcome {
			switch {
			case dual(ctx, v):
				return inapplicable("the server speaks versions with initialize, too")
			case !refused(v.greeted):
				return unverified("initialize got %s", answer(v.greeted))
			}
			return brokenIf(!strings.Contains(shown(v.greeted).Received, v.version.Name), v.greeted, "the error to initialize does not name %s", v.version.Name)
		})
		return
	}
	v.state(ctx, "lifecycle-result", "", initialized(v.hello))
	var offer introduction
	v.check(ctx, "lifecycle-version-offer", "", func(ctx context.Context) outcome {
		offer = introduce(ctx, v, "1999-01-01")
		if offer.Response == nil && !refused(offer.Exchange) {
			return broken(offer.Exchange, "initialize with the version 1999-01-01 got %s", answer(offer.Exchange))
		}
		return brokenIf(offer.version() == "1999-01-01", offer.Exchange, "the made-up version 1999-01-01 was confirmed")
	})
	if offer.Exchange != nil && refused(offer.Exchange) {
		names := slices.ContainsFunc(protocol.Versions(), func(known string) bool { return strings.Contains(shown(offer.Exchange).Received, known) })
		v.state(ctx, "lifecycle-version-error", "", brokenIf(!names, offer.Exchange, "the refusal of an unknown version names no version that the server supports"))
	}
	v.check(ctx, "lifecycle-early-request", "", func(ctx context.Context) outcome {
		if offer.Exchange == nil || offer.Result == nil {
			offer = introduce(ctx, v, v.version.Name)
		}
		for _, m := range offer.early {
			if m.Kind == mcp.KindRequest && m.Method != "ping" {
				return brokenBy(verdict.Evidence{Sent: string(offer.Request), Received: string(m.Raw)}, "the server sent %s before notifications/initialized", m.Method)
			}
		}
		return held()
	})
	// Other versions that the server says it supports:
	stated := append(v.stated, errorData(offer.Exchange).Lookup("supported").Texts()...)
	for _, version := range stated {
		if protocol.VersionOf(version).Era() != protocol.EraSession || version == v.version.Name {
			continue
		}
		v.check(ctx, "lifecycle-version-echo", version, func(ctx context.Context) outcome {
			x := introduce(ctx, v, version)
			return brokenIf(x.version() != version, x.Exchange, "the server supports %s, but answered it with %s", version, cmp.Or(x.version(), answer(x.Exchange)))
		})
	}
	if len(stated) == 0 {
		v.enter(unverified("no second version is known that the server supports"), "lifecycle-version-echo")
	}
}

// initialized examines the result of initialize.
func initialized(x *mcp.Exchange) outcome {
	for _, path := range []string{"protocolVersion", "capabilities", "serverInfo", "serverInfo.name", "serverInfo.version"} {
		kind := jsonv.KindString
		if path == "capabilities" || path == "serverInfo" {
			kind = jsonv.KindObject
		}
		if got := result(x).Lookup(strings.Split(path, ".")...); got.Kind() != kind {
			return broken(x, "%s of the result of initialize is %s, expected %s", path, got.Kind(), kind)
		}
	}
	return held()
}

// discovered examines the result of server/discover.
func discovered(v *visit) outcome {
	x, res := v.hello, result(v.hello)
	if x.Result == nil {
		return broken(x, "server/discover got %s, but other requests of 2026-07-28 are served", answer(x))
	}
	if kind := res.Lookup("supportedVersions").Kind(); kind != jsonv.KindArray {
		return broken(x, "supportedVersions of server/discover is %s, expected a list", kind)
	}
	kind := res.Lookup("capabilities").Kind()
	return brokenIf(kind != jsonv.KindObject, x, "capabilities of server/discover is %s, expected an object", kind)
}

// dual reports whether a server of a stateless revision speaks versions with sessions, too.
func dual(ctx context.Context, v *visit) bool {
	if v.greeted == nil {
		v.greeted = introduce(ctx, v, protocol.Newest(protocol.EraSession).Name).Exchange
	}
	return v.greeted.Result != nil
}

// diagnose examines a server whose handshake failed: a defective handshake is the defect
// of a rule. It reports whether the server speaks the era.
func diagnose(ctx context.Context, v *visit) bool {
	v.version = protocol.Newest(v.era)
	if !v.modern() {
		x := introduce(ctx, v, v.version.Name)
		if res := result(x.Exchange); res.Kind() != jsonv.KindObject || res.Lookup("protocolVersion").Kind() == jsonv.KindString {
			return false
		}
		v.check(ctx, "lifecycle-result", "", func(ctx context.Context) outcome { return initialized(introduce(ctx, v, v.version.Name).Exchange) })
		return true
	}
	c, err := v.bare(ctx)
	if err != nil {
		return false
	}
	defer c.Close(context.WithoutCancel(ctx))
	send := func(ctx context.Context, method string) *mcp.Exchange {
		ctx, cancel := mcp.WithLimit(ctx, "response", v.Reply)
		defer cancel()
		return c.Do(ctx, mcp.Call{Method: method, Params: text(jsonv.ObjectOf("_meta", v.meta()))}, conn.Delivery{Version: v.version})
	}
	served := slices.ContainsFunc([]string{"tools/list", "resources/list", "prompts/list"}, func(method string) bool {
		return result(send(ctx, method)).Lookup("resultType").Kind() == jsonv.KindString
	})
	if served {
		v.check(ctx, "discover-present", "", func(ctx context.Context) outcome {
			v.hello = send(ctx, protocol.MethodDiscover)
			return discovered(v)
		})
	}
	return served
}
