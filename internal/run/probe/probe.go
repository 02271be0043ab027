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

// family is a group of rules that are examined one after the other.
type family struct {
	name    string
	run     func(context.Context, *visit)
	traffic bool // other families examine its messages
}

// families are run in this order: what may end the process comes last.
func families() []family {
	return []family{
		{"lifecycle", lifecycle, false},
		{"messages", messages, false},
		{"capabilities", capabilities, false},
		{"lists", lists, false},
		{"tools", tools, true},
		{"resources", resources, true},
		{"prompts", prompts, true},
		{"utilities", utilities, false},
		{"http", overHTTP, false},
		{"session", sessions, false},
		{"stateless", stateless, false},
		{"auth", authorization, false},
		{"isolation", isolation, false},
		{"arguments", arguments, false},
		{"fuzz", fuzz, false},
		{"retry", retry, false}, // from here on, doubles examine the requests
		{"shutdown", shutdown, false},
	}
}

// discovery is the time for server/discover, which some servers never answer.
const discovery = 15 * time.Second

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
		v := &visit{link: link{prober: p, era: era}, ledger: ledger{}}
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
		if diagnose(ctx, v) {
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

// shareOf limits one of n visits to its part of the remaining time.
func shareOf(ctx context.Context, n int) (context.Context, context.CancelFunc) {
	until, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, time.Until(until)/time.Duration(n), errTime)
}

var errTime = errors.New("the time of --max-time was over")

// name is the name and version that the server reports.
func (v *visit) name() string {
	self := v.info.Lookup("serverInfo")
	if self.Kind() != jsonv.KindObject {
		self = v.info.Lookup("_meta", protocol.MetaServer)
	}
	return self.Lookup("name").Text() + " " + self.Lookup("version").Text()
}
