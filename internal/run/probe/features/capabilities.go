package features

import (
	"context"
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/offer/surface"
	"mcptest/internal/run/probe/exam"
)

// Capabilities compares what is declared with what is served.
func Capabilities(ctx context.Context, v *exam.Visit) {
	for _, l := range surface.Lists() {
		if l.Kind == surface.Template {
			continue
		}
		v.Check(ctx, "capability-"+l.Capability, "", func(ctx context.Context) exam.Outcome {
			if v.Declares(l.Capability) {
				return exam.Held()
			}
			x := v.Do(ctx, l.Method, jsonv.Value{})
			if n := exam.Result(x).Lookup(l.Member).Len(); n > 0 {
				return exam.Broken(x, "%s has %d entries, but the capability %s is not declared", l.Method, n, l.Capability)
			}
			return exam.Inapplicable("%s is neither declared nor offered", l.Capability)
		})
		checkServed(ctx, v, "capability-served", l.Method, l.Capability, l.Method, jsonv.Value{})
	}
	argument := jsonv.ObjectOf("ref", makeReference(v), "argument", jsonv.ObjectOf("name", "a", "value", "a"))
	checkServed(ctx, v, "capability-completions", "", "completions", "completion/complete", argument)
	checkServed(ctx, v, "capability-logging", "", "logging", "logging/setLevel", jsonv.ObjectOf("level", "info"))
	if v.Declares("logging") {
		v.Enter(exam.Held(), "logging-undeclared")
	}
	announced := []string{"tools.listChanged", "prompts.listChanged", "resources.listChanged", "resources.subscribe"}
	i := slices.IndexFunc(announced, func(path string) bool { return v.Caps.Lookup(strings.Split(path, ".")...).Bool() })
	if i >= 0 {
		v.Check(ctx, "capability-listen", "", func(ctx context.Context) exam.Outcome {
			sub := listen(ctx, v)
			return exam.BrokenIf(exam.NotFound(sub), sub, "the server declares %s, but subscriptions/listen got %s", announced[i], exam.Answer(sub))
		})
	}
	v.Enter(exam.Inapplicable("the server declares neither listChanged nor subscribe"), "capability-listen")
	for key := range v.Caps.Lookup("extensions").Members() {
		isPrefixed := strings.Contains(key, "/") && exam.MetaKey().MatchString(key)
		o := exam.BrokenIf(!isPrefixed, v.Hello, "the name has no valid prefix")
		v.State(ctx, "extension-key", "extension "+key, o)
	}
}

// failsAlways reports whether a list got an error that no client can avoid. One that names
// a missing capability, a header or a version may be right.
func failsAlways(x *mcp.Exchange) bool {
	e := exam.RPCError(x)
	avoidable := []int64{protocol.CodeMissingCapability, protocol.CodeHeaderMismatch, protocol.CodeUnsupportedVersion}
	return e != nil && !slices.Contains(avoidable, e.Code) && !exam.RefusesAll(exam.Status(x))
}

// checkServed requests something if it is declared. That "method not found" is wrong is certain;
// that another error of a list is, in 2026-07-28 only.
func checkServed(ctx context.Context, v *exam.Visit, rule, subject, capability, method string, params jsonv.Value) {
	if !v.Declares(capability) {
		return
	}
	v.Check(ctx, rule, subject, func(ctx context.Context) exam.Outcome {
		x := v.Do(ctx, method, params)
		switch {
		case exam.NotFound(x):
			return exam.Broken(x, "the capability is declared, but %s got %s", method, exam.Answer(x))
		case rule == "capability-served" && v.Modern() && failsAlways(x):
			return exam.Broken(x, "the capability is declared, but %s got %s", method, exam.Answer(x))
		case x.Result == nil && capability != "completions":
			return exam.Unverified("%s got %s", method, exam.Answer(x))
		}
		return exam.Held()
	})
}

// makeReference names something that completion/complete may know.
func makeReference(v *exam.Visit) jsonv.Value {
	switch {
	case len(v.Prompts) > 0:
		return jsonv.ObjectOf("type", "ref/prompt", "name", v.Prompts[0].Lookup("name"))
	case len(v.Templates) > 0:
		return jsonv.ObjectOf("type", "ref/resource", "uri", v.Templates[0].Lookup("uriTemplate"))
	}
	return jsonv.ObjectOf("type", "ref/prompt", "name", "mcptest-no-such-prompt")
}

// listen opens a subscription for changes of the tools, and returns it once it is
// acknowledged or refused.
func listen(ctx context.Context, v *exam.Visit) *mcp.Exchange {
	return v.Listen(ctx, jsonv.ObjectOf("toolsListChanged", true))
}
