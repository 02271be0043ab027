package run

import (
	"context"

	"mcptest/internal/expect"
	"mcptest/internal/jsonv"
	"mcptest/internal/mcp"
	"mcptest/internal/mcp/check"
	"mcptest/internal/plan"
)

// observe builds what the case's trees look at.
func (a *attempt) observe(ctx context.Context, e *entry, sess *mcp.Session, op *plan.Op, x *mcp.Exchange, waited []mcp.Message) {
	o := expect.Observation{DurationMS: ms(x.Elapsed), ResponseBytes: len(x.Response), Steps: a.steps, Server: sess.ServerInfo()}
	if len(x.Response) > 0 {
		v, deep, err := x.Parse(jsonv.Options{})
		a.violations(e, deep)
		if err != nil {
			a.problems = append(a.problems, "protocol violation: the answer could not be read: "+err.Error())
		}
		o.Result, o.Error = v.Lookup("result"), v.Lookup("error")
	}
	for _, m := range append(x.During, waited...) {
		if m.Kind == mcp.KindAnswer {
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
	if x.HTTP != nil {
		o.HTTPStatus = x.HTTP.Status
		o.HTTPHeaders = headersJSON(x.HTTP.Header)
	}
	if t := sess.Stderr(); t != nil && a.c.Exclusive {
		o.Stderr = t.Since(a.marks[sess])
	}
	a.obs = o
	method := op.Method
	if op.MaybeMethod {
		method = x.Method // the name of a tool, or sent as a method
	}
	a.wellFormed(ctx, e, sess.Protocol(), method, op.Subject, x)
	a.hint = func() string {
		if !a.rejected() {
			return ""
		}
		return e.unlisted(ctx, sess, method, op.Subject)
	}
}

// wellFormed checks a response against what the protocol requires of it, and its
// structuredContent against what the tool declared.
func (a *attempt) wellFormed(ctx context.Context, e *entry, protocol, method, subject string, x *mcp.Exchange) {
	res := a.obs.Result
	report := check.Response(protocol, method, x, res)
	output := e.checkOutput(ctx, method, subject, res)
	a.violations(e, append(report.Violations, output.Violations...))
	a.out.Warnings = append(append(a.out.Warnings, report.Warnings...), output.Warnings...)
	if method == "tools/call" && !res.IsAbsent() {
		if msg := e.toolViolation(ctx, subject); msg != "" {
			a.violations(e, []mcp.Violation{{Kind: mcp.BadResult, Msg: "the tool in tools/list: " + msg}})
		}
	}
}

// checkOutput checks the result of a tools/call against the tool's
// outputSchema.
func (e *entry) checkOutput(ctx context.Context, method, tool string, res jsonv.Value) check.Report {
	if !e.def.ValidateOutput || method != "tools/call" || res.IsAbsent() || res.Lookup("isError").Bool() {
		return check.Report{}
	}
	return e.tools.schema(ctx, tool).Check(ctx, tool, res)
}
