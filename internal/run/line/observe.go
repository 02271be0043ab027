package line

import (
	"context"
	"strings"

	"mcptest/internal/assert/expect"
	"mcptest/internal/assert/target"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/check"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/run/boundary"
	"mcptest/internal/run/pool"
	"mcptest/internal/spec/plan"
)

// observe builds the observation that the case's assertions examine.
func (a *attempt) observe(
	ctx context.Context, s *pool.Server, sess *mcp.Session, op *plan.Op, x *mcp.Exchange, waited []mcp.Message,
) {
	a.seen.obs = target.Observation{
		DurationMS:    ms(x.Elapsed),
		ResponseBytes: len(x.Response),
		Steps:         a.steps,
		Server:        sess.ServerInfo(),
		Upstream:      a.watch.Requests(),
	}
	o := &a.seen.obs
	if len(x.Response) > 0 {
		v, deep, err := x.Parse(jsonv.Options{})
		a.out.addViolations(s, deep)
		if err != nil {
			a.out.problems = append(a.out.problems, "protocol violation: the response could not be read: "+err.Error())
		}
		o.Result, o.Error = v.Lookup("result"), v.Lookup("error")
	}
	observeMessages(o, append(x.During, waited...))
	if x.HTTP != nil {
		o.HTTPStatus, o.HTTPHeaders = x.HTTP.Status, boundary.HeaderValue(x.HTTP.Header)
		o.Challenge = x.HTTP.Challenge()
	}
	if t := sess.Stderr(); t != nil && a.c.Exclusive {
		a.seen.late.Stderr = t.Mark()
		o.Stderr = t.Since(a.sessions.marks[sess])
		o.Cut = map[string]string{"stderr": boundary.Cut(t.Lost(a.sessions.marks[sess]))}
	}
	method := op.Method
	if op.MaybeMethod {
		method = x.Method // the name of a tool, or sent as a method
	}
	a.checkResponse(ctx, s, sess.Protocol(), method, op.Subject, x)
	a.seen.explain = func(v expect.Verdict) string {
		if a.seen.isRejected() && method == op.Method {
			unlisted, wrong := s.ExplainMistaken(ctx, sess, op)
			if wrong != "" && v.Unexamined && !a.c.InvalidArgs && !op.InvalidArgs {
				return wrong + ": " + strings.Replace(v.Message, expect.IfExpected, "", 1)
			}
			return strings.TrimPrefix(unlisted+": "+v.Message, ": ")
		}
		return v.Message
	}
}

// observeMessages adds the messages that the server sent in addition to its
// response.
func observeMessages(o *target.Observation, list []mcp.Message) {
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
	res := a.seen.obs.Result
	report := check.Response(version, method, x, res)
	output := s.CheckOutput(ctx, method, subject, res)
	a.out.addViolations(s, append(report.Violations, output.Violations...))
	a.out.warn(append(report.Warnings, output.Warnings...)...)
	if method == "tools/call" && !res.IsAbsent() {
		if msg := s.ToolViolation(ctx, subject); msg != "" {
			a.out.addViolations(s, []protocol.Violation{{
				Kind: protocol.BadResult,
				Msg:  "the tool in tools/list: " + msg,
			}})
		}
	}
}
