package probe

import (
	"context"
	"net/http"
	"slices"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/offer/ruleset"
	"mcptest/internal/offer/surface"
	"mcptest/internal/run/probe/verdict"
)

const (
	long   = 2 * time.Second // a call that takes longer is not repeated with other arguments
	deaths = 3               // ends of the process in a row after which a family ends
)

// visit examines the server in one revision.
type visit struct {
	link
	ledger

	info  jsonv.Value // the result of the handshake
	hello *mcp.Exchange
	caps  jsonv.Value // that the server declares

	tools, resources, templates, prompts []jsonv.Value
	listed                               []listing
	quick                                []jsonv.Value // tools that may be called again without a long wait
	tooSlow                              []string      // tools that are called once only
	signed                               bool          // a result has serverInfo
	unsigned                             *mcp.Exchange // a result without
	greeted                              *mcp.Exchange // initialize, sent to a server of a stateless revision
}

// declares reports whether the server declares a capability.
func (v *visit) declares(path ...string) bool { return !v.caps.Lookup(path...).IsAbsent() }

// slow reports whether a tool is called once only.
func (v *visit) slow(tool jsonv.Value) bool {
	return slices.Contains(v.tooSlow, tool.Lookup("name").Text())
}

// name is the name and version that the server reports.
func (v *visit) name() string {
	self := v.info.Lookup("serverInfo")
	if self.Kind() != jsonv.KindObject {
		self = v.info.Lookup("_meta", protocol.MetaServer)
	}
	return self.Lookup("name").Text() + " " + self.Lookup("version").Text()
}

// look opens the first session and requests the lists.
func (v *visit) look(ctx context.Context) error {
	sess, err := v.session(ctx)
	if err != nil {
		return err
	}
	v.version, v.info, v.hello = sess.ProtocolVersion(), sess.ServerInfo(), sess.Handshake()
	v.caps = v.info.Lookup("capabilities")
	v.observe(v.hello, nil)
	v.stated = append(v.stated, v.info.Lookup("supportedVersions").Texts()...)
	into := map[surface.Kind]*[]jsonv.Value{surface.Tool: &v.tools, surface.Resource: &v.resources, surface.Template: &v.templates, surface.Prompt: &v.prompts}
	for _, l := range surface.Lists() {
		if v.declares(l.Capability) {
			v.Doing(v.version.Name + " · " + l.Method)
			list := read(ctx, l, v.send)
			v.listed, *into[l.Kind] = append(v.listed, list), list.items
		}
	}
	return nil
}

// firstList is a list that the server returns.
func (v *visit) firstList() string {
	for _, l := range v.listed {
		if l.pages[0].Result != nil {
			return l.Method
		}
	}
	return v.idle()
}

// do makes one valid request in the open session.
func (v *visit) do(ctx context.Context, method string, params jsonv.Value) *mcp.Exchange {
	return v.send(ctx, mcp.Call{Method: method, Params: text(params)})
}

// send makes a call in the open session. What the session reports about the exchange
// reaches the ledger.
func (v *visit) send(ctx context.Context, call mcp.Call) *mcp.Exchange {
	x := v.once(ctx, call)
	v.observe(x, func() *mcp.Exchange { return v.once(ctx, call) })
	return x
}

// call calls a tool, or says why it must not.
func (v *visit) call(ctx context.Context, tool, args jsonv.Value) (x *mcp.Exchange, why string) {
	if why := v.policy.Call(tool, args); why != "" {
		return nil, why
	}
	return v.send(ctx, mcp.Call{Method: "tools/call", Params: text(params(tool, args)), ProgressToken: true}), ""
}

// subject names a tool.
func subject(tool jsonv.Value) string { return "tool " + tool.Lookup("name").Text() }

// params are those of a call of a tool.
func params(tool, args jsonv.Value, more ...any) jsonv.Value {
	return jsonv.ObjectOf(append([]any{"name", tool.Lookup("name"), "arguments", args}, more...)...)
}

// check provokes a rule and enters the verdict. The subject is what it is about, such as
// "tool echo"; empty for the server as a whole. It may be called for several subjects:
// one that breaks the rule decides.
func (v *visit) check(ctx context.Context, rule, subject string, provoke func(context.Context) outcome) {
	if !v.applies(rule) {
		return
	}
	o := v.provoke(ctx, rule, provoke)
	if o.verdict == verdict.Fail && !o.once {
		again := v.provoke(ctx, rule, provoke)
		if again.verdict == verdict.NotVerified {
			again = v.provoke(ctx, rule, provoke)
		}
		if again.verdict != verdict.Fail {
			o = unverified("not repeatable: %s, but not when it was repeated", o.why)
		}
	}
	v.add(rule, subject, o)
}

// state is check for what needs no further request.
func (v *visit) state(ctx context.Context, rule, subject string, o outcome) {
	v.check(ctx, rule, subject, func(context.Context) outcome { return o })
}

// refuses checks that a request gets an error with one of the codes.
func (v *visit) refuses(ctx context.Context, rule, subject, method string, params jsonv.Value, codes ...int64) {
	v.check(ctx, rule, subject, func(ctx context.Context) outcome { return v.expectCode(ctx, method, params, codes...) })
}

// expectCode sends a request that must get an error with one of the codes.
func (v *visit) expectCode(ctx context.Context, method string, params jsonv.Value, codes ...int64) outcome {
	x := v.do(ctx, method, params)
	e := rpcError(x)
	switch {
	case e != nil && slices.Contains(codes, e.Code), another(x):
		return held()
	case e == nil && x.Result == nil:
		return unverified("%s got %s", method, answer(x))
	}
	return broken(x, "%s with %s got %s, expected the error %d", method, params.Short(120), answer(x), codes[0])
}

// each checks rules about one observation, which is made again for a second sighting.
func each[T any](ctx context.Context, v *visit, rules []string, observe func(context.Context) T, judge func(rule string, seen T) outcome) {
	var last *T
	for _, rule := range rules {
		first := last
		v.check(ctx, rule, "", func(ctx context.Context) outcome {
			seen := first
			if first = nil; seen == nil {
				made := observe(ctx)
				seen, last = &made, &made
			}
			return judge(rule, *seen)
		})
	}
}

// elements checks a rule about the elements of a list in a result, which is requested again
// for a second sighting. wrong says what is wrong with an element, if anything.
func (v *visit) elements(ctx context.Context, rule, subject string, x *mcp.Exchange, again func(context.Context) *mcp.Exchange, list string, wrong func(jsonv.Value) string) {
	v.check(ctx, rule, subject, func(ctx context.Context) outcome {
		seen := x
		if x = nil; seen == nil {
			seen = again(ctx)
		}
		for _, e := range result(seen).Lookup(list).Elems() {
			if why := wrong(e); why != "" {
				return broken(seen, "%s", why)
			}
		}
		return held()
	})
}

// provoke calls provoke once. What authorization and limits of rate refuse is no verdict
// on any other rule.
func (v *visit) provoke(ctx context.Context, rule string, provoke func(context.Context) outcome) outcome {
	switch {
	case ctx.Err() != nil:
		return unverified("time: %v", context.Cause(ctx))
	case v.restarts >= deaths:
		return unverified("the server ended %d times in a row: %s", v.restarts, v.ended)
	}
	o := provoke(ctx)
	v.revive(ctx)
	if o.verdict == verdict.Fail && ctx.Err() != nil {
		return unverified("time: %v", context.Cause(ctx))
	}
	if r, _ := v.rules.Rule(rule); r.Family != "auth" && r.ID != "http-origin-own" && o.verdict == verdict.Fail {
		for _, e := range o.evidence {
			if refusesAll(e.Status) {
				return unverified("HTTP %d", e.Status)
			}
		}
	}
	return o
}

// refusesAll reports whether a status may answer every request: authorization and limits
// of rate come first.
func refusesAll(status int) bool {
	return slices.Contains([]int{http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests, http.StatusServiceUnavailable}, status)
}

// selected reports whether a rule is examined.
func (v *visit) selected(r ruleset.Rule) bool {
	return len(v.Only) == 0 || slices.Contains(v.Only, r.Family) || slices.Contains(v.Only, r.ID)
}

// applies reports whether a rule is selected and concerns this revision and transport.
func (v *visit) applies(id string) bool {
	r, ok := v.rules.Rule(id)
	if !ok || !v.selected(r) {
		return false
	}
	_, ok = r.Claim(v.version.Name)
	return ok && (r.Transport == "" || (r.Transport == "stdio") == v.stdio())
}

// enter enters an outcome for the rules that apply.
func (v *visit) enter(o outcome, rules ...string) {
	for _, rule := range rules {
		if v.applies(rule) {
			v.add(rule, "", o)
		}
	}
}

// enterAll enters an outcome for the rules of a family.
func (v *visit) enterAll(family string, o outcome) {
	for _, r := range v.rules.Rules {
		if r.Family == family {
			v.enter(o, r.ID)
		}
	}
}

// results returns the verdicts of the rules that concern the revision.
func (v *visit) results() (out []verdict.Result) {
	for _, r := range v.rules.Rules {
		c, ok := r.Claim(v.version.Name)
		if !ok || !v.selected(r) {
			continue
		}
		if r.Transport != "" && (r.Transport == "stdio") != v.stdio() {
			v.add(r.ID, "", inapplicable("only over %s", r.Transport))
		}
		if need := r.Needs; need != "" && !v.declares(need) {
			v.add(r.ID, "", inapplicable("the server does not declare %s", need))
		}
		out = append(out, v.result(r, c, v.version.Name))
	}
	return out
}
