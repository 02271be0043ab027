package exam

import (
	"cmp"
	"net/url"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/web"
	"mcptest/internal/client/mcp"
	"mcptest/internal/offer/ruleset"
	"mcptest/internal/run/allow"
	"mcptest/internal/run/connect"
	"mcptest/internal/spec/plan"
)

// pause is the time between requests to an address that is not this machine.
const pause = 50 * time.Millisecond

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

// Prober examines a server in one revision after the other.
type Prober struct {
	Options
	Rules   ruleset.Rules
	Policy  *allow.Policy
	Retries *allow.Policy // of the calls of retry:
	Local   bool          // the server runs on this machine
	At      *url.URL      // of a server over HTTP
	Stated  []string      // versions that the server says it supports
	lives   *lives        // of its processes
	rested  bool          // a process was left alone for a while

	wasThere bool          // a session was open
	lastEnd  time.Time     // of a process
	rest     time.Duration // that the server needs between two processes
}

// straysGrace is how long a process may outlive the server that started it: one that ends by
// itself soon after is not left behind.
const straysGrace = 3 * time.Second

// New completes the options.
func New(o Options) (*Prober, error) {
	rules, err := ruleset.Builtin()
	if err != nil {
		return nil, err
	}
	if o.Dial == nil {
		o.Dial = connect.Dial
	}
	o.Connect.Launcher, o.Connect.OneEra = true, true
	o.Connect.Grace.Rest = straysGrace
	watched := &lives{}
	o.Dial = watched.watch(o.Dial)
	o.Connect.Logins = connect.NewLogins() // not those of a run that probes
	o.Reply = cmp.Or(o.Reply, 10*time.Second)
	if o.Doing == nil {
		o.Doing = func(string) {}
	}
	p := &Prober{
		Options: o,
		Rules:   rules,
		Policy:  &allow.Policy{Named: o.Writes},
		Retries: &allow.Policy{},
		Local:   true,
		lives:   watched,
	}
	if o.Server.URL != "" {
		p.At, err = url.Parse(o.Server.URL)
		p.Local = err == nil && web.IsLoopback(p.At.Hostname())
	}
	if !p.Local {
		p.Connect.Wrap = web.Paced(pause, p.Connect.Wrap)
	}
	return p, nil
}
