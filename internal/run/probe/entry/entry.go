package entry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"mcptest/internal/assert/target"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
	"mcptest/internal/offer/ruleset"
	"mcptest/internal/report/result"
	"mcptest/internal/run/boundary"
	"mcptest/internal/run/connect"
	"mcptest/internal/run/probe"
	"mcptest/internal/run/probe/verdict"
	"mcptest/internal/spec/plan"
)

// Env is what an entry takes from its run.
type Env struct {
	boundary.Env
	Dial     connect.Dialer
	Requests func() jsonv.Value // to the doubles so far
	Pos      source.Pos         // of the entry
}

// mostWarnings bounds the failed rules that do not fail the test.
const mostWarnings = 20

// A Conclusion is what an entry says about the server; both texts are empty for a pass.
type Conclusion struct {
	Failed    string // why the test fails
	Undecided string // why nothing is decided: no rule was examined, or there was too little time
}

// Run probes a server, and adds what was found to the case. It returns what assertions may
// examine, and the conclusion.
func (e Env) Run(
	ctx context.Context, def *plan.Server, keys *ruleset.ProbeKeys, c *result.Case,
) (o target.Observation, end Conclusion, err error) {
	began := time.Now()
	rules, err := ruleset.Builtin()
	if err != nil {
		return o, end, err
	}
	for _, r := range keys.Retry {
		if _, err := target.Parse(cmp.Or(r.Effects.Count, "result")); err != nil {
			return o, end, fmt.Errorf("retry: effects.count: %w", err)
		}
	}
	rep, err := probe.Run(ctx, probe.Options{
		Server: def, Connect: e.Connect, Dial: e.Dial, Client: e.Client, Only: keys.Only, Writes: keys.AllowWrites,
		Seed: uint64(max(keys.Seed, 1)), Retry: keys.Retry, Requests: e.Requests,
	})
	if unknown, ok := errors.AsType[*probe.UnknownToolError](err); ok {
		return o, end, fmt.Errorf("allow_writes: %w", unknown)
	}
	if err != nil {
		return o, end, err
	}
	o.DurationMS, o.Result = float64(time.Since(began).Microseconds())/1000, jsonv.Object()
	rep.Accept(keys.Accepted())
	c.Probe = &result.Probe{Server: strings.TrimSpace(rep.Server), Summary: rep.Summary(), Families: rep.Families(rules)}
	a := adder{env: e, rules: rules, failOn: keys.FailOn, to: c}
	for _, x := range rep.Results {
		a.add(x)
	}
	end.Undecided = cmp.Or(rep.Undecided(), a.undecided)
	switch len(a.broken) {
	case 0:
	case 1:
		end.Failed = a.broken[0]
	default:
		end.Failed = fmt.Sprintf("%d rules failed, the first: %s", len(a.broken), a.broken[0])
	}
	return o, end, nil
}

// adder adds the results of rules to a case.
type adder struct {
	env       Env
	rules     ruleset.Rules
	failOn    ruleset.Level
	to        *result.Case
	broken    []string // a sentence for each rule that fails the test
	undecided string
}

func (a *adder) add(x verdict.Result) {
	const retry = "retry-once" // a call that may be repeated is a claim of the author
	c := a.to
	switch {
	case x.Verdict == verdict.Fail && x.Open() && x.Rule != retry && !x.Counts(a.failOn):
		if len(c.Warnings) < mostWarnings {
			warning := fmt.Sprintf("%s (%s, %s): %s", x.Rule, x.Level, x.Revision, describeFailures(x))
			c.Warnings = append(c.Warnings, warning)
		}
	case x.Verdict == verdict.Fail && x.Open():
		a.fail(x)
		for _, f := range x.Failures {
			for _, sent := range f.Evidence {
				c.Exchanges = append(c.Exchanges, result.Exchange{
					Step:     x.Rule,
					Method:   "probe",
					Request:  sent.Sent,
					Response: sent.Received,
				})
			}
		}
	case x.Verdict == verdict.NotVerified && x.Rule == retry && strings.HasPrefix(x.Reason, verdict.TimeReason):
		a.undecided = retry + " was not examined: " + x.Reason
	case x.Verdict == verdict.NotVerified && x.Rule == retry:
		x.Failures = []verdict.Failure{{Message: "not verified: " + x.Reason}}
		a.fail(x)
	case x.Verdict == verdict.Pass || x.Verdict == verdict.Fail:
		c.Assertions = append(c.Assertions, result.Assertion{Target: x.Revision, Matcher: x.Rule, Pass: true})
	}
}

// fail adds a rule that fails the test.
func (a *adder) fail(x verdict.Result) {
	a.broken = append(a.broken, x.Rule+" ("+x.Revision+"): "+describeFailures(x))
	a.to.Assertions = append(a.to.Assertions, a.env.makeAssertion(x, a.rules))
}

// describeFailures describes the open failures of a rule.
func describeFailures(x verdict.Result) string {
	var all []string
	for _, f := range x.Failures {
		if f.Accepted == "" {
			all = append(all, strings.TrimPrefix(f.Subject+": "+f.Message, ": "))
		}
	}
	return strings.Join(all[:min(len(all), 3)], "; ")
}

func (e Env) makeAssertion(x verdict.Result, rules ruleset.Rules) result.Assertion {
	a := result.Assertion{
		Target:  x.Revision,
		Matcher: x.Rule,
		Message: describeFailures(x),
		Line:    e.Pos.Line,
		Column:  e.Pos.Col,
	}
	if e.Pos.File != nil {
		a.Source = strings.TrimRight(e.Pos.File.Line(e.Pos.Line), "\r\n")
	}
	rule, _ := rules.Rule(x.Rule)
	for _, note := range []string{x.Sentence, rule.Fix, x.Clause} {
		if note != "" && !slices.Contains(a.Notes, note) {
			a.Notes = append(a.Notes, note)
		}
	}
	return a
}
