package basics

import (
	"context"
	"net/http"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lazy"
	"mcptest/internal/client/mcp"
	"mcptest/internal/run/allow"
	"mcptest/internal/run/boundary"
	"mcptest/internal/run/probe/argument"
	"mcptest/internal/run/probe/exam"
	"mcptest/internal/run/probe/streams"
	"mcptest/internal/run/probe/verdict"
	"mcptest/internal/spec/suite"
)

// trace is what no response should show: a stack trace or a path of the server.
var trace = lazy.Regexp(`(?m)^\s+at .+:\d+:\d+|Traceback \(most recent call last\)|goroutine \d+ \[|(/home/|/usr/|/app/|/var/|[A-Z]:\\\\)[\w./\\-]+\.(js|ts|py|go|rb|java|cs)\b`)

// OverHTTP examines the transport with raw requests.
func OverHTTP(ctx context.Context, v *exam.Visit) {
	if v.Stdio() || v.Hello.HTTP == nil {
		return
	}
	message := v.Frame(7101, v.Idle(), jsonv.Value{})
	v.Check(ctx, "stream-offered", "", func(ctx context.Context) exam.Outcome { return checkOfferedStream(ctx, v) })
	served := findServedKinds(ctx, v)
	checkOrigins(ctx, v, message, served)
	checkNotifications(ctx, v)
	eachKind(ctx, v, "http-version-header", served, func(ctx context.Context, k kind) exam.Outcome {
		x := k.send(ctx, v, http.Header{"Mcp-Protocol-Version": {"1999-01-01"}})
		return exam.ExpectStatus(x, http.StatusBadRequest, k.method+" with MCP-Protocol-Version: 1999-01-01")
	})
	v.Check(ctx, "http-error-trace", "", func(ctx context.Context) exam.Outcome {
		for _, action := range []suite.Request{
			{Method: http.MethodPost, JSON: true, Body: []byte(`{"jsonrpc": "2.0", "id": 1, `)},
			{Method: http.MethodGet, Path: "/mcptest-no-such-path"},
		} {
			if x := v.Post(ctx, action, v.InSession(ctx, message)); trace().Match(x.Response) {
				return exam.Broken(x, "the response shows a stack trace or a path of the server")
			}
		}
		return exam.Held()
	})
	v.Check(ctx, "http-modern-get", "", func(ctx context.Context) exam.Outcome {
		if isDual(ctx, v) {
			return exam.Inapplicable("the server speaks versions with sessions, too")
		}
		for _, method := range []string{http.MethodGet, http.MethodDelete} {
			x := v.Post(ctx, suite.Request{Method: method}, http.Header{"Mcp-Protocol-Version": {v.Version.Name}})
			if o := exam.ExpectStatus(x, http.StatusMethodNotAllowed, method); o.Verdict != verdict.Pass {
				return o
			}
		}
		return exam.Held()
	})
}

// checkNotifications sends notifications of several kinds: a server may treat only one of them
// as a message without a response.
func checkNotifications(ctx context.Context, v *exam.Visit) {
	cancelled := jsonv.ObjectOf("requestId", 987654321)
	for _, message := range []jsonv.Value{
		v.Frame(jsonv.Value{}, "notifications/initialized", jsonv.Value{}),
		v.Frame(jsonv.Value{}, "notifications/cancelled", cancelled),
		v.Frame(jsonv.Value{}, "notifications/mcptest-unknown", jsonv.Value{}),
	} {
		method := message.Lookup("method").Text()
		v.Check(ctx, "http-notification", method, func(ctx context.Context) exam.Outcome {
			x := v.Tell(ctx, message, nil)
			s := exam.Status(x)
			switch {
			case s == 0:
				return exam.Unverified("there was %s", exam.Answer(x))
			case s >= 400:
				return exam.Held()
			case s == http.StatusAccepted && len(strings.TrimSpace(string(x.Response))) > 0:
				return exam.Broken(x, "%s got 202 with a body", method)
			}
			return exam.ExpectStatus(x, http.StatusAccepted, method)
		})
	}
}

// Streams examines the event streams of further sessions over HTTP.
func Streams(ctx context.Context, v *exam.Visit) {
	if v.Stdio() || v.Hello.HTTP == nil {
		return
	}
	v.Check(ctx, "http-get", "", func(ctx context.Context) exam.Outcome { return get(ctx, v) })
	v.Check(ctx, "http-origin", "GET", func(ctx context.Context) exam.Outcome { return openForeignStream(ctx, v) })
	if !v.Modern() {
		checkStreams(ctx, v)
	}
}

// foreign is the origin of a page of another site.
const foreign = "https://mcptest.invalid"

// checkOrigins sends requests from pages of other sites, and of the server itself.
func checkOrigins(ctx context.Context, v *exam.Visit, message jsonv.Value, served []kind) {
	with := func(ctx context.Context, name, value string) *mcp.Exchange {
		return v.Tell(ctx, message, http.Header{name: {value}})
	}
	control := v.Tell(ctx, message, nil)
	eachKind(ctx, v, "http-origin", served, func(ctx context.Context, k kind) exam.Outcome {
		x := k.send(ctx, v, http.Header{"Origin": {foreign}})
		switch {
		case !exam.Served(control):
			return exam.Unverified("the same request without Origin got %s", exam.Answer(control))
		case exam.Served(x) && exam.RPCError(x) != nil && exam.RPCError(control) == nil:
			return exam.Held() // it is refused, if not with a status
		case exam.Served(x) && (!v.Local || v.At.Scheme == "https" || v.Pinned.SendsCredentials()):
			return exam.Unverified("which origins a public server allows is its own decision")
		}
		return exam.BrokenIf(exam.Served(x), x, "%s with Origin: %s was served: a page of another site can use the server", k.method, foreign)
	})
	v.Check(ctx, "http-origin-status", "", func(ctx context.Context) exam.Outcome {
		x := with(ctx, "Origin", foreign)
		s := exam.Status(x)
		switch {
		case exam.Served(x) && exam.RPCError(x) == nil || s == 0 || exam.RPCError(control) != nil:
			return exam.Unverified("a foreign Origin is served")
		case s == http.StatusUnauthorized || s == http.StatusBadRequest:
			return exam.Held() // another check may come first
		}
		return exam.ExpectStatus(x, http.StatusForbidden, "a request with a foreign Origin")
	})
	v.Check(ctx, "http-host", "", func(ctx context.Context) exam.Outcome {
		if !v.Local {
			return exam.Unverified("only a server on this machine is rebound")
		}
		x := with(ctx, "Host", "mcptest.invalid")
		return exam.BrokenIf(exam.Served(x) && exam.Served(control), x, "a request with Host: mcptest.invalid was served")
	})
	v.Check(ctx, "http-origin-own", "", func(ctx context.Context) exam.Outcome {
		x := with(ctx, "Origin", v.At.Scheme+"://"+v.At.Host)
		// 403 is how a server refuses an origin: it counts if the request without one is served after it.
		status := exam.Status(x)
		if exam.RefusesAll(status) && (status != http.StatusForbidden || !exam.Served(v.Tell(ctx, message, nil))) {
			return exam.Unverified("HTTP %d", status)
		}
		return exam.BrokenIf(exam.Served(control) && !exam.Served(x), x, "a request from the origin of the server got %s", exam.Answer(x))
	})
}

// checkStreams examines the event streams of a session of its own.
func checkStreams(ctx context.Context, v *exam.Visit) {
	rules := []string{"get-no-response", "no-broadcast", "event-id-unique", "replay-own-stream", "http-stream-response"}
	lasts := false
	exam.Each(ctx, v, rules, func(ctx context.Context) streams.Session {
		h := beginSession(ctx, v)
		requests := []jsonv.Value{v.Frame(7301, v.FirstList(), jsonv.Value{})}
		for _, tool := range v.Tools {
			args := argument.Valid(tool)
			id := 7301 + len(requests)
			if len(requests) < 6 && allow.ReadOnly(tool) && v.Policy.Call(tool, args) == "" {
				requests = append(requests, v.Frame(id, "tools/call", exam.Params(tool, args, "_meta", jsonv.ObjectOf("progressToken", id))))
			}
		}
		s := streams.Capture(ctx, boundary.Env{Connect: v.Connect, Client: v.Client, Headers: h}, v.Pinned, requests)
		lasts = exam.Status(v.Post(ctx, suite.Request{Body: requests[0].Append(nil)}, h)) < http.StatusBadRequest
		v.Post(ctx, suite.Request{Method: http.MethodDelete}, h)
		return s
	}, func(rule string, s streams.Session) exam.Outcome {
		what, at, seen := s.Judge(rule)
		switch {
		case rule == "event-id-unique" && v.Hello.HTTP.Header.Get(exam.SessionID) == "":
			return exam.Unverified("without a session, the server cannot know its client")
		case !seen || rule == "http-stream-response" && !lasts:
			return exam.Unverified("the session has no such event streams")
		case what != "":
			return exam.BrokenBy(verdict.Evidence{Sent: "a list and calls in one session", Received: verdict.Excerpt(at.String(), 1000)}, "%s", what)
		}
		return exam.Held()
	})
}

// openForeignStream opens a stream from a page of another site.
func openForeignStream(ctx context.Context, v *exam.Visit) exam.Outcome {
	x := openStream(ctx, v, http.Header{"Origin": {foreign}})
	switch {
	case !isOpenStream(x):
		return exam.Held() // no stream is there, or not for this page
	case !v.Local || v.At.Scheme == "https" || v.Pinned.SendsCredentials():
		return exam.Unverified("which origins a public server allows is its own decision")
	}
	return exam.Broken(x, "GET with Origin: %s got an event stream: a page of another site can read it", foreign)
}

// get opens the stream of a session of its own.
func get(ctx context.Context, v *exam.Visit) exam.Outcome {
	x := openStream(ctx, v, nil)
	s := exam.Status(x)
	switch {
	case s == 0:
		return exam.Unverified("GET got %s", exam.Answer(x))
	case s == http.StatusMethodNotAllowed || isOpenStream(x):
		return exam.Held()
	case s == http.StatusConflict || s == http.StatusBadRequest || s == http.StatusNotFound || exam.RefusesAll(s):
		return exam.Unverified("GET got HTTP %d", s)
	}
	return exam.Broken(x, "GET got HTTP %d %s, expected an event stream or 405", exam.Status(x), x.HTTP.ContentType)
}
