package run

import (
	"context"
	"fmt"
	"slices"

	"mcptest/internal/jsonv"
	"mcptest/internal/mcp"
	"mcptest/internal/plan"
	"mcptest/internal/result"
)

// stepEntry is the server entry a step calls: inside a test's bracket the one
// that the test uses, so that what the step resets is what the test sees.
func (f *fileRun) stepEntry(s *plan.Step, a *attempt) *entry {
	server := s.Call.Server
	if a != nil {
		e := f.pool.entry(server, caseCapabilities(a.c, server), f.file)
		if slices.Contains(a.lease.entries, e) {
			return e
		}
	}
	return f.pool.entry(server, capabilitiesOf(server.Respond), f.file)
}

// callStep calls a tool. The call belongs to no test: what its answer breaks
// is a finding of the run.
func (f *fileRun) callStep(ctx context.Context, s *plan.Step, a *attempt, ph *result.Phase) error {
	e := f.stepEntry(s, a)
	sess, err := e.slots[0].session(ctx)
	if err != nil {
		return fmt.Errorf("server %q: %w", s.Call.Server.Name, err)
	}
	e.tools.wait(ctx) // nothing else may be in flight
	call := e.request(ctx, s.Call)
	if r := s.Call.Server.Respond; r != nil {
		call.Answer = newScript(r).answer
	}
	x := sess.Do(ctx, call)
	f.stepViolations(s, e, x.Violations)
	if x.Cause != nil {
		return x.Cause
	}
	if e := x.RPCError(); e != nil {
		return e
	}
	v, deep, err := x.Parse(jsonv.Options{})
	f.stepViolations(s, e, deep)
	if err != nil {
		return fmt.Errorf("the answer could not be read: %w", err)
	}
	res := v.Lookup("result")
	if res.Lookup("isError").Bool() {
		return fmt.Errorf("the tool answered isError: true: %s", res.Lookup("content").At(0).Lookup("text").Short(300))
	}
	bad, warnings := e.checkOutput(ctx, call.Method, s.Call.Subject, res)
	form := shapeOf(call.Method, sess.Protocol(), res, x.AsksTask())
	for _, msg := range form.faults {
		bad = append(bad, mcp.Violation{Kind: mcp.BadResult, Msg: msg, Excerpt: res.Short(200)})
	}
	f.stepViolations(s, e, bad)
	ph.Warnings = append(ph.Warnings, form.odd...)
	ph.Warnings = append(ph.Warnings, warnings...)
	return nil
}

// stepViolations reports what a step's call broke.
func (f *fileRun) stepViolations(s *plan.Step, e *entry, list []mcp.Violation) {
	for _, fd := range e.findings(list) {
		fd.Message = fmt.Sprintf("%s step %q: %s", s.Phase, s.Name, fd.Message)
		fd.File, fd.Line = fileName(s.Pos), s.Pos.Line
		f.finding(fd)
	}
}
