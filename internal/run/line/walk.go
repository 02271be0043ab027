package line

import (
	"context"

	"mcptest/internal/assert/snapshot"
	"mcptest/internal/report/result"
	"mcptest/internal/run/fixture"
	"mcptest/internal/run/pool"
	"mcptest/internal/run/twin"
	"mcptest/internal/spec/plan"
)

// Test is one walk of a case.
type Test struct {
	File      *File
	Case      *plan.Case
	Number    int            // of the attempt, from 1
	Snapshots *snapshot.Test // of the case; nil if its suite has no snapshot file
	// Halted returns why no further case is started.
	Halted func(context.Context) (reason string, halted bool)
	// Out is the record of the case, which the walk completes.
	Out *result.Case
}

// Walked is what the run needs of a walk besides its record.
type Walked struct {
	Began    bool    // false if the run was halted while the case waited for its servers
	NotReady bool    // a server was not ready in time
	Mistake  string  // of the suite, which explains a failure
	Before   [][]int // per session, the tests that used it before
	Warm     bool    // a session was kept from an earlier run
}

// Walk runs a case once, with its per-test hooks and fixtures, and completes its record.
func Walk(ctx context.Context, t Test) Walked {
	f := t.File
	others := twin.FindOtherWays(t.Case, f.Plan)
	lease := f.Pool.Lease(t.Case, f.Plan, listServers(others)...)
	defer lease.Release()
	if reason, halted := t.Halted(ctx); halted {
		t.Out.Status, t.Out.Message = result.Skip, reason
		return Walked{}
	}
	a := newAttempt(t, lease, others)
	if a.snapshots != nil {
		a.snapshots.Attempt()
	}
	around := scope{
		file:  f,
		c:     t.Case,
		out:   &a.out,
		steps: fixture.Scope{Patch: f.Scope.Patch, Case: t.Case, Lease: lease},
	}
	if f.Plan.Serial {
		around.run(ctx, a.runCalls)
	} else {
		around.runBare(ctx, a.runCalls)
	}
	if a.snapshots != nil && t.Out.Status == result.Pass {
		a.snapshots.AttemptPassed()
	}
	s := &a.sessions
	return Walked{Began: true, NotReady: s.notReady, Mistake: a.mistake, Before: s.before, Warm: s.warm}
}

// listServers returns the servers that a case is compared with.
func listServers(others []twin.Way) (list []*plan.Server) {
	for _, o := range others {
		if o.Err == nil {
			list = append(list, o.Server)
		}
	}
	return list
}

func newAttempt(t Test, lease *pool.Lease, others []twin.Way) *attempt {
	a := &attempt{
		file:      t.File,
		c:         t.Case,
		number:    t.Number,
		snapshots: t.Snapshots,
		others:    others,
		lease:     lease,
		out:       outcome{c: t.Out},
		answers:   newAnswers(t.Case),
	}
	a.sessions = sessions{file: t.File, c: t.Case, servers: lease.Servers, out: &a.out}
	return a
}
