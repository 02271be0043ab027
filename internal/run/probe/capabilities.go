package probe

import (
	"context"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/offer/surface"
)

// capabilityRules examines the rules of the family capabilities.
type capabilityRules struct{ *visit }

// capabilities compares what is declared with what is served.
func (v capabilityRules) capabilities(ctx context.Context) {
	for _, l := range surface.Lists() {
		if l.Kind != surface.Template {
			v.check(ctx, "capability-"+l.Capability, "", func(ctx context.Context) outcome { return v.undeclaredList(ctx, l) })
			if v.declares(l.Capability) {
				v.check(ctx, "capability-served", l.Method, func(ctx context.Context) outcome { return v.served(ctx, l.Method, jsonv.Value{}) })
			}
		}
	}
	if v.declares("completions") {
		params := jsonv.ObjectOf("ref", v.reference(), "argument", jsonv.ObjectOf("name", "a", "value", "a"))
		v.check(ctx, "capability-completions", "", func(ctx context.Context) outcome { return v.served(ctx, "completion/complete", params) })
	}
	if v.declares("logging") {
		v.check(ctx, "capability-logging", "", func(ctx context.Context) outcome {
			return v.served(ctx, "logging/setLevel", jsonv.ObjectOf("level", "info"))
		})
		v.enter("logging-undeclared", held())
	}
	for _, path := range [][]string{{"tools", "listChanged"}, {"prompts", "listChanged"}, {"resources", "listChanged"}, {"resources", "subscribe"}} {
		if v.caps.Lookup(path...).Bool() {
			v.check(ctx, "capability-listen", "", func(ctx context.Context) outcome {
				if sub := v.listen(ctx); notFound(sub) {
					return broken(shown(sub), "the server declares %s, but subscriptions/listen got %s", strings.Join(path, "."), answer(sub))
				}
				return held()
			})
			break
		}
	}
	v.enter("capability-listen", inapplicable("the server declares neither listChanged nor subscribe"))
	for key := range v.caps.Lookup("extensions").Members() {
		o := held()
		if !strings.Contains(key, "/") || !metaKey.MatchString(key) {
			o = broken(shown(v.hello), "the name of the extension %q has no valid prefix", key)
		}
		v.enter("extension-key", o)
	}
}

// notFound reports whether a method is not implemented.
func notFound(x *mcp.Exchange) bool {
	got, ok := code(x)
	return ok && got == protocol.CodeMethodNotFound
}

// served requests something that is declared. Only "method not found" is certain.
func (v capabilityRules) served(ctx context.Context, method string, params jsonv.Value) outcome {
	x := v.do(ctx, method, params)
	switch {
	case notFound(x):
		return broken(shown(x), "the capability is declared, but %s got %s", method, answer(x))
	case x.Result == nil && !strings.HasPrefix(method, "completion/"):
		return unverified("%s got %s", method, answer(x))
	}
	return held()
}

// undeclaredList requests a list that may not be declared.
func (v capabilityRules) undeclaredList(ctx context.Context, l surface.List) outcome {
	if v.declares(l.Capability) {
		return held()
	}
	x := v.do(ctx, l.Method, jsonv.Value{})
	if n := result(x).Lookup(l.Member).Len(); n > 0 {
		return broken(shown(x), "%s has %d entries, but the capability %s is not declared", l.Method, n, l.Capability)
	}
	return inapplicable("%s is neither declared nor offered", l.Capability)
}

// reference names something that completion/complete may know.
func (v capabilityRules) reference() jsonv.Value {
	for _, p := range v.prompts {
		return jsonv.ObjectOf("type", "ref/prompt", "name", p.Lookup("name"))
	}
	for _, t := range v.templates {
		return jsonv.ObjectOf("type", "ref/resource", "uri", t.Lookup("uriTemplate"))
	}
	return jsonv.ObjectOf("type", "ref/prompt", "name", "mcptest-no-such-prompt")
}
