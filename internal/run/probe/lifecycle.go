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

// lifecycleRules examines the rules of the family lifecycle.
type lifecycleRules struct{ *visit }

// introduce sends initialize with a version, for a client that can do everything.
func (v *visit) introduce(ctx context.Context, version string) introduction {
	c, err := v.bare(ctx)
	if err != nil {
		return introduction{Exchange: &mcp.Exchange{Cause: err}}
	}
	defer c.Close(context.WithoutCancel(ctx))
	caps := jsonv.ObjectOf("roots", jsonv.Object(), "sampling", jsonv.Object(), "elicitation", jsonv.Object())
	params := jsonv.ObjectOf("protocolVersion", version, "capabilities", caps, "clientInfo", jsonv.ObjectOf("name", v.Client.Name, "version", v.Client.Version))
	limited, cancel := mcp.WithLimit(ctx, "response", v.server.ConnectTimeout)
	defer cancel()
	mark := c.Mark()
	x := c.Do(limited, mcp.Call{Method: "initialize", Params: params.Append(nil)}, conn.Delivery{})
	if x.Result != nil {
		time.Sleep(200 * time.Millisecond)
	}
	return introduction{x, c.Messages(mark)}
}

// lifecycle examines the handshake.
func (v lifecycleRules) lifecycle(ctx context.Context) {
	if v.modern() {
		v.check(ctx, "discover-present", "", func(context.Context) outcome { return v.discovered() })
		v.check(ctx, "lifecycle-modern-initialize", "", v.modernInitialize)
		return
	}
	v.check(ctx, "lifecycle-result", "", func(context.Context) outcome { return initialized(v.hello) })
	var offer introduction
	v.check(ctx, "lifecycle-version-offer", "", func(ctx context.Context) outcome {
		offer = v.introduce(ctx, "1999-01-01")
		got := result(offer.Exchange).Lookup("protocolVersion").Text()
		switch {
		case offer.Response == nil && !refused(offer.Exchange):
			return broken(shown(offer.Exchange), "initialize with the version 1999-01-01 got %s", answer(offer.Exchange))
		case got == "1999-01-01":
			return broken(shown(offer.Exchange), "the made-up version 1999-01-01 was confirmed")
		}
		return held()
	})
	if offer.Exchange != nil && refused(offer.Exchange) {
		v.check(ctx, "lifecycle-version-error", "", func(context.Context) outcome {
			if slices.ContainsFunc(protocol.Versions(), func(known string) bool { return strings.Contains(shown(offer.Exchange).Received, known) }) {
				return held()
			}
			return broken(shown(offer.Exchange), "the refusal of an unknown version names no version that the server supports")
		})
	}
	v.check(ctx, "lifecycle-early-request", "", func(ctx context.Context) outcome {
		if offer.Exchange == nil || offer.Result == nil {
			offer = v.introduce(ctx, v.version.Name)
		}
		for _, m := range offer.early {
			if m.Kind == mcp.KindRequest && m.Method != "ping" {
				return broken(verdict.Evidence{Sent: string(offer.Request), Received: string(m.Raw)}, "the server sent %s before notifications/initialized", m.Method)
			}
		}
		return held()
	})
	v.versionEcho(ctx, offer)
}

// versionEcho asks for other versions that the server says it supports.
func (v lifecycleRules) versionEcho(ctx context.Context, offer introduction) {
	stated := v.stated
	if e := rpcError(offer.Exchange); e != nil {
		if data, err := jsonv.Parse(e.Data); err == nil {
			stated = append(stated, data.Lookup("supported").Texts()...)
		}
	}
	for _, version := range stated {
		if protocol.VersionOf(version).Era() != protocol.EraSession || version == v.version.Name {
			continue
		}
		v.check(ctx, "lifecycle-version-echo", version, func(ctx context.Context) outcome {
			x := v.introduce(ctx, version)
			if got := result(x.Exchange).Lookup("protocolVersion").Text(); got != version {
				return broken(shown(x.Exchange), "the server supports %s, but answered it with %s", version, cmp.Or(got, answer(x.Exchange)))
			}
			return held()
		})
	}
	if len(stated) == 0 {
		v.enter("lifecycle-version-echo", unverified("no second version is known that the server supports"))
	}
}

// initialized examines the result of initialize.
func initialized(x *mcp.Exchange) outcome {
	res := result(x)
	for _, m := range []struct {
		path string
		kind jsonv.Kind
	}{{"protocolVersion", jsonv.KindString}, {"capabilities", jsonv.KindObject}, {"serverInfo", jsonv.KindObject}, {"serverInfo.name", jsonv.KindString}, {"serverInfo.version", jsonv.KindString}} {
		if got := res.Lookup(strings.Split(m.path, ".")...); got.Kind() != m.kind {
			return broken(shown(x), "%s of the result of initialize is %s, expected %s", m.path, got.Kind(), m.kind)
		}
	}
	return held()
}

// discovered examines the result of server/discover.
func (v *visit) discovered() outcome {
	res := result(v.hello)
	switch {
	case v.hello.Result == nil:
		return broken(shown(v.hello), "server/discover got %s, but other requests of 2026-07-28 are served", answer(v.hello))
	case res.Lookup("supportedVersions").Kind() != jsonv.KindArray:
		return broken(shown(v.hello), "supportedVersions of server/discover is %s, expected a list", res.Lookup("supportedVersions").Kind())
	case res.Lookup("capabilities").Kind() != jsonv.KindObject:
		return broken(shown(v.hello), "capabilities of server/discover is %s, expected an object", res.Lookup("capabilities").Kind())
	}
	return held()
}

// modernInitialize sends initialize to a server that may know 2026-07-28 only.
func (v lifecycleRules) modernInitialize(ctx context.Context) outcome {
	dual := v.dual(ctx)
	x := v.greeted
	switch {
	case dual:
		return inapplicable("the server speaks versions with initialize, too")
	case !refused(x):
		return unverified("initialize got %s", answer(x))
	case strings.Contains(shown(x).Received, v.version.Name):
		return held()
	}
	return broken(shown(x), "the error to initialize does not name %s", v.version.Name)
}

// dual reports whether a server of a stateless revision speaks versions with sessions, too.
func (v *visit) dual(ctx context.Context) bool {
	if v.greeted == nil {
		v.greeted = v.introduce(ctx, protocol.Newest(protocol.EraSession).Name).Exchange
	}
	return v.greeted.Result != nil
}

// diagnose examines a server whose handshake failed: a defective handshake is the defect
// of a rule. It reports whether the server speaks the era.
func (v *visit) diagnose(ctx context.Context) bool {
	v.version = protocol.Newest(v.era)
	if !v.modern() {
		x := v.introduce(ctx, v.version.Name)
		if result(x.Exchange).Kind() != jsonv.KindObject || result(x.Exchange).Lookup("protocolVersion").Kind() == jsonv.KindString {
			return false
		}
		v.check(ctx, "lifecycle-result", "", func(ctx context.Context) outcome { return initialized(v.introduce(ctx, v.version.Name).Exchange) })
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
		return c.Do(ctx, mcp.Call{Method: method, Params: jsonv.ObjectOf("_meta", v.meta()).Append(nil)}, conn.Delivery{Version: v.version})
	}
	served := false
	for _, method := range []string{"tools/list", "resources/list", "prompts/list"} {
		served = served || result(send(ctx, method)).Lookup("resultType").Kind() == jsonv.KindString
	}
	if served {
		v.check(ctx, "discover-present", "", func(ctx context.Context) outcome {
			v.hello = send(ctx, protocol.MethodDiscover)
			return v.discovered()
		})
	}
	return served
}
