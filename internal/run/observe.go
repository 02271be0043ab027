package run

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"mcptest/internal/expect"
	"mcptest/internal/jsonv"
	"mcptest/internal/mcp"
	"mcptest/internal/plan"
)

// observe builds what the case's trees look at.
func (a *attempt) observe(ctx context.Context, e *entry, sess *mcp.Session, op *plan.Op, x *mcp.Exchange, waited []mcp.Message) {
	o := expect.Observation{DurationMS: ms(x.Elapsed), ResponseBytes: len(x.Response), Steps: a.steps, Server: sess.ServerInfo()}
	if len(x.Response) > 0 {
		v, deep, err := x.Parse(jsonv.Options{})
		a.violations(e, deep)
		if err != nil {
			a.problems = append(a.problems, "the answer could not be read: "+err.Error())
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
	a.hint = ""
	if method == "tools/call" && (!o.Error.IsAbsent() || o.Result.Lookup("isError").Bool()) {
		a.hint = e.tools.unlisted(ctx, op.Subject)
	}
}

// wellFormed holds a result against what the protocol requires of it, and its
// structuredContent against what the tool promised.
func (a *attempt) wellFormed(ctx context.Context, e *entry, protocol, method, subject string, x *mcp.Exchange) {
	if odd := oddStatus(x); odd != "" {
		a.out.Warnings = append(a.out.Warnings, odd)
	}
	res := a.obs.Result
	if res.IsAbsent() {
		return
	}
	bad, warnings := e.checkOutput(ctx, method, subject, res)
	form := shapeOf(method, protocol, res, x.AsksTask())
	for _, msg := range form.faults {
		a.violations(e, []mcp.Violation{{Kind: mcp.BadResult, Msg: msg, Excerpt: res.Short(200)}})
	}
	a.out.Warnings = append(a.out.Warnings, form.odd...)
	if method == "tools/call" {
		if fault := e.listed(ctx, subject); fault != "" {
			bad = append(bad, mcp.Violation{Kind: mcp.BadResult, Msg: "the tool in tools/list: " + fault})
		}
		if at := contradiction(res); at != "" {
			warnings = append(warnings, fmt.Sprintf("the text content and structuredContent contradict each other at %s", at))
		}
	}
	a.violations(e, bad)
	a.out.Warnings = append(a.out.Warnings, warnings...)
}

// checkOutput checks the result of a tools/call against the tool's
// outputSchema.
func (e *entry) checkOutput(ctx context.Context, method, tool string, res jsonv.Value) (bad []mcp.Violation, warnings []string) {
	if !e.def.ValidateOutput || method != "tools/call" || res.IsAbsent() || res.Lookup("isError").Bool() {
		return nil, nil
	}
	out := e.tools.schema(ctx, tool)
	if out == nil {
		return nil, nil
	}
	return out.check(ctx, tool, res)
}

// check holds the result of a tool against the schema.
func (o *outputSchema) check(ctx context.Context, tool string, res jsonv.Value) (bad []mcp.Violation, warnings []string) {
	broken := func(excerpt, format string, args ...any) []mcp.Violation {
		return []mcp.Violation{{Kind: "output-schema", Msg: fmt.Sprintf(format, args...), Excerpt: excerpt}}
	}
	schema, err := o.compiled()
	if err != nil {
		return nil, []string{fmt.Sprintf("the outputSchema of %s is not a valid schema: %v", tool, err)}
	}
	got, ok := res.Get("structuredContent")
	if !ok {
		return broken("", "tool %s declares an outputSchema, but the result has no structuredContent", tool), nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), schemaTime)
	defer cancel()
	wrong, err := schema.Validate(ctx, got)
	if err != nil {
		return broken("", "the check against the outputSchema took more than 1s"), nil
	}
	if len(wrong) > 0 {
		at := "structuredContent"
		if wrong[0].InstancePath != "" {
			at += "." + wrong[0].InstancePath
		}
		msg := fmt.Sprintf("structuredContent does not match the outputSchema of %s: %s: %s", tool, at, wrong[0].Msg)
		if len(wrong) > 1 {
			msg += fmt.Sprintf(" (and %d more)", len(wrong)-1)
		}
		bad = broken(got.Short(200), "%s", msg)
	}
	return bad, warnings
}

// contradiction returns where the text of a result says something else than
// its structuredContent, or "". A server that gives both should give the same
// (MCP 2025-06-18, structured content); text that leaves members out, or is a
// member itself, is no contradiction.
func contradiction(res jsonv.Value) string {
	structured, ok := res.Get("structuredContent")
	content := res.Lookup("content")
	if !ok || structured.Kind() != jsonv.KindObject || content.Len() != 1 || content.At(0).Lookup("type").Text() != "text" {
		return ""
	}
	text := []byte(strings.TrimSpace(content.At(0).Lookup("text").Text()))
	if !bytes.HasPrefix(text, []byte("{")) {
		return ""
	}
	v, err := jsonv.Parse(text)
	if err != nil {
		return ""
	}
	for _, key := range v.Keys() {
		want, ok := structured.Get(key)
		if got, _ := v.Get(key); ok && !jsonv.Equal(got, want) {
			return jsonv.JoinKey("structuredContent", key)
		}
	}
	return ""
}
