package probe

import (
	"context"
	"net/http"
	"slices"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/conn"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/offer/ruleset"
	"mcptest/internal/run/allow"
	"mcptest/internal/run/connect"
	"mcptest/internal/run/probe/verdict"
	"mcptest/internal/spec/plan"
)

// limits of one probe.
const (
	pause = 50 * time.Millisecond // between requests to an address that is not this machine
	slow  = 2 * time.Second       // a call that takes longer is not repeated with other arguments
	// discovery is the time for server/discover, which some servers never answer.
	discovery = 15 * time.Second
	deaths    = 3 // ends of the process in a row after which a family ends
)

// prober is the state of one call of Run.
type prober struct {
	Options
	rules   ruleset.Rules
	policy  *allow.Policy
	retries *allow.Policy // of the calls of retry:
	local   bool          // the server runs on this machine
	stated  []string      // versions that the server says it supports
}

// selected reports whether a rule is examined.
func (p *prober) selected(r ruleset.Rule) bool {
	return len(p.Only) == 0 || slices.Contains(p.Only, r.Family) || slices.Contains(p.Only, r.ID)
}

// visit examines the server in one revision.
type visit struct {
	*prober
	ledger
	passive

	era     protocol.Era
	version protocol.Version
	server  *plan.Server // pinned to the era
	info    jsonv.Value  // the result of the handshake
	hello   *mcp.Exchange
	caps    jsonv.Value // that the server declares

	tools, resources, templates, prompts []jsonv.Value
	listed                               []listing
	quick                                []jsonv.Value // tools that may be called again without a long wait
	tooSlow                              []string      // tools that are called once only
	signed                               bool          // a result has serverInfo
	unsigned                             *mcp.Exchange // a result without
	greeted                              *mcp.Exchange // initialize, sent to a server of a stateless revision

	sess     *mcp.Session // nil: none is open
	restarts int          // in a row
	ended    string       // why the last session ended
}

func (v *visit) stdio() bool  { return v.server.URL == "" }
func (v *visit) modern() bool { return v.era == protocol.EraStateless }

// declares reports whether the server declares a capability.
func (v *visit) declares(path ...string) bool { return !v.caps.Lookup(path...).IsAbsent() }

// session returns the open session, or opens one.
func (v *visit) session(ctx context.Context) (*mcp.Session, error) {
	if v.sess != nil && v.sess.Alive() {
		return v.sess, nil
	}
	v.close()
	sess, err := v.open(ctx, jsonv.Value{})
	if err == nil {
		v.sess = sess
	}
	return sess, err
}

// open opens a further session, for a client with capabilities; the caller closes it with
// end.
func (v *visit) open(ctx context.Context, caps jsonv.Value) (*mcp.Session, error) {
	o := connect.Opener{Options: v.Connect, Dial: v.Dial, Client: v.Client}
	return o.Open(ctx, v.server, caps)
}

// bare opens a connection without a handshake; the caller closes it.
func (v *visit) bare(ctx context.Context) (*conn.Conn, error) {
	t, err := v.Dial(ctx, v.server, v.Connect)
	if err != nil {
		return nil, err
	}
	c := conn.New(t, conn.Options{Limits: v.Connect.Limits})
	c.SetVersion(v.version)
	return c, c.Start()
}

// close ends the open session.
func (v *visit) close() {
	if v.sess != nil {
		v.end(v.sess)
		v.sess = nil
	}
}

// end ends a session, and enters the violations that belong to no call.
func (v *visit) end(sess *mcp.Session) {
	ctx, cancel := connect.Ending()
	defer cancel()
	sess.Close(ctx)
	v.unclaimed(sess.TakeViolations())
}

// revive counts the ends of the process. A server that no longer responds counts as ended.
func (v *visit) revive(ctx context.Context) {
	if v.sess == nil {
		return
	}
	err := v.sess.Err()
	if err == nil {
		err = v.sess.CheckAlive(ctx)
	}
	if err == nil {
		v.restarts = 0
		return
	}
	v.ended = err.Error()
	v.restarts++
	v.close()
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

// examine checks a rule about the elements of a list in a result, which is requested again
// for a second sighting. wrong says what is wrong with an element, if anything.
func examine(ctx context.Context, v *visit, rule, subject string, x *mcp.Exchange, again func(context.Context) *mcp.Exchange, list string, wrong func(jsonv.Value) string) {
	v.check(ctx, rule, subject, func(ctx context.Context) outcome {
		seen := x
		if x = nil; seen == nil {
			seen = again(ctx)
		}
		for _, e := range result(seen).Lookup(list).Elems() {
			if why := wrong(e); why != "" {
				return broken(shown(seen), "%s", why)
			}
		}
		return held()
	})
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
