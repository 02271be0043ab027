package probe

import (
	"context"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/run/allow"
	"mcptest/internal/run/boundary"
	"mcptest/internal/run/probe/argument"
	"mcptest/internal/run/probe/streams"
	"mcptest/internal/run/probe/verdict"
	"mcptest/internal/spec/plan"
	"mcptest/internal/spec/suite"
)

// trace is what no response should show: a stack trace or a path of the server.
var trace = regexp.MustCompile(`(?m)^\s+at .+:\d+:\d+|Traceback \(most recent call last\)|goroutine \d+ \[|(/home/|/usr/|/app/|/var/|[A-Z]:\\\\)[\w./\\-]+\.(js|ts|py|go|rb|java|cs)\b`)

// overHTTP examines the transport with raw requests.
func overHTTP(ctx context.Context, v *visit) {
	if v.stdio() || v.hello.HTTP == nil {
		return
	}
	message := v.frame(7101, v.idle(), jsonv.Value{})
	origins(ctx, v, message)
	v.check(ctx, "http-get", "", func(ctx context.Context) outcome { return get(ctx, v) })
	if !v.modern() {
		streaming(ctx, v)
	}
	v.check(ctx, "http-notification", "", func(ctx context.Context) outcome {
		x := v.tell(ctx, v.frame(jsonv.Value{}, "notifications/initialized", jsonv.Value{}), nil)
		switch s := status(x); {
		case s == 0:
			return unverified("there was %s", answer(x))
		case s >= 400:
			return held()
		case s == http.StatusAccepted && len(strings.TrimSpace(string(x.Response))) > 0:
			return broken(x, "a notification got 202 with a body")
		}
		return expectStatus(x, http.StatusAccepted, "a notification")
	})
	v.check(ctx, "http-version-header", "", func(ctx context.Context) outcome {
		x := v.tell(ctx, message, http.Header{"Mcp-Protocol-Version": {"1999-01-01"}})
		return expectStatus(x, http.StatusBadRequest, "a request with MCP-Protocol-Version: 1999-01-01")
	})
	v.check(ctx, "http-error-trace", "", func(ctx context.Context) outcome {
		for _, action := range []suite.Request{{Method: http.MethodPost, JSON: true, Body: []byte(`{"jsonrpc": "2.0", "id": 1, `)}, {Method: http.MethodGet, Path: "/mcptest-no-such-path"}} {
			if x := v.post(ctx, action, v.inSession(ctx, message)); trace.Match(x.Response) {
				return broken(x, "the response shows a stack trace or a path of the server")
			}
		}
		return held()
	})
	v.check(ctx, "http-modern-get", "", func(ctx context.Context) outcome {
		if dual(ctx, v) {
			return inapplicable("the server speaks versions with sessions, too")
		}
		for _, method := range []string{http.MethodGet, http.MethodDelete} {
			x := v.post(ctx, suite.Request{Method: method}, http.Header{"Mcp-Protocol-Version": {v.version.Name}})
			if o := expectStatus(x, http.StatusMethodNotAllowed, method); o.verdict != verdict.Pass {
				return o
			}
		}
		return held()
	})
}

// origins sends requests from pages of other sites, and of the server itself.
func origins(ctx context.Context, v *visit, message jsonv.Value) {
	at, err := url.Parse(v.pinned.URL)
	if err != nil {
		return
	}
	with := func(ctx context.Context, name, value string) *mcp.Exchange {
		return v.tell(ctx, message, http.Header{name: {value}})
	}
	const foreign = "https://mcptest.invalid"
	control := v.tell(ctx, message, nil)
	v.check(ctx, "http-origin", "", func(ctx context.Context) outcome {
		x := with(ctx, "Origin", foreign)
		switch {
		case !served(control):
			return unverified("the same request without Origin got %s", answer(control))
		case served(x) && (!v.local || at.Scheme == "https" || credentials(v)):
			return unverified("which origins a public server allows is its own decision")
		}
		return brokenIf(served(x), x, "a request with Origin: https://mcptest.invalid was served: a page of another site can use the server")
	})
	v.check(ctx, "http-origin-status", "", func(ctx context.Context) outcome {
		x := with(ctx, "Origin", foreign)
		switch s := status(x); {
		case served(x) || s == 0:
			return unverified("a foreign Origin is served")
		case s == http.StatusUnauthorized || s == http.StatusBadRequest:
			return held() // another check may come first
		}
		return expectStatus(x, http.StatusForbidden, "a request with a foreign Origin")
	})
	v.check(ctx, "http-host", "", func(ctx context.Context) outcome {
		if !v.local {
			return unverified("only a server on this machine is rebound")
		}
		x := with(ctx, "Host", "mcptest.invalid")
		return brokenIf(served(x) && served(control), x, "a request with Host: mcptest.invalid was served")
	})
	v.check(ctx, "http-origin-own", "", func(ctx context.Context) outcome {
		x := with(ctx, "Origin", at.Scheme+"://"+at.Host)
		return brokenIf(served(control) && !served(x), x, "a request from the origin of the server got %s", answer(x))
	})
}

// credentials reports whether the server gets credentials.
func credentials(v *visit) bool {
	return v.pinned.Auth != nil || slices.ContainsFunc(v.pinned.Headers, func(h plan.Header) bool { return strings.EqualFold(h.Name, "Authorization") })
}

// streaming examines the event streams of a session of its own.
func streaming(ctx context.Context, v *visit) {
	rules := []string{"get-no-response", "no-broadcast", "event-id-unique", "replay-own-stream", "http-stream-response"}
	lasts := false
	each(ctx, v, rules, func(ctx context.Context) streams.Session {
		h := introduced(ctx, v)
		requests := []jsonv.Value{v.frame(7301, v.firstList(), jsonv.Value{})}
		for _, tool := range v.tools {
			args := argument.Valid(tool)
			if id := 7301 + len(requests); len(requests) < 6 && allow.ReadOnly(tool) && v.policy.Call(tool, args) == "" {
				requests = append(requests, v.frame(id, "tools/call", params(tool, args, "_meta", jsonv.ObjectOf("progressToken", id))))
			}
		}
		s := streams.Capture(ctx, boundary.Env{Connect: v.Connect, Client: v.Client, Headers: h}, v.pinned, requests)
		lasts = status(v.post(ctx, suite.Request{Body: requests[0].Append(nil)}, h)) < http.StatusBadRequest
		v.post(ctx, suite.Request{Method: http.MethodDelete}, h)
		return s
	}, func(rule string, s streams.Session) outcome {
		what, at, seen := s.Judge(rule)
		switch {
		case rule == "event-id-unique" && v.hello.HTTP.Header.Get(sessionID) == "":
			return unverified("without a session, the server cannot know its client")
		case !seen || rule == "http-stream-response" && !lasts:
			return unverified("the session has no such event streams")
		case what != "":
			return brokenBy(verdict.Evidence{Sent: "a list and calls in one session", Received: verdict.Excerpt(at.String(), 1000)}, "%s", what)
		}
		return held()
	})
}

// introduced are the headers of a session without a stream of GET: a second one may be
// refused.
func introduced(ctx context.Context, v *visit) http.Header {
	h := http.Header{"Mcp-Protocol-Version": {v.version.Name}}
	if id, _ := begin(ctx, v, ""); id != "" {
		h.Set(sessionID, id)
	}
	v.post(ctx, suite.Request{Body: v.frame(jsonv.Value{}, "notifications/initialized", jsonv.Value{}).Append(nil)}, h)
	return h
}

// get opens the stream of a session of its own.
func get(ctx context.Context, v *visit) outcome {
	h := introduced(ctx, v)
	defer v.post(ctx, suite.Request{Method: http.MethodDelete}, h.Clone())
	h.Set("Accept", "text/event-stream")
	ctx, cancel := context.WithTimeout(ctx, v.Reply/5)
	defer cancel()
	x := v.post(ctx, suite.Request{Method: http.MethodGet}, h)
	switch s := status(x); {
	case s == 0:
		return unverified("GET got %s", answer(x))
	case s == http.StatusMethodNotAllowed || served(x) && protocol.IsEventStream(x.HTTP.ContentType):
		return held()
	case s == http.StatusConflict || s == http.StatusBadRequest || s == http.StatusNotFound || refusesAll(s):
		return unverified("GET got HTTP %d", s)
	}
	return broken(x, "GET got HTTP %d %s, expected an event stream or 405", status(x), x.HTTP.ContentType)
}
