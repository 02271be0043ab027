package run

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"mcptest/internal/assert/expect"
	"mcptest/internal/assert/target"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/check"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
	"mcptest/internal/offer/ruleset"
	"mcptest/internal/report/result"
	"mcptest/internal/run/boundary"
	"mcptest/internal/run/connect"
	"mcptest/internal/run/fixture"
	"mcptest/internal/run/pool"
	"mcptest/internal/run/probe/entry"
	"mcptest/internal/run/record"
	"mcptest/internal/spec/agent"
	"mcptest/internal/spec/plan"
	"mcptest/internal/spec/suite"
)

// whyRunning says what a program may have waited for.
func whyRunning(end boundary.Running, input suite.Stdin) string {
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

// observer is a test without a call on one server: it does what its kind does, and
// returns what the assertions examine. An error means that there is nothing to examine.
// An observer that sends a request of its own also records the exchange, its violations
// (out.violations) and a lost session (ReportLost): else a violation passes unseen.
type observer interface {
	observe(ctx context.Context) (target.Observation, error)
}

// observer returns the observer of a test without a call.
func (a *attempt) observer(op *plan.Op, server *pool.Server) observer {
	switch action := op.Action.(type) {
	case suite.Offer:
		return offering{a, server}
	case suite.Start:
		return outside{a, server, func(ctx context.Context, env boundary.Env, def *plan.Server) (o target.Observation, err error) {
			o, end, err := env.Start(ctx, def, action)
			a.out.c.Stderr = o.Stderr
			if end.Stopped {
				still := fmt.Sprintf("the program still ran after %s%s", a.c.Timeout, whyRunning(end, action.Stdin))
				a.explain = func(v expect.Verdict) string { return still + ": " + v.Message }
				if !a.c.Tree.SaysStillRuns() {
					a.unsaid = still + ", and no assertion says that it may; if that is expected: - {target: exit, matcher: {exact: null}}"
				}
			}
			return o, err
		}}
	case ruleset.Probe:
		return outside{a, server, func(ctx context.Context, env boundary.Env, def *plan.Server) (target.Observation, error) {
			requests := func() jsonv.Value {
				a.watch.Answered(false)
				return a.watch.Requests()
			}
			o, end, err := entry.Env{
				Env:      env,
				Dial:     a.file.run.opener.Dial,
				Requests: requests,
				Pos:      a.c.Pos,
			}.Run(ctx, def, action.ProbeKeys, a.out.c)
			if end.Failed != "" {
				a.out.fail(result.Fail, end.Failed)
			} else if end.Undecided != "" {
				a.out.fail(result.Inconclusive, end.Undecided)
			}
			return o, err
		}}
	case suite.Request:
		return outside{a, server, func(ctx context.Context, env boundary.Env, def *plan.Server) (target.Observation, error) {
			o, x, err := env.Request(ctx, def, action)
			a.out.c.Exchanges = append(a.out.c.Exchanges, record.Exchange(a.file.run.start, x, ""))
			if x.HTTP != nil {
				a.explain = func(v expect.Verdict) string { return withStatus(x.HTTP, v.Message) }
			}
			return o, err
		}}
	case *agent.Conversation:
		return conversation{a, server, op, action}
	case *agent.Calibration:
		return calibration{a, action}
	}
	return nil
}

// withStatus puts the status of a response before a message that does not name it.
func withStatus(info *wire.HTTPInfo, message string) string {
	code := strconv.Itoa(info.Status)
	if strings.Contains(message, code) {
		return message
	}
	return "HTTP status " + strings.TrimSpace(code+" "+http.StatusText(info.Status)) + ": " + message
}

// outside is a test of a server from outside a session; the observer of suite.Start and
// suite.Request.
type outside struct {
	a      *attempt
	server *pool.Server
	do     func(context.Context, boundary.Env, *plan.Server) (target.Observation, error)
}

func (t outside) observe(ctx context.Context) (target.Observation, error) {
	def, started, err := t.server.Doubles().Prepare(t.server.Def)
	if t.a.c.Block == "probe" { // which counts requests after the start
		started()
	} else {
		defer started()
	}
	if err != nil {
		return target.Observation{}, err
	}
	opener := t.a.file.run.opener
	env := boundary.Env{
		Connect:  opener.Options,
		Client:   connect.ClientOf(def, opener.Client),
		Declares: def.Client.Declares,
		Dir:      t.a.file.file.Dir,
		Headers:  t.a.c.Headers,
		Response: t.a.c.Tree.Uses().Response(),
		Secret:   t.a.file.run.declare,
	}
	o, err := t.do(ctx, env, def)
	if err == nil && fixture.Stopping(ctx) {
		err = context.Cause(ctx) // it saw the end of the run
	}
	return o, err
}

// act runs and judges a test without a call.
func (a *attempt) act(ctx context.Context, op *plan.Op) {
	if a.file.run.deps.Replayed && !op.Action.Connects() {
		a.out.fail(result.Skip, "a replay starts no program and sends no request; this test needs the server")
		return
	}
	var err error
	a.explain = func(v expect.Verdict) string { return v.Message }
	a.obs, err = a.observer(op, a.server(op)).observe(ctx)
	a.out.c.DurationMS += a.obs.DurationMS
	examines := len(a.c.Tree.Items) > 0 || a.c.Tree.MaxDuration != nil || a.c.Block != "agents" // a script may say all
	if a.out.c.Status == "" && a.checkAnswered(ctx, op, &mcp.Exchange{Cause: err}) && examines {
		a.judge(ctx)
		if a.unsaid != "" {
			a.out.fail(result.Fail, a.unsaid)
		}
	}
	a.measure(op, nil, a.out.c.Assertions)
}

// observe builds the observation that the case's assertions examine.
func (a *attempt) observe(
	ctx context.Context, s *pool.Server, sess *mcp.Session, op *plan.Op, x *mcp.Exchange, waited []mcp.Message,
) {
	a.obs = target.Observation{
		DurationMS:    ms(x.Elapsed),
		ResponseBytes: len(x.Response),
		Steps:         a.steps,
		Server:        sess.ServerInfo(),
		Upstream:      a.watch.Requests(),
	}
	o := &a.obs
	if len(x.Response) > 0 {
		v, deep, err := x.Parse(jsonv.Options{})
		a.out.violations(s, deep)
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
		a.late.Stderr = t.Mark()
		o.Stderr = t.Since(a.marks[sess])
		o.Cut = map[string]string{"stderr": boundary.Cut(t.Lost(a.marks[sess]))}
	}
	method := op.Method
	if op.MaybeMethod {
		method = x.Method // the name of a tool, or sent as a method
	}
	a.checkResponse(ctx, s, sess.Protocol(), method, op.Subject, x)
	a.explain = func(v expect.Verdict) string {
		if a.isRejected() && method == op.Method {
			unlisted, wrong := s.Mistaken(ctx, sess, op)
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
	res := a.obs.Result
	report := check.Response(version, method, x, res)
	output := s.CheckOutput(ctx, method, subject, res)
	a.out.violations(s, append(report.Violations, output.Violations...))
	a.out.warn(append(report.Warnings, output.Warnings...)...)
	if method == "tools/call" && !res.IsAbsent() {
		if msg := s.ToolViolation(ctx, subject); msg != "" {
			a.out.violations(s, []protocol.Violation{{Kind: protocol.BadResult, Msg: "the tool in tools/list: " + msg}})
		}
	}
}

// isRejected reports whether the last call was rejected, by an error response or by
// isError.
func (a *attempt) isRejected() bool {
	return !a.obs.Error.IsAbsent() || a.obs.Result.Lookup("isError").Bool()
}
