package line

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"mcptest/internal/assert/expect"
	"mcptest/internal/assert/target"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/wire"
	"mcptest/internal/offer/ruleset"
	"mcptest/internal/report/result"
	"mcptest/internal/run/boundary"
	"mcptest/internal/run/connect"
	"mcptest/internal/run/fixture"
	"mcptest/internal/run/pool"
	"mcptest/internal/run/probe/entry"
	"mcptest/internal/run/record"
	"mcptest/internal/spec/plan"
	"mcptest/internal/spec/suite"
)

// explainRunning says what a program may have waited for.
func explainRunning(end boundary.Ending, input suite.Stdin) string {
	switch {
	case !end.InputOpen:
		return ""
	case input.Close:
		return ", and its input is still open, because it did not read the whole text"
	case input.Text != nil:
		return ", and its input is still open (then: close closes it after the text)"
	}
	return ", and its input is still open (stdin: close closes it)"
}

// addStatus puts the status of a response before a message that does not name it.
func addStatus(info *wire.HTTPInfo, message string) string {
	code := strconv.Itoa(info.Status)
	if strings.Contains(message, code) {
		return message
	}
	return "HTTP status " + strings.TrimSpace(code+" "+http.StatusText(info.Status)) + ": " + message
}

// outside is a test of a server from outside a session.
type outside struct {
	a      *attempt
	server *pool.Server
}

// visit does what the test is about in the surroundings of its server.
func (t outside) visit(
	ctx context.Context, do func(context.Context, boundary.Env, *plan.Server) (target.Observation, error),
) (target.Observation, error) {
	def, started, err := t.server.Doubles().Prepare(t.server.Def)
	if t.a.c.Block == "probe" { // which counts requests after the start
		started()
	} else {
		defer started()
	}
	if err != nil {
		return target.Observation{}, err
	}
	opener := t.a.file.Opener
	env := boundary.Env{
		Connect:  opener.Options,
		Client:   connect.ClientOf(def, opener.Client),
		Declares: def.Client.Declares,
		Dir:      t.a.file.Plan.Dir,
		Headers:  t.a.c.Headers,
		Response: t.a.c.Tree.Uses().Response(),
		Secret:   t.a.file.Declare,
	}
	o, err := do(ctx, env, def)
	if err == nil && fixture.Stopping(ctx) {
		err = context.Cause(ctx) // it saw the end of the run
	}
	return o, err
}

// program starts the program of a server and looks at how it ends; the observer of
// suite.Start.
type program struct {
	outside
	does suite.Start
}

func (t program) observe(ctx context.Context) (target.Observation, error) {
	return t.visit(ctx, t.start)
}

func (t program) start(ctx context.Context, env boundary.Env, def *plan.Server) (target.Observation, error) {
	a := t.a
	o, end, err := env.Start(ctx, def, t.does)
	a.out.c.Stderr = o.Stderr
	if end.Stopped {
		still := fmt.Sprintf("the program still ran after %s%s", a.c.Timeout, explainRunning(end, t.does.Stdin))
		a.seen.explain = func(v expect.Verdict) string { return still + ": " + v.Message }
		if !a.c.Tree.SaysStillRuns() {
			a.unsaid = still + ", and no assertion says that it may; if that is expected: " +
				"- {target: exit, matcher: {exact: null}}"
		}
	}
	if end.Signal != "" && !a.c.Tree.SaysKilled(end.Signal) {
		a.unsaid = fmt.Sprintf("a signal ended the program (%s), and no assertion says that it may; if that is expected: "+
			"- {target: exit.signal, matcher: {exact: %s}}", end.Signal, end.Signal)
	}
	if u := end.Unrun; u != nil && !a.c.Tree.SaysUnrun(u.Code, u.Line) {
		a.seen.explain = func(v expect.Verdict) string { return u.Error() + ": " + v.Message }
		a.unsaid = u.Error() + ", and no assertion says that it may; if that is expected: " + u.Remedy()
	}
	return o, err
}

// probing applies the rules of probe to a server; the observer of ruleset.Probe.
type probing struct {
	outside
	does ruleset.Probe
}

func (t probing) observe(ctx context.Context) (target.Observation, error) {
	return t.visit(ctx, t.probe)
}

func (t probing) probe(ctx context.Context, env boundary.Env, def *plan.Server) (target.Observation, error) {
	a := t.a
	requests := func() jsonv.Value {
		a.watch.Answered(false)
		return a.watch.Requests()
	}
	probe := entry.Env{Env: env, Dial: a.file.Opener.Dial, Requests: requests, Pos: a.c.Pos}
	o, end, err := probe.Run(ctx, def, t.does.ProbeKeys, a.out.c)
	if end.Failed != "" {
		a.out.fail(result.Fail, end.Failed)
	} else if end.Undecided != "" {
		a.out.fail(result.Inconclusive, end.Undecided)
	}
	return o, err
}

// request sends one request of HTTP; the observer of suite.Request.
type request struct {
	outside
	does suite.Request
}

func (t request) observe(ctx context.Context) (target.Observation, error) {
	return t.visit(ctx, t.send)
}

func (t request) send(ctx context.Context, env boundary.Env, def *plan.Server) (target.Observation, error) {
	a := t.a
	o, x, err := env.Request(ctx, def, t.does)
	a.out.c.Exchanges = append(a.out.c.Exchanges, record.Exchange(a.file.Start, x, ""))
	if x.HTTP != nil {
		a.seen.explain = func(v expect.Verdict) string { return addStatus(x.HTTP, v.Message) }
	}
	return o, err
}
