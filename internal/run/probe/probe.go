package probe

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"slices"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/web"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/offer/ruleset"
	"mcptest/internal/offer/surface"
	"mcptest/internal/run/allow"
	"mcptest/internal/run/connect"
	"mcptest/internal/run/probe/verdict"
	"mcptest/internal/spec/plan"
)

// Options describe a server and what the probe may do.
type Options struct {
	Server  *plan.Server
	Connect connect.Options
	Dial    connect.Dialer // nil: connect.Dial
	Client  mcp.Implementation
	Only    []string      // families and rules; all if empty
	Writes  []string      // tools without readOnlyHint that may be called
	Seed    uint64        // of generated values
	Reply   time.Duration // the time for a response; 0: 10 s
	// Retry are calls that are made twice; Requests are those to the doubles so far, which
	// count their effects.
	Retry    []*ruleset.Retry
	Requests func() jsonv.Value
	// Doing receives what the probe examines; may be nil.
	Doing func(what string)
}

// families are run in this order: what may end the process comes last.
func families() []family {
	return []family{
		{"lifecycle", func(ctx context.Context, v *visit) { lifecycleRules{v}.lifecycle(ctx) }, false},
		{"messages", func(ctx context.Context, v *visit) { messageRules{v}.messages(ctx) }, false},
		{"capabilities", func(ctx context.Context, v *visit) { capabilityRules{v}.capabilities(ctx) }, false},
		{"lists", func(ctx context.Context, v *visit) { listRules{v}.lists(ctx) }, false},
		{"tools", func(ctx context.Context, v *visit) { toolRules{v}.toolsFamily(ctx) }, true},
		{"resources", func(ctx context.Context, v *visit) { resourceRules{v}.resourcesFamily(ctx) }, true},
		{"prompts", func(ctx context.Context, v *visit) { promptRules{v}.promptsFamily(ctx) }, true},
		{"utilities", func(ctx context.Context, v *visit) { utilityRules{v}.utilities(ctx) }, false},
		{"http", func(ctx context.Context, v *visit) { httpRules{v}.http(ctx) }, false},
		{"session", func(ctx context.Context, v *visit) { sessionRules{v}.sessions(ctx) }, false},
		{"stateless", func(ctx context.Context, v *visit) { statelessRules{v}.stateless(ctx) }, false},
		{"auth", func(ctx context.Context, v *visit) { authRules{v}.auth(ctx) }, false},
		{"isolation", func(ctx context.Context, v *visit) { isolationRules{v}.isolation(ctx) }, false},
		{"arguments", func(ctx context.Context, v *visit) { argumentRules{v}.arguments(ctx) }, false},
		{"fuzz", func(ctx context.Context, v *visit) { fuzzRules{v}.fuzz(ctx) }, false},
		{"retry", func(ctx context.Context, v *visit) { retryRules{v}.retry(ctx) }, false}, // from here on, doubles examine the requests
		{"shutdown", func(ctx context.Context, v *visit) { shutdownRules{v}.shutdown(ctx) }, false},
	}
}

type family struct {
	name    string
	run     func(context.Context, *visit)
	traffic bool // other families examine its messages
}

// Run examines a server in each era that it speaks, until ctx ends. The error reports a
// server that could not be started or reached, or speaks no known revision.
func Run(ctx context.Context, o Options) (verdict.Report, error) {
	rules, err := ruleset.Builtin()
	if err != nil {
		return verdict.Report{}, err
	}
	if o.Dial == nil {
		o.Dial = connect.Dial
	}
	o.Reply = cmp.Or(o.Reply, 10*time.Second)
	if o.Doing == nil {
		o.Doing = func(string) {}
	}
	p := &prober{Options: o, rules: rules, policy: &allow.Policy{Named: o.Writes}, retries: &allow.Policy{}, local: true}
	if o.Server.URL != "" {
		at, err := url.Parse(o.Server.URL)
		p.local = err == nil && web.IsLoopback(at.Hostname())
	}
	if !p.local {
		p.Connect.Wrap = web.Paced(pause, p.Connect.Wrap)
	}
	return p.run(ctx)
}

// run visits the server once for each era.
func (p *prober) run(ctx context.Context) (verdict.Report, error) {
	out := verdict.Report{Seed: p.Seed}
	eras := []protocol.Era{protocol.EraStateless, protocol.EraSession}
	var failed error
	for i, era := range eras {
		if pin := protocol.VersionOf(p.Server.Protocol); pin.Known() && pin.Era() != era {
			continue
		}
		share, cancel := shareOf(ctx, len(eras)-i)
		v := &visit{prober: p, era: era, ledger: ledger{entries: map[string]*entry{}}, passive: passive{loose: map[string][]protocol.Violation{}}}
		err := v.examine(share)
		cancel()
		if err != nil {
			failed = err // that of the session era is the better one
			out.Absent = append(out.Absent, protocol.Newest(era).Name+" is not spoken: "+err.Error())
			continue
		}
		out.Revisions = append(out.Revisions, v.version.Name)
		out.Results = append(out.Results, v.results()...)
		out.Server = cmp.Or(out.Server, v.name())
	}
	out.Calls = p.policy.Calls()
	for name, n := range p.retries.Calls() {
		out.Calls[name] += n
	}
	if len(out.Revisions) == 0 {
		return out, failed
	}
	return out, nil
}

// examine runs the families.
func (v *visit) examine(ctx context.Context) error {
	pinned := *v.Server
	pinned.Protocol = ""
	if v.modern() {
		pinned.Protocol = protocol.Newest(v.era).Name
		pinned.ConnectTimeout = min(pinned.ConnectTimeout, discovery)
	}
	if protocol.VersionOf(v.Server.Protocol).Known() {
		pinned.Protocol = v.Server.Protocol
	}
	v.server = &pinned
	if err := v.look(ctx); err != nil {
		if v.diagnose(ctx) {
			return nil
		}
		return err
	}
	defer v.close()
	for _, f := range families() {
		if len(v.results()) == 0 {
			break // no rule is about this version
		}
		if !slices.ContainsFunc(v.rules.Rules, func(r ruleset.Rule) bool {
			return v.selected(r) && (r.Family == f.name || f.traffic && r.Traffic)
		}) {
			continue
		}
		v.Doing(v.version.Name + " · " + f.name)
		v.restarts = 0
		f.run(ctx, v)
	}
	v.close()
	v.conclude()
	return nil
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
	for _, l := range surface.Lists() {
		if !v.declares(l.Capability) {
			continue
		}
		v.Doing(v.version.Name + " · " + l.Method)
		list := v.read(ctx, l, v.send)
		v.listed = append(v.listed, list)
		switch l.Kind {
		case surface.Tool:
			v.tools = list.items
		case surface.Resource:
			v.resources = list.items
		case surface.Template:
			v.templates = list.items
		case surface.Prompt:
			v.prompts = list.items
		}
	}
	return nil
}

// shareOf limits one of n visits to its part of the remaining time.
func shareOf(ctx context.Context, n int) (context.Context, context.CancelFunc) {
	until, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, time.Until(until)/time.Duration(n), errTime)
}

var errTime = errors.New("the time of --max-time was over")

// results returns the verdicts of the rules that concern the revision.
func (v *visit) results() (out []verdict.Result) {
	for _, r := range v.rules.Rules {
		c, ok := r.Claim(v.version.Name)
		if !ok || !v.selected(r) {
			continue
		}
		if r.Transport == "http" && v.stdio() || r.Transport == "stdio" && !v.stdio() {
			v.add(r.ID, "", inapplicable("only over %s", r.Transport))
		}
		if need := r.Needs; need != "" && !v.declares(need) {
			v.add(r.ID, "", inapplicable("the server does not declare %s", need))
		}
		out = append(out, v.result(r, c, v.version.Name))
	}
	return out
}

// name is the name and version that the server reports.
func (v *visit) name() string {
	self := v.info.Lookup("serverInfo")
	if self.Kind() != jsonv.KindObject {
		self = v.info.Lookup("_meta", protocol.MetaServer)
	}
	return self.Lookup("name").Text() + " " + self.Lookup("version").Text()
}
