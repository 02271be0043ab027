package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"mcptest/internal/assert/expect"
	"mcptest/internal/assert/snapshot"
	"mcptest/internal/assert/target"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
	"mcptest/internal/process/proc"
	"mcptest/internal/process/tail"
	"mcptest/internal/report/result"
	"mcptest/internal/run/boundary"
	"mcptest/internal/run/connect"
	"mcptest/internal/run/doubles"
	"mcptest/internal/run/fixture"
	"mcptest/internal/run/late"
	"mcptest/internal/run/pool"
	"mcptest/internal/run/respond"
	"mcptest/internal/run/twin"
	"mcptest/internal/spec/plan"
)

// attempt is one execution of a case.
type attempt struct {
	file      *fileRun
	c         *plan.Case
	number    int // from 1
	out       outcome
	scope     fixture.Scope
	script    *respond.Script
	scripts   []*respond.Script // of all calls
	snapshots *snapshot.Test
	others    []twin.Way

	sessions   map[*pool.Server]*mcp.Session
	marks      map[*mcp.Session]tail.Mark
	endCalling func()         // ends the time of the case's calls
	watch      *doubles.Watch // of the requests to upstreams
	notReady   bool           // a server was not ready in time
	mistake    string         // of the suite, which explains a failure
	unsaid     string         // what an assertion must say for the case to pass
	before     [][]int        // per session, the tests that used it before
	warm       bool           // a session was kept from an earlier run

	steps    jsonv.Value                 // captured values of a flow
	obs      target.Observation          // of the last call
	explain  func(expect.Verdict) string // the message of a failure of that call
	examined []examined                  // for the coverage of the run
	late     *late.Call                  // of the last call
	free     func()                      // returns the memory budget of the last call; may be nil
}

// calls opens the sessions, makes the calls and evaluates the responses.
func (a *attempt) calls(ctx context.Context) {
	opened := !a.c.Connects() || a.open(ctx)
	if !opened && a.obs.HTTPStatus == 0 {
		return
	}
	a.beginWatch(ctx)
	defer a.watch.End()
	if opened {
		a.operations(ctx)
	} else {
		a.judge(ctx) // the refused handshake
	}
	a.watch.Settle(ctx)
	a.finish(ctx)
}

// open opens a session to every server of the case before the case's time limit
// starts.
func (a *attempt) open(ctx context.Context) bool {
	a.sessions = map[*pool.Server]*mcp.Session{}
	a.marks = map[*mcp.Session]tail.Mark{}
	for _, s := range a.scope.Lease.Servers {
		if m := a.file.run.coverage; m != nil {
			m.server(s.Def, a.file.file)
		}
		slot := a.slot(s)
		sess, err := slot.Session(ctx)
		if err == nil && needsList(a.c, sess) {
			s.Tools().Wait(ctx)
			sess, err = slot.Session(ctx) // the server may have ended on tools/list
		} else if err == nil && slices.ContainsFunc(a.c.Ops, func(op *plan.Op) bool { return op.Method == "tools/call" }) {
			s.Tools().Ahead(ctx)
		}
		if err != nil {
			a.notOpened(ctx, s, err)
			return false
		}
		a.out.c.AfterRestart = a.out.c.AfterRestart || slot.Restarted()
		a.useSession(s, sess)
		a.before = append(a.before, a.file.run.uses.add(sess, a.c.Index))
		a.warm = a.warm || slot.Kept()
		if a.c.Alone {
			s.ReportViolations(sess) // from before this case
		}
	}
	return true
}

func (a *attempt) useSession(s *pool.Server, sess *mcp.Session) {
	a.sessions[s] = sess
	if t := sess.Stderr(); t != nil {
		a.marks[sess] = t.Mark()
	}
}

// notOpened sets the status of a case whose session cannot be opened.
func (a *attempt) notOpened(ctx context.Context, s *pool.Server, err error) {
	if fixture.Stopping(ctx) {
		a.out.fail(result.Skip, interruptedReason)
		return
	}
	refused, ok := errors.AsType[*wire.HTTPError](err)
	if ok && !a.c.Flow && examinesHTTP(a.c, a.c.Ops[0]) {
		a.obs = target.Observation{HTTPStatus: refused.Info.Status, HTTPHeaders: boundary.HeaderValue(refused.Info.Header), Challenge: refused.Info.Challenge()}
		a.explain = func(v expect.Verdict) string { return v.Message }
		return
	}
	c := a.out.c
	a.out.fail(result.Error, fmt.Sprintf("server %q: %v", s.Def.Name, err))
	a.notReady = a.notReady || connect.NotReady(err)
	if se, ok := errors.AsType[*proc.StartError](err); ok && len(se.Looked) > 1 {
		c.Searched = se.Looked
	}
	if oe, ok := errors.AsType[*wire.OpenError](err); ok {
		c.Stderr = strings.Join(oe.StderrTail, "\n")
		// The output of the server often explains the failure: a question of a
		// package manager, a banner.
		for _, v := range oe.Violations[:min(3, len(oe.Violations))] {
			c.Violations = append(c.Violations, result.Violation{
				Kind:      v.Kind,
				Message:   v.Msg,
				Excerpt:   v.Excerpt,
				Offset:    v.Offset,
				Tolerated: v.Tolerated,
			})
		}
	}
	if closed, ok := errors.AsType[*wire.ClosedError](err); ok && c.Stderr == "" {
		c.Stderr = strings.Join(closed.Stderr, "\n")
	}
}

// needsList reports whether the list of tools must be complete before the case's
// calls: if no other request may be in flight, if arguments that are sent as
// headers must be known, or if the list decides whether the call is a tool call or
// a method.
func needsList(c *plan.Case, sess *mcp.Session) bool {
	return c.Exclusive || sess.Era() == protocol.EraStateless && sess.Stderr() == nil ||
		slices.ContainsFunc(c.Ops, func(op *plan.Op) bool { return op.MaybeMethod })
}

// slot returns the slot the case uses. In a serial file that is always the first,
// which fixture steps use too.
func (a *attempt) slot(s *pool.Server) *pool.Slot {
	if a.file.file.Serial {
		return s.First()
	}
	return s.Next()
}

// beginCalling begins the time of the case's calls.
func (a *attempt) beginCalling() { a.endCalling = a.file.run.clock.Begin(pool.Calling) }

// reopen replaces a session that has ended. It returns false if that fails.
func (a *attempt) reopen(ctx context.Context, s *pool.Server) bool {
	a.endCalling()
	defer a.beginCalling()
	sess, err := a.slot(s).Session(ctx)
	if err != nil {
		return false
	}
	a.out.c.AfterRestart = true
	a.useSession(s, sess)
	return true
}

// server returns the server of an operation.
func (a *attempt) server(op *plan.Op) *pool.Server {
	return a.file.run.pool.ForCase(a.c, op.Server, a.file.file)
}

// finish collects the results that belong to no call and decides the status.
func (a *attempt) finish(ctx context.Context) {
	servers := a.scope.Lease.Servers
	for _, s := range servers {
		sess := a.sessions[s]
		switch {
		case sess == nil:
		case a.c.Alone:
			s.AwaitIdle(sess)
			a.out.violations(s, sess.TakeViolations())
		default:
			s.ReportViolations(sess)
		}
	}
	a.late.Note(ctx, a.out.c, a.c.Trials != nil || a.c.Repeat != nil) // there may be many attempts
	requests, problems := a.watch.Record(a.file.run.start)            // unanswered ones fail the case
	a.recordSideEvents()
	a.out.c.Upstream, a.out.problems = requests, append(a.out.problems, problems...)
	a.out.decide()
	a.count()
	if a.out.c.Status != result.Pass {
		a.recordStderr()
	} else {
		a.out.c.Stderr = ""
	}
}

// recordSideEvents records what else happened in the sessions of the case. That this run
// opened another session is in the messages of what it may have broken.
func (a *attempt) recordSideEvents() {
	for _, s := range a.scope.Lease.Servers {
		sess := a.sessions[s]
		if sess == nil {
			continue
		}
		for _, e := range sess.SideEvents() {
			if e.Kind == wire.SideRival {
				continue
			}
			a.out.c.SideEvents = append(a.out.c.SideEvents, result.SideEvent{
				Server: s.Def.Name,
				Text:   e.Text,
				Times:  e.N,
				AtMS:   ms(e.At.Sub(a.file.run.start)),
			})
		}
	}
}

// recordStderr records what the servers wrote to standard error during the case and
// when. The text of a server that ended is recorded already; it includes earlier output.
func (a *attempt) recordStderr() {
	c := a.out.c
	var lines []string
	var at []time.Time
	for _, s := range a.scope.Lease.Servers {
		if sess := a.sessions[s]; sess != nil && sess.Stderr() != nil {
			mark := a.marks[sess]
			if c.Stderr != "" {
				mark = 0
			}
			text, times := sess.Stderr().EndsSince(mark, wire.StderrLines)
			lines, at = append(lines, text...), append(at, times...)
		}
	}
	text := strings.Join(lines, "\n")
	if c.Stderr == "" {
		c.Stderr = text
	}
	if c.Stderr == text && len(at) == len(lines) {
		for _, t := range at {
			c.StderrMS = append(c.StderrMS, ms(t.Sub(a.file.run.start)))
		}
	}
}

// beginWatch starts collecting the requests to upstreams. Earlier requests of the
// server do not belong to the case.
func (a *attempt) beginWatch(ctx context.Context) {
	groups := a.scope.Lease.Doubles()
	if len(a.file.file.Upstreams) > 0 && a.c.Exclusive {
		for s, sess := range a.sessions {
			s.AwaitIdle(sess)
		}
		doubles.Settle(ctx, groups)
	}
	a.watch = doubles.Begin(a.c, groups)
}
