package line

import (
	"strings"

	"mcptest/internal/assert/expect"
	"mcptest/internal/assert/snapshot"
	"mcptest/internal/assert/target"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/report/result"
	"mcptest/internal/run/doubles"
	"mcptest/internal/run/late"
	"mcptest/internal/run/pool"
	"mcptest/internal/run/twin"
	"mcptest/internal/spec/plan"
)

// attempt is one walk of a case: what its stages hand on.
type attempt struct {
	file      *File
	c         *plan.Case
	number    int // from 1
	snapshots *snapshot.Test
	others    []twin.Way
	lease     *pool.Lease

	out      outcome
	sessions sessions
	answers  answers
	measured measured
	watch    *doubles.Watch // of the requests to upstreams

	endCalling func()      // ends the time of the case's calls
	mistake    string      // of the suite, which explains a failure
	unsaid     string      // what an assertion must say for the case to pass
	steps      jsonv.Value // captured values of a flow
	seen       seen        // of the last call
}

// seen is what was observed of one call.
type seen struct {
	obs     target.Observation
	explain func(expect.Verdict) string // the message of a failure
	late    *late.Call
	free    func() // returns its memory budget; may be nil
}

// isRejected reports whether the call was rejected, by an error response or by isError.
func (s *seen) isRejected() bool {
	return !s.obs.Error.IsAbsent() || s.obs.Result.Lookup("isError").Bool()
}

// addChallenge adds what the response of HTTP asks for to a message that does not say it: it
// is likely to be why the assertions failed.
func (s *seen) addChallenge(msg string) string {
	if ask := s.obs.Challenge; ask != "" && !strings.Contains(msg, ask) {
		msg = CutFirstLine(msg) + "; the response is " + ask
	}
	return msg
}

// findServer returns the server of an operation.
func (a *attempt) findServer(op *plan.Op) *pool.Server {
	return a.file.Pool.ForCase(a.c, op.Server, a.file.Plan)
}

// forget drops what was observed of the last call.
func (a *attempt) forget() {
	free := a.seen.free
	a.seen = seen{explain: a.seen.explain, late: a.seen.late}
	if free != nil {
		free()
	}
}

// beginCalling begins the time of the case's calls.
func (a *attempt) beginCalling() { a.endCalling = a.file.Clock.Begin(pool.Calling) }

// measure records an operation that got a response, and the assertions on it, for the
// coverage of the run.
func (a *attempt) measure(op *plan.Op, x *mcp.Exchange, items []result.Assertion) {
	if a.file.Coverage == nil {
		return
	}
	a.measured.add(a.file.Coverage.Server(a.findServer(op).Def, a.file.Plan), op, x, items)
}
