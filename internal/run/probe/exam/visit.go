package exam

import (
	"context"
	"net/http"
	"slices"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/check"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/offer/ruleset"
	"mcptest/internal/run/probe/verdict"
)

const (
	// Long is how long a call may take that is repeated with other arguments.
	Long   = 2 * time.Second
	deaths = 3 // ends of the process in a row after which a family ends
	// discovery is the time for server/discover, which some servers never answer.
	discovery = 15 * time.Second
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
	Shown                                []string      // extensions that are declared only to clients that declare them
	Signed                               bool          // a result has serverInfo
	Unsigned                             *mcp.Exchange // a result without
	Greeted                              *mcp.Exchange // initialize, sent to a server of a stateless revision
	Viewed                               []string      // tools with a view whose result was judged for clients without

	memory   memory
	declared map[*mcp.Session]jsonv.Value          // capabilities of the clients of open sessions
	finished map[*mcp.Session]map[string]time.Time // of calls with progress, by token: when the response was there
	schemas  map[string]*check.OutputSchema        // of tools, by name
	unheard  []*mcp.Exchange                       // subscriptions that were not acknowledged in their time
	raw      int64                                 // requests that were sent past the session
	replayed int                                   // ends of processes that were provoked again
}

// Visit begins to examine the server in an era.
func (p *Prober) Visit(era protocol.Era) *Visit {
	pinned := *p.Server
	pinned.Protocol = ""
	if era == protocol.EraStateless {
		pinned.Protocol = protocol.Newest(era).Name
		pinned.ConnectTimeout = min(pinned.ConnectTimeout, discovery)
	}
	if protocol.VersionOf(p.Server.Protocol).Known() {
		pinned.Protocol = p.Server.Protocol
	}
	v := &Visit{
		link: link{Prober: p, Era: era, Pinned: &pinned, strays: map[int]bool{}}, ledger: ledger{},
		memory: newMemory(), declared: map[*mcp.Session]jsonv.Value{},
		finished: map[*mcp.Session]map[string]time.Time{}, schemas: map[string]*check.OutputSchema{},
	}
	v.examiner = v
	return v
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

// Subject names a tool.
func Subject(tool jsonv.Value) string { return "tool " + tool.Lookup("name").Text() }

// IsChosen reports whether the entry of a list is examined of which at most a number is: the
// first ones and the last ones.
func IsChosen(i, all, most int) bool { return i < most-most/2 || i >= all-most/2 }

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
			o = Unverified(notRepeatable+": %s, but not when it was repeated", o.Why)
		}
	}
	v.Add(rule, subject, o)
}

// State is check for what needs no further request.
func (v *Visit) State(ctx context.Context, rule, subject string, o Outcome) {
	v.Check(ctx, rule, subject, func(context.Context) Outcome { return o })
}

// Each checks rules about one observation, and observes again before it reports a failure.
func Each[T any](
	ctx context.Context, v *Visit, rules []string, observe func(context.Context) T, judge func(rule string, seen T) Outcome,
) {
	var last *T
	for _, rule := range rules {
		first := last
		v.Check(ctx, rule, "", func(ctx context.Context) Outcome {
			seen := first
			first = nil
			if seen == nil {
				made := observe(ctx)
				seen, last = &made, &made
			}
			return judge(rule, *seen)
		})
	}
}

// provoke calls provoke once. What authorization and limits of rate refuse is no verdict
// on any other rule.
func (v *Visit) provoke(ctx context.Context, rule string, provoke func(context.Context) Outcome) Outcome {
	switch {
	case ctx.Err() != nil:
		return Unverified(verdict.TimeReason+"%v", context.Cause(ctx))
	case v.Restarts >= deaths:
		return Unverified("the server ended %d times in a row: %s", v.Restarts, v.ended)
	}
	o := provoke(ctx)
	v.Settle(ctx)
	if o.Verdict == verdict.Fail && ctx.Err() != nil {
		return Unverified(verdict.TimeReason+"%v", context.Cause(ctx))
	}
	if r, _ := v.Rules.Rule(rule); r.Family != "auth" && r.ID != "http-origin-own" && o.Verdict == verdict.Fail {
		if status := v.excuse(ctx, o); status != 0 {
			return Unverified("HTTP %d", status)
		}
		if o.of != nil && limitsRate(o.of) {
			return Unverified("%s", Answer(o.of))
		}
	}
	return o
}

// excuse returns the status that excuses a failure, 0 if none does. A limit of rates may
// come at any time; another status that may answer every request excuses only if the same
// request in a living session gets it, too.
func (v *Visit) excuse(ctx context.Context, o Outcome) int {
	for _, e := range o.Evidence {
		if RefusesAll(e.Status) && (e.Status == http.StatusTooManyRequests || v.isRefusedAlive(ctx, o.of)) {
			return e.Status
		}
	}
	return 0
}

// controls is how often a request is made in a living session, until it is refused there, too.
// A gateway that refuses one request in some may hit the same one whenever it is repeated.
const controls = 12

// isRefusedAlive reports whether a request is refused in a living session, too, by a status
// that may answer every request.
func (v *Visit) isRefusedAlive(ctx context.Context, x *mcp.Exchange) bool {
	if x == nil || v.Stdio() {
		return true
	}
	message := parseValue(x.Request)
	method := message.Lookup("method").Text()
	if method == "" { // a stream, or the end of a session: nothing else is like it
		return true
	}
	if method == "initialize" || message.Lookup("id").IsAbsent() || v.refusesReplay(message) {
		message = v.Frame("mcptest-control", v.FirstList(), jsonv.Value{})
	}
	for range controls {
		status := Status(v.Tell(ctx, message, nil))
		if status == 0 || RefusesAll(status) {
			return true
		}
	}
	return false
}

// Settle waits for an end of the process that is in progress, and judges it.
func (v *Visit) Settle(ctx context.Context) {
	v.Revive(ctx)
	v.judgeEndings(ctx)
}

// RefusesAll reports whether a status may answer every request: authorization and limits
// of rate come first.
func RefusesAll(status int) bool {
	return slices.Contains([]int{http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout}, status)
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

// enterAbout enters an outcome about a subject for a rule that applies.
func (v *Visit) enterAbout(rule, subject string, o Outcome) {
	if v.Applies(rule) {
		v.Add(rule, subject, o)
	}
}

// EnterAbout is Enter about a subject, such as one tool.
func (v *Visit) EnterAbout(subject string, o Outcome, rules ...string) {
	for _, rule := range rules {
		v.enterAbout(rule, subject, o)
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

// HasExtension reports whether the server declares an extension.
func (v *Visit) HasExtension(name string) bool {
	return v.Declares("extensions", name) || slices.Contains(v.Shown, name)
}

// Named reports whether a family was asked for by its name, or by that of one of its rules.
func (v *Visit) Named(family string) bool {
	return slices.ContainsFunc(v.Only, func(name string) bool {
		r, _ := v.Rules.Rule(name)
		return name == family || r.Family == family
	})
}

// findClaim returns what the revision says about a rule; ok is false for a rule that no result is
// about. Those of an extension are left out for a server that does not declare it, unless
// they were asked for; in a revision without the extension they do not apply.
func (v *Visit) findClaim(r ruleset.Rule) (c ruleset.Claim, ok bool) {
	c, ok = r.Claim(v.Version.Name)
	extension := v.Rules.Extension(r.Family)
	switch {
	case extension == "":
		return c, ok
	case !v.HasExtension(extension):
		v.Add(r.ID, "", Inapplicable("the server does not declare %s", extension))
		return c, ok && v.Named(r.Family)
	case !ok:
		first := r.In[0]
		v.Add(r.ID, "", Inapplicable("the extension is defined for %s, not for %s", first.Revisions[0], v.Version.Name))
		return first, true
	}
	return c, true
}

// Results returns the verdicts of the rules that concern the revision.
func (v *Visit) Results() (out []verdict.Result) {
	for _, r := range v.Rules.Rules {
		if !v.Selected(r) {
			continue
		}
		c, ok := v.findClaim(r)
		if !ok {
			continue
		}
		if r.Transport != "" && (r.Transport == "stdio") != v.Stdio() {
			v.Add(r.ID, "", Inapplicable("only over %s", r.Transport))
		}
		if need := r.Needs; need != "" && !v.Declares(need) {
			v.Add(r.ID, "", Inapplicable("the server does not declare %s", need))
		}
		out = append(out, v.decide(r, c, v.Version.Name))
	}
	return out
}
