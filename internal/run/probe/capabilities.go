package probe

import (
	"context"
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/offer/surface"
)

// capabilities compares what is declared with what is served.
func capabilities(ctx context.Context, v *visit) {
	for _, l := range surface.Lists() {
		if l.Kind == surface.Template {
			continue
		}
		v.check(ctx, "capability-"+l.Capability, "", func(ctx context.Context) outcome {
			if v.declares(l.Capability) {
				return held()
			}
			x := v.do(ctx, l.Method, jsonv.Value{})
			if n := result(x).Lookup(l.Member).Len(); n > 0 {
				return broken(x, "%s has %d entries, but the capability %s is not declared", l.Method, n, l.Capability)
			}
			return inapplicable("%s is neither declared nor offered", l.Capability)
		})
		serves(ctx, v, "capability-served", l.Method, l.Capability, l.Method, jsonv.Value{})
	}
	argument := jsonv.ObjectOf("ref", reference(v), "argument", jsonv.ObjectOf("name", "a", "value", "a"))
	serves(ctx, v, "capability-completions", "", "completions", "completion/complete", argument)
	serves(ctx, v, "capability-logging", "", "logging", "logging/setLevel", jsonv.ObjectOf("level", "info"))
	if v.declares("logging") {
		v.enter(held(), "logging-undeclared")
	}
	announced := []string{"tools.listChanged", "prompts.listChanged", "resources.listChanged", "resources.subscribe"}
	i := slices.IndexFunc(announced, func(path string) bool { return v.caps.Lookup(strings.Split(path, ".")...).Bool() })
	if i >= 0 {
		v.check(ctx, "capability-listen", "", func(ctx context.Context) outcome {
			sub := listen(ctx, v)
			return brokenIf(notFound(sub), sub, "the server declares %s, but subscriptions/listen got %s", announced[i], answer(sub))
		})
	}
	v.enter(inapplicable("the server declares neither listChanged nor subscribe"), "capability-listen")
	for key := range v.caps.Lookup("extensions").Members() {
		v.enter(brokenIf(!strings.Contains(key, "/") || !metaKey.MatchString(key), v.hello, "the name of the extension %q has no valid prefix", key), "extension-key")
	}
}

// serves requests something if it is declared. Only "method not found" is certain.
func serves(ctx context.Context, v *visit, rule, subject, capability, method string, params jsonv.Value) {
	if !v.declares(capability) {
		return
	}
	v.check(ctx, rule, subject, func(ctx context.Context) outcome {
		x := v.do(ctx, method, params)
		switch {
		case notFound(x):
			return broken(x, "the capability is declared, but %s got %s", method, answer(x))
		case x.Result == nil && capability != "completions":
			return unverified("%s got %s", method, answer(x))
		}
		return held()
	})
}

// reference names something that completion/complete may know.
func reference(v *visit) jsonv.Value {
	switch {
	case len(v.prompts) > 0:
		return jsonv.ObjectOf("type", "ref/prompt", "name", v.prompts[0].Lookup("name"))
	case len(v.templates) > 0:
		return jsonv.ObjectOf("type", "ref/resource", "uri", v.templates[0].Lookup("uriTemplate"))
	}
	return jsonv.ObjectOf("type", "ref/prompt", "name", "mcptest-no-such-prompt")
}

// listen opens a subscription for changes of the tools, and returns it once it is
// acknowledged or refused.
func listen(ctx context.Context, v *visit) *mcp.Exchange {
	params := jsonv.ObjectOf("notifications", jsonv.ObjectOf("toolsListChanged", true))
	return v.once(ctx, mcp.Call{Method: protocol.MethodListen, Params: params.Append(nil)})
}
