package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"mcptest/internal/jsonv"
	"mcptest/internal/mcp"
	"mcptest/internal/mcp/check"
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

// callStep calls a tool. The call belongs to no test: what its response breaks
// is a finding of the run, and fails a setup step.
func (f *fileRun) callStep(ctx context.Context, s *plan.Step, a *attempt, ph *result.Phase) error {
	e := f.stepEntry(s, a)
	sess, err := e.slots[0].session(ctx)
	if err != nil {
		return fmt.Errorf("server %q: %w", s.Call.Server.Name, err)
	}
	call := e.request(ctx, s.Call)
	call.Own = true
	if r := s.Call.Server.Respond; r != nil {
		call.Answer = newScript(r).answer
	}
	x := sess.Do(ctx, call)
	broken := f.stepViolations(s, e, x.Violations)
	if x.Cause != nil {
		return x.Cause
	}
	if e := x.RPCError(); e != nil {
		return e
	}
	v, deep, err := x.Parse(jsonv.Options{})
	broken = cmp.Or(broken, f.stepViolations(s, e, deep))
	if err != nil {
		return fmt.Errorf("the answer could not be read: %w", err)
	}
	res := v.Lookup("result")
	if res.Lookup("isError").Bool() {
		return fmt.Errorf("the tool answered isError: true: %s", res.Lookup("content").At(0).Lookup("text").Short(300))
	}
	output := e.checkOutput(ctx, call.Method, s.Call.Subject, res)
	report := check.Result(sess.Protocol(), call.Method, res, x.AsksTask())
	broken = cmp.Or(broken, f.stepViolations(s, e, append(output.Violations, report.Violations...)))
	ph.Warnings = append(append(ph.Warnings, report.Warnings...), output.Warnings...)
	if broken != "" && s.Phase != "teardown" { // later teardown steps still have their work
		return errors.New(broken)
	}
	return nil
}

// readyForStep opens the session that a step calls and waits for its list of
// tools, so that nothing else is in flight and the step's time is for the call.
// What fails here fails again in the call, which reports it.
func (f *fileRun) readyForStep(ctx context.Context, s *plan.Step, a *attempt) {
	e := f.stepEntry(s, a)
	if _, err := e.slots[0].session(ctx); err == nil {
		e.tools.wait(ctx)
	}
}

// stepViolations reports what a step's call broke. It returns the first that
// is not tolerated, "" for none.
func (f *fileRun) stepViolations(s *plan.Step, e *entry, list []mcp.Violation) (broken string) {
	for _, fd := range e.findings(list) {
		if broken == "" && fd.Severity == "error" {
			broken = fd.Kind + ": " + fd.Message
		}
		fd.Message = fmt.Sprintf("%s step %q: %s", s.Phase, s.Name, fd.Message)
		fd.File, fd.Line = fileName(s.Pos), s.Pos.Line
		f.finding(fd)
	}
	return broken
}
