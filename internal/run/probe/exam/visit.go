package exam

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
	Long   = 2 * time.Second // a call that takes longer is not repeated with other arguments
	deaths = 3               // ends of the process in a row after which a family ends
)

// Visit examines the server in one revision.
type Visit struct {
	link
	ledger

	info  jsonv.Value // the result of the handshake
	Hello *mcp.Exchange
	Caps  jsonv.Value // that the server declares

	Tools, Resources, Templates, Prompts []jsonv.Value
	Listed                               []Listing
	Quick                                []jsonv.Value // tools that may be called again without a long wait
	TooSlow                              []string      // tools that are called once only
	Signed                               bool          // a result has serverInfo
	Unsigned                             *mcp.Exchange // a result without
	Greeted                              *mcp.Exchange // initialize, sent to a server of a stateless revision
}

// Declares reports whether the server declares a capability.
func (v *Visit) Declares(path ...string) bool { return !v.Caps.Lookup(path...).IsAbsent() }

// Slow reports whether a tool is called once only.
func (v *Visit) Slow(tool jsonv.Value) bool {
	return slices.Contains(v.TooSlow, tool.Lookup("name").Text())
}

// Name is the name and version that the server reports.
func (v *Visit) Name() string {
	self := v.info.Lookup("serverInfo")
	if self.Kind() != jsonv.KindObject {
		self = v.info.Lookup("_meta", protocol.MetaServer)
	}
	return self.Lookup("name").Text() + " " + self.Lookup("version").Text()
}

// Look opens the first session and requests the lists.
func (v *Visit) Look(ctx context.Context) error {
	sess, err := v.Session(ctx)
	if err != nil {
		return err
	}
	v.Version, v.info, v.Hello = sess.ProtocolVersion(), sess.ServerInfo(), sess.Handshake()
	v.Caps = v.info.Lookup("capabilities")
	v.observe(v.Hello, nil)
	v.Stated = append(v.Stated, v.info.Lookup("supportedVersions").Texts()...)
	into := map[surface.Kind]*[]jsonv.Value{surface.Tool: &v.Tools, surface.Resource: &v.Resources, surface.Template: &v.Templates, surface.Prompt: &v.Prompts}
	for _, l := range surface.Lists() {
		if v.Declares(l.Capability) {
			v.Doing(v.Version.Name + " · " + l.Method)
			list := Read(ctx, l, v.Send)
			v.Listed, *into[l.Kind] = append(v.Listed, list), list.Items
		}
	}
	return nil
}

// FirstList is a list that the server returns.
func (v *Visit) FirstList() string {
	for _, l := range v.Listed {
		if l.Pages[0].Result != nil {
			return l.Method
		}
	}
	return v.Idle()
}

// Do makes one valid request in the open session.
func (v *Visit) Do(ctx context.Context, method string, params jsonv.Value) *mcp.Exchange {
	return v.Send(ctx, mcp.Call{Method: method, Params: Text(params)})
}

// Send makes a call in the open session. What the session reports about the exchange
// reaches the ledger.
func (v *Visit) Send(ctx context.Context, call mcp.Call) *mcp.Exchange {
	x := v.Once(ctx, call)
	v.observe(x, func() *mcp.Exchange { return v.Once(ctx, call) })
	return x
}

// Call calls a tool, or says why it must not.
func (v *Visit) Call(ctx context.Context, tool, args jsonv.Value) (x *mcp.Exchange, why string) {
	if why := v.Policy.Call(tool, args); why != "" {
		return nil, why
	}
	return v.Send(ctx, mcp.Call{Method: "tools/call", Params: Text(Params(tool, args)), ProgressToken: true}), ""
}

// Subject names a tool.
func Subject(tool jsonv.Value) string { return "tool " + tool.Lookup("name").Text() }

// Params are those of a call of a tool.
func Params(tool, args jsonv.Value, more ...any) jsonv.Value {
	return jsonv.ObjectOf(append([]any{"name", tool.Lookup("name"), "arguments", args}, more...)...)
}

// Check provokes a rule and enters the verdict. The subject is what it is about, such as
// "tool echo"; empty for the server as a whole. It may be called for several subjects:
// one that breaks the rule decides.
func (v *Visit) Check(ctx context.Context, rule, subject string, provoke func(context.Context) Outcome) {
	if !v.Applies(rule) {
		return
	}
	o := v.provoke(ctx, rule, provoke)
	if o.Verdict == verdict.Fail && !o.Once {
		again := v.provoke(ctx, rule, provoke)
		if again.Verdict == verdict.NotVerified {
			again = v.provoke(ctx, rule, provoke)
		}
		if again.Verdict != verdict.Fail {
			o = Unverified("not repeatable: %s, but not when it was repeated", o.Why)
		}
	}
	v.Add(rule, subject, o)
}

// State is check for what needs no further request.
func (v *Visit) State(ctx context.Context, rule, subject string, o Outcome) {
	v.Check(ctx, rule, subject, func(context.Context) Outcome { return o })
}

// Refuses checks that a request gets an error with one of the codes.
func (v *Visit) Refuses(ctx context.Context, rule, subject, method string, params jsonv.Value, codes ...int64) {
	v.Check(ctx, rule, subject, func(ctx context.Context) Outcome { return v.ExpectCode(ctx, method, params, codes...) })
}

// ExpectCode sends a request that must get an error with one of the codes.
func (v *Visit) ExpectCode(ctx context.Context, method string, params jsonv.Value, codes ...int64) Outcome {
	x := v.Do(ctx, method, params)
	e := RPCError(x)
	switch {
	case e != nil && slices.Contains(codes, e.Code), Another(x):
		return Held()
	case e == nil && x.Result == nil:
		return Unverified("%s got %s", method, Answer(x))
	}
	return Broken(x, "%s with %s got %s, expected the error %d", method, params.Short(120), Answer(x), codes[0])
}

// Each checks rules about one observation, which is made again for a second sighting.
func Each[T any](ctx context.Context, v *Visit, rules []string, observe func(context.Context) T, judge func(rule string, seen T) Outcome) {
	var last *T
	for _, rule := range rules {
		first := last
		v.Check(ctx, rule, "", func(ctx context.Context) Outcome {
			seen := first
			if first = nil; seen == nil {
				made := observe(ctx)
				seen, last = &made, &made
			}
			return judge(rule, *seen)
		})
	}
}

// Elements checks a rule about the elements of a list in a result, which is requested again
// for a second sighting. wrong says what is wrong with an element, if anything.
func (v *Visit) Elements(ctx context.Context, rule, subject string, x *mcp.Exchange, again func(context.Context) *mcp.Exchange, list string, wrong func(jsonv.Value) string) {
	v.Check(ctx, rule, subject, func(ctx context.Context) Outcome {
		seen := x
		if x = nil; seen == nil {
			seen = again(ctx)
		}
		for _, e := range Result(seen).Lookup(list).Elems() {
			if why := wrong(e); why != "" {
				return Broken(seen, "%s", why)
			}
		}
		return Held()
	})
}

// provoke calls provoke once. What authorization and limits of rate refuse is no verdict
// on any other rule.
func (v *Visit) provoke(ctx context.Context, rule string, provoke func(context.Context) Outcome) Outcome {
	switch {
	case ctx.Err() != nil:
		return Unverified("time: %v", context.Cause(ctx))
	case v.Restarts >= deaths:
		return Unverified("the server ended %d times in a row: %s", v.Restarts, v.ended)
	}
	o := provoke(ctx)
	v.Revive(ctx)
	if o.Verdict == verdict.Fail && ctx.Err() != nil {
		return Unverified("time: %v", context.Cause(ctx))
	}
	if r, _ := v.Rules.Rule(rule); r.Family != "auth" && r.ID != "http-origin-own" && o.Verdict == verdict.Fail {
		for _, e := range o.Evidence {
			if RefusesAll(e.Status) {
				return Unverified("HTTP %d", e.Status)
			}
		}
	}
	return o
}

// RefusesAll reports whether a status may answer every request: authorization and limits
// of rate come first.
func RefusesAll(status int) bool {
	return slices.Contains([]int{http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests, http.StatusServiceUnavailable}, status)
}

// Selected reports whether a rule is examined.
func (v *Visit) Selected(r ruleset.Rule) bool {
	return len(v.Only) == 0 || slices.Contains(v.Only, r.Family) || slices.Contains(v.Only, r.ID)
}

// Applies reports whether a rule is selected and concerns this revision and transport.
func (v *Visit) Applies(id string) bool {
	r, ok := v.Rules.Rule(id)
	if !ok || !v.Selected(r) {
		return false
	}
	_, ok = r.Claim(v.Version.Name)
	return ok && (r.Transport == "" || (r.Transport == "stdio") == v.Stdio())
}

// Enter enters an outcome for the rules that apply.
func (v *Visit) Enter(o Outcome, rules ...string) {
	for _, rule := range rules {
		if v.Applies(rule) {
			v.Add(rule, "", o)
		}
	}
}

// EnterAll enters an outcome for the rules of a family.
func (v *Visit) EnterAll(family string, o Outcome) {
	for _, r := range v.Rules.Rules {
		if r.Family == family {
			v.Enter(o, r.ID)
		}
	}
}

// Results returns the verdicts of the rules that concern the revision.
func (v *Visit) Results() (out []verdict.Result) {
	for _, r := range v.Rules.Rules {
		c, ok := r.Claim(v.Version.Name)
		if !ok || !v.Selected(r) {
			continue
		}
		if r.Transport != "" && (r.Transport == "stdio") != v.Stdio() {
			v.Add(r.ID, "", Inapplicable("only over %s", r.Transport))
		}
		if need := r.Needs; need != "" && !v.Declares(need) {
			v.Add(r.ID, "", Inapplicable("the server does not declare %s", need))
		}
		out = append(out, v.result(r, c, v.Version.Name))
	}
	return out
}
