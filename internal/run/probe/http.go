package probe

import (
	"context"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"mcptest/internal/base/jsonschema"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/run/allow"
	"mcptest/internal/run/boundary"
	"mcptest/internal/run/probe/streams"
	"mcptest/internal/run/probe/verdict"
	"mcptest/internal/spec/plan"
	"mcptest/internal/spec/suite"
)

// trace is what no response should show: a stack trace or a path of the server.
var trace = regexp.MustCompile(`(?m)^\s+at .+:\d+:\d+|Traceback \(most recent call last\)|goroutine \d+ \[|(/home/|/usr/|/app/|/var/|[A-Z]:\\\\)[\w./\\-]+\.(js|ts|py|go|rb|java|cs)\b`)

// httpRules examines the rules of the family http.
type httpRules struct{ *visit }

// http examines the transport with raw requests.
func (v httpRules) http(ctx context.Context) {
	if v.stdio() || v.hello.HTTP == nil {
		return
	}
	message := v.frame(7101, v.idle(), jsonv.Value{})
	post := func(ctx context.Context, change func(h http.Header)) *mcp.Exchange {
		h := v.inSession(ctx, message)
		change(h)
		return v.post(ctx, suite.Request{Body: message.Append(nil)}, h)
	}
	served := func(x *mcp.Exchange) bool { return status(x) >= 200 && status(x) < 300 }
	v.origins(ctx, post, served)
	v.check(ctx, "http-get", "", func(ctx context.Context) outcome { return v.get(ctx) })
	if !v.modern() {
		v.streaming(ctx)
	}
	v.check(ctx, "http-notification", "", func(ctx context.Context) outcome {
		message := v.frame(nil, "notifications/initialized", jsonv.Value{})
		x := v.post(ctx, suite.Request{Body: message.Append(nil)}, v.inSession(ctx, message))
		switch s := status(x); {
		case s == 0:
			return unverified("there was %s", answer(x))
		case s >= 400:
			return held()
		case s != http.StatusAccepted:
			return broken(shown(x), "a notification got the status %d, expected 202", s)
		case len(strings.TrimSpace(string(x.Response))) > 0:
			return broken(shown(x), "a notification got 202 with a body")
		}
		return held()
	})
	v.check(ctx, "http-version-header", "", func(ctx context.Context) outcome {
		if x := post(ctx, func(h http.Header) { h.Set("Mcp-Protocol-Version", "1999-01-01") }); status(x) != http.StatusBadRequest && status(x) != 0 {
			return broken(shown(x), "a request with MCP-Protocol-Version: 1999-01-01 got the status %d, expected 400", status(x))
		}
		return held()
	})
	v.check(ctx, "http-error-trace", "", func(ctx context.Context) outcome {
		for _, action := range []suite.Request{{Method: http.MethodPost, JSON: true, Body: []byte(`{"jsonrpc": "2.0", "id": 1, `)}, {Method: http.MethodGet, Path: "/mcptest-no-such-path"}} {
			if x := v.post(ctx, action, v.inSession(ctx, message)); trace.Match(x.Response) {
				return broken(shown(x), "the response shows a stack trace or a path of the server")
			}
		}
		return held()
	})
	v.check(ctx, "http-modern-get", "", func(ctx context.Context) outcome {
		if v.dual(ctx) {
			return inapplicable("the server speaks versions with sessions, too")
		}
		for _, method := range []string{http.MethodGet, http.MethodDelete} {
			if x := v.post(ctx, suite.Request{Method: method}, http.Header{"Mcp-Protocol-Version": {v.version.Name}}); status(x) != http.StatusMethodNotAllowed && status(x) != 0 {
				return broken(shown(x), "%s got the status %d, expected 405", method, status(x))
			}
		}
		return held()
	})
}

// origins sends requests from pages of other sites, and of the server itself.
func (v httpRules) origins(ctx context.Context, post func(context.Context, func(http.Header)) *mcp.Exchange, served func(*mcp.Exchange) bool) {
	at, err := url.Parse(v.server.URL)
	if err != nil {
		return
	}
	foreign := func(h http.Header) { h.Set("Origin", "https://mcptest.invalid") }
	control := post(ctx, func(http.Header) {})
	v.check(ctx, "http-origin", "", func(ctx context.Context) outcome {
		switch x := post(ctx, foreign); {
		case !served(control):
			return unverified("the same request without Origin got %s", answer(control))
		case !served(x):
			return held()
		case !v.local || at.Scheme == "https" || v.credentials():
			return unverified("which origins a public server allows is its own decision")
		default:
			return broken(shown(x), "a request with Origin: https://mcptest.invalid was served: a page of another site can use the server")
		}
	})
	v.check(ctx, "http-origin-status", "", func(ctx context.Context) outcome {
		x := post(ctx, foreign)
		switch s := status(x); {
		case served(x) || s == 0:
			return unverified("a foreign Origin is served")
		case s == http.StatusForbidden || s == http.StatusUnauthorized || s == http.StatusBadRequest:
			return held() // another check may come first
		default:
			return broken(shown(x), "a request with a foreign Origin got the status %d, expected 403", s)
		}
	})
	v.check(ctx, "http-host", "", func(ctx context.Context) outcome {
		if !v.local {
			return unverified("only a server on this machine is rebound")
		}
		if x := post(ctx, func(h http.Header) { h.Set("Host", "mcptest.invalid") }); served(x) && served(control) {
			return broken(shown(x), "a request with Host: mcptest.invalid was served")
		}
		return held()
	})
	v.check(ctx, "http-origin-own", "", func(ctx context.Context) outcome {
		if x := post(ctx, func(h http.Header) { h.Set("Origin", at.Scheme+"://"+at.Host) }); served(control) && !served(x) {
			return broken(shown(x), "a request from the origin of the server got %s", answer(x))
		}
		return held()
	})
}

// credentials reports whether the server gets credentials.
func (v *visit) credentials() bool {
	return v.server.Auth != nil || slices.ContainsFunc(v.server.Headers, func(h plan.Header) bool { return strings.EqualFold(h.Name, "Authorization") })
}

// streaming examines the event streams of a session of its own.
func (v httpRules) streaming(ctx context.Context) {
	rules := []string{"get-no-response", "no-broadcast", "event-id-unique", "replay-own-stream", "http-stream-response"}
	lasts := false
	each(ctx, v.visit, rules, func(ctx context.Context) streams.Session {
		h := v.introduced(ctx)
		requests := []jsonv.Value{v.frame(7301, v.firstList(), jsonv.Value{})}
		for _, tool := range v.tools {
			args := jsonschema.Arguments(tool.Lookup("inputSchema"))
			if id := 7301 + len(requests); len(requests) < 6 && allow.ReadOnly(tool) && v.policy.Call(tool, args) == "" {
				requests = append(requests, v.frame(id, "tools/call", jsonv.ObjectOf("name", tool.Lookup("name"), "arguments", args, "_meta", jsonv.ObjectOf("progressToken", id))))
			}
		}
		s := streams.Capture(ctx, boundary.Env{Connect: v.Connect, Client: v.Client, Headers: h}, v.server, requests)
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
			return broken(verdict.Evidence{Sent: "a list and calls in one session", Received: verdict.Excerpt(at.String(), 1000)}, "%s", what)
		}
		return held()
	})
}

// introduced are the headers of a session without a stream of GET: a second one may be
// refused.
func (v httpRules) introduced(ctx context.Context) http.Header {
	h := http.Header{"Mcp-Protocol-Version": {v.version.Name}}
	if id, _ := sessionRules(v).begin(ctx, ""); id != "" {
		h.Set(sessionID, id)
	}
	message := v.frame(nil, "notifications/initialized", jsonv.Value{})
	v.post(ctx, suite.Request{Body: message.Append(nil)}, h)
	return h
}

// get opens the stream of a session of its own.
func (v httpRules) get(ctx context.Context) outcome {
	h := v.introduced(ctx)
	defer v.post(ctx, suite.Request{Method: http.MethodDelete}, h.Clone())
	h.Set("Accept", "text/event-stream")
	ctx, cancel := context.WithTimeout(ctx, v.Reply/5)
	defer cancel()
	x := v.post(ctx, suite.Request{Method: http.MethodGet}, h)
	switch s := status(x); {
	case s == 0:
		return unverified("GET got %s", answer(x))
	case s == http.StatusMethodNotAllowed || s >= 200 && s < 300 && protocol.IsEventStream(x.HTTP.ContentType):
		return held()
	case s == http.StatusConflict || s == http.StatusBadRequest || s == http.StatusNotFound || refusesAll(s):
		return unverified("GET got HTTP %d", s)
	}
	return broken(shown(x), "GET got HTTP %d %s, expected an event stream or 405", status(x), x.HTTP.ContentType)
}
