package run

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"mcptest/internal/assert/expect"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/shellwords"
	"mcptest/internal/client/check"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/offer/assert"
	"mcptest/internal/report/result"
	"mcptest/internal/run/fixture"
	"mcptest/internal/run/pool"
	"mcptest/internal/spec/plan"
)

// observe builds the observation that the case's assertions examine.
func (a *attempt) observe(ctx context.Context, s *pool.Server, sess *mcp.Session, op *plan.Op, x *mcp.Exchange, waited []mcp.Message) {
	a.obs = expect.Observation{DurationMS: ms(x.Elapsed), ResponseBytes: len(x.Response), Steps: a.steps, Server: sess.ServerInfo(), Upstream: a.watch.Requests()}
	o := &a.obs
	if len(x.Response) > 0 {
		v, deep, err := x.Parse(jsonv.Options{})
		a.out.violations(s, deep)
		if err != nil {
			a.out.problems = append(a.out.problems, "protocol violation: the response could not be read: "+err.Error())
		}
		o.Result, o.Error = v.Lookup("result"), v.Lookup("error")
	}
	observeMessages(o, append(x.During, waited...))
	if x.HTTP != nil {
		o.HTTPStatus = x.HTTP.Status
		var headers []jsonv.Member
		for _, k := range sortedKeys(x.HTTP.Header) {
			headers = append(headers, jsonv.Member{Key: k, Value: jsonv.String(strings.Join(x.HTTP.Header[k], ", "))})
		}
		o.HTTPHeaders = jsonv.Object(headers...)
	}
	if t := sess.Stderr(); t != nil && a.c.Exclusive {
		o.Stderr = t.Since(a.marks[sess])
	}
	method := op.Method
	if op.MaybeMethod {
		method = x.Method // the name of a tool, or sent as a method
	}
	a.checkResponse(ctx, s, sess.Protocol(), method, op.Subject, x)
	a.hint = func() string {
		if !a.rejected() {
			return ""
		}
		if method != op.Method {
			return ""
		}
		return s.Unlisted(ctx, sess, op)
	}
}

// observeSurface adds what the server of an operation offers. It returns false if
// the lists cannot be requested, which ends the case.
func (a *attempt) observeSurface(ctx context.Context, op *plan.Op) bool {
	s, began := a.server(op), time.Now()
	if a.file.file.Serial {
		s.Called() // a hook may have changed what the server offers
	}
	offer, err := s.Offer(ctx, a.sessions[s])
	if !op.Calls() {
		a.out.c.DurationMS += ms(time.Since(began))
	}
	a.obs.Surface = offer
	switch {
	case err == nil:
		return true
	case fixture.Stopping(ctx):
		a.out.fail(result.Skip, interruptedReason)
	default:
		a.unanswered(&mcp.Exchange{Cause: err})
	}
	return false
}

// surfaceCheck returns the function that evaluates the matchers lock, tokens and
// same-as.
func (a *attempt) surfaceCheck(ctx context.Context, s *pool.Server) func(context.Context, *assert.Check, jsonv.Value) assert.Verdict {
	return func(_ context.Context, c *assert.Check, offer jsonv.Value) assert.Verdict {
		f := a.file.file
		env := assert.Env{
			Server: s.Def.Name, Dir: f.Dir, Shown: filepath.Dir(f.Path), Mask: a.file.run.redact,
			Usage: " " + shellwords.QuoteAll([]string{"--config", filepath.ToSlash(f.Path), "--server", s.Def.Name}),
		}
		if c.SameAs != nil {
			var err error
			if env.Others, err = a.otherSurfaces(ctx, false); err != nil {
				return assert.Verdict{Problem: err.Error()}
			}
		}
		return c.Run(ctx, offer, env)
	}
}

// otherSurfaces requests the surfaces that same-as or check compares with.
func (a *attempt) otherSurfaces(ctx context.Context, check bool) (out []assert.Other, err error) {
	for _, o := range a.others {
		if o.check != check {
			continue
		}
		if o.err != nil {
			return nil, o.err
		}
		ps := a.file.run.pool.ForCase(a.c, o.server, a.file.file)
		other, err := ps.Offer(ctx, a.sessions[ps])
		if err != nil {
			return nil, fmt.Errorf("over %s: %w", o.over, err)
		}
		for _, failed := range other.Failed {
			return nil, fmt.Errorf("over %s: %w", o.over, failed)
		}
		out = append(out, assert.Other{Over: o.over, Offer: other.Value()})
	}
	return out, nil
}

// othersOfCheck returns a function that requests the surfaces of other clients and
// servers, by name.
func othersOfCheck(a *attempt) func(context.Context) (map[string]jsonv.Value, error) {
	return func(ctx context.Context) (map[string]jsonv.Value, error) {
		out := map[string]jsonv.Value{}
		list, err := a.otherSurfaces(ctx, true)
		for _, o := range list {
			out[o.Over] = o.Offer
		}
		return out, err
	}
}

// observeMessages adds the messages that the server sent in addition to its
// response.
func observeMessages(o *expect.Observation, list []mcp.Message) {
	for _, m := range list {
		if m.Kind == mcp.KindResponse {
			continue
		}
		v, err := jsonv.Parse(m.Raw)
		if err != nil {
			continue
		}
		switch {
		case m.Kind == mcp.KindRequest:
			o.Requests = append(o.Requests, v)
		case m.Method == "notifications/message":
			o.Logs = append(o.Logs, v.Lookup("params"))
		case m.Method == "notifications/progress":
			o.Progress = append(o.Progress, v.Lookup("params"))
		}
		if m.Kind == mcp.KindNotification {
			o.Notifications = append(o.Notifications, v)
		}
	}
}

// checkResponse checks a response against the protocol, and its structuredContent
// against the tool's outputSchema.
func (a *attempt) checkResponse(ctx context.Context, s *pool.Server, version, method, subject string, x *mcp.Exchange) {
	res := a.obs.Result
	report := check.Response(version, method, x, res)
	output := s.CheckOutput(ctx, method, subject, res)
	a.out.violations(s, append(report.Violations, output.Violations...))
	a.out.warn(append(report.Warnings, output.Warnings...)...)
	if method == "tools/call" && !res.IsAbsent() {
		if msg := s.ToolViolation(ctx, subject); msg != "" {
			a.out.violations(s, []protocol.Violation{{Kind: protocol.BadResult, Msg: "the tool in tools/list: " + msg}})
		}
	}
}

// rejected reports whether the last call was rejected, by an error response or by
// isError.
func (a *attempt) rejected() bool {
	return !a.obs.Error.IsAbsent() || a.obs.Result.Lookup("isError").Bool()
}
