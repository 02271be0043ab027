package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"mcptest/internal/expect"
	"mcptest/internal/jsonv"
	"mcptest/internal/mcp"
	"mcptest/internal/plan"
	"mcptest/internal/proc"
	"mcptest/internal/result"
)

// attempt is one execution of a case.
type attempt struct {
	*fileRun
	c       *plan.Case
	out     *result.Case
	lease   *lease
	script  *script
	scripts []*script // of all calls

	steps    jsonv.Value // captured values of a flow
	sessions map[*entry]*mcp.Session
	marks    map[*mcp.Session]proc.Mark
	obs      expect.Observation // of the last call
	hint     func() string      // begins the message when that call failed
	problems []string           // violations and the like that fail the case
	leave    func()             // gives back the room that the last call's tree takes; nil: none
}

// calls opens the sessions, makes the calls, and judges what came back.
func (a *attempt) calls(ctx context.Context) {
	if !a.open(ctx) {
		return
	}
	a.ops(ctx)
	a.settle()
}

// open gets the session of every server of the case before the case's time
// begins to run.
func (a *attempt) open(ctx context.Context) bool {
	if a.sessions == nil {
		a.sessions = map[*entry]*mcp.Session{}
		a.marks = map[*mcp.Session]proc.Mark{}
	}
	for _, e := range a.lease.entries {
		s := a.slot(e)
		sess, err := s.session(ctx)
		if err == nil && a.listFirst(sess) {
			e.tools.wait(ctx)
			sess, err = s.session(ctx) // the list may have been the end of it
		}
		if err != nil && givenUp(ctx) {
			a.fail(result.Skip, interruptedReason)
			return false
		}
		if err != nil {
			a.fail(result.Error, fmt.Sprintf("server %q: %v", e.def.Name, err))
			if waitedInVain(err) {
				a.late.Store(a.out.Index, true)
			}
			var oe *mcp.OpenError
			if errors.As(err, &oe) {
				a.out.Stderr = strings.Join(oe.StderrTail, "\n")
				a.noise(oe)
			}
			var closed *mcp.ClosedError
			if errors.As(err, &closed) && a.out.Stderr == "" {
				a.out.Stderr = strings.Join(closed.Stderr, "\n")
			}
			return false
		}
		a.out.AfterRestart = a.out.AfterRestart || s.wasRestarted()
		a.sessions[e] = sess
		if t := sess.Stderr(); t != nil {
			a.marks[sess] = t.Mark()
		}
		if a.c.Alone {
			// What came before is not this case's.
			for _, f := range e.violations(sess) {
				a.finding(f)
			}
		}
	}
	return true
}

// listFirst reports whether the list of tools has to be there before the case's
// calls: nothing else may be in flight, arguments that are headers must be
// known, or what is called is a tool or a method.
func (a *attempt) listFirst(sess *mcp.Session) bool {
	return a.c.Exclusive || sess.Era() == mcp.EraRequests && sess.Stderr() == nil ||
		slices.ContainsFunc(a.c.Ops, func(op *plan.Op) bool { return op.MaybeMethod })
}

// tooLate reports whether a server ended, for reasons of its own, before it read
// the request: that end is not this case's. In a file with brackets it is, for
// what the fixtures did to the process is gone with it.
func (a *attempt) tooLate(x *mcp.Exchange) bool {
	var closed *mcp.ClosedError
	return x.Unread && !a.file.Serial && errors.As(x.Cause, &closed) && !closed.Ours
}

// reopen gets another session in the place of one that has ended. It returns
// false when there is none.
func (a *attempt) reopen(ctx context.Context, e *entry) bool {
	sess, err := a.slot(e).session(ctx)
	if err != nil {
		return false
	}
	a.out.AfterRestart = true
	a.sessions[e] = sess
	if t := sess.Stderr(); t != nil {
		a.marks[sess] = t.Mark()
	}
	return true
}

// noise lists what a server that never came up wrote to its standard output:
// often that says why (a question of a package manager, a banner).
func (a *attempt) noise(oe *mcp.OpenError) {
	for i, v := range oe.Violations {
		if i == 3 {
			break
		}
		a.out.Violations = append(a.out.Violations, result.Violation{Kind: v.Kind, Message: v.Msg, Excerpt: v.Excerpt, Offset: v.Offset, Tolerated: v.Tolerated})
	}
}

// slot is the session the case uses: in a file with brackets always the first,
// which is the one that fixtures call.
func (a *attempt) slot(e *entry) *slot {
	if a.file.Serial {
		return e.slots[0]
	}
	return e.pick()
}

func (s *slot) wasRestarted() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.restarted
}
