package basics

import (
	"context"
	"maps"
	"net/http"
	"strconv"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/run/probe/exam"
	"mcptest/internal/spec/suite"
)

// Sessions examines the sessions of a server over HTTP.
func Sessions(ctx context.Context, v *exam.Visit) {
	if v.Modern() || v.Stdio() || v.Hello.HTTP == nil {
		return
	}
	if v.Hello.HTTP.Header.Get(exam.SessionID) == "" {
		v.EnterAll("session", exam.Inapplicable("the server has no sessions"))
		return
	}
	served := findServedKinds(ctx, v)
	sendWithoutID(ctx, v, served)
	sendInEndedSession(ctx, v, served)
	v.Check(ctx, "session-random", "", func(ctx context.Context) exam.Outcome { return compareSessionIDs(ctx, v) })
	sendMadeUpID(ctx, v, served)
}

// fulfills reports whether a raw request got a result: an error within the status 200, in
// any form, is a refusal.
func fulfills(x *mcp.Exchange) bool { return exam.Served(x) && x.Result != nil }

// sendWithoutID sends requests without the id of a session.
func sendWithoutID(ctx context.Context, v *exam.Visit, served []kind) {
	post := func(ctx context.Context, k kind) *mcp.Exchange {
		h := http.Header{"Mcp-Protocol-Version": {v.Version.Name}, exam.SessionID: nil}
		return v.Post(ctx, suite.Request{Body: k.makeFrame(v, 7201).Append(nil)}, h)
	}
	optional := fulfills(post(ctx, served[0]))
	eachKind(ctx, v, "session-missing", served, func(ctx context.Context, k kind) exam.Outcome {
		if optional {
			return exam.Unverified("the server requires no session id")
		}
		return exam.ExpectStatus(post(ctx, k), http.StatusBadRequest, k.method+" without a session id")
	})
}

// sendInEndedSession sends requests in a session that was ended, and a notification, and opens its
// stream: a server may know the session in one of these places still.
func sendInEndedSession(ctx context.Context, v *exam.Visit, served []kind) {
	const rule = "session-ended"
	eachKind(ctx, v, rule, served, func(ctx context.Context, k kind) exam.Outcome {
		headers, o := endSession(ctx, v)
		if headers == nil {
			return o
		}
		x := v.Post(ctx, suite.Request{Body: k.makeFrame(v, 7201).Append(nil)}, headers)
		return exam.ExpectStatus(x, http.StatusNotFound, k.method+" in a session that was ended")
	})
	notification := v.Frame(jsonv.Value{}, "notifications/initialized", jsonv.Value{})
	v.Check(ctx, rule, "notifications/initialized", func(ctx context.Context) exam.Outcome {
		headers, o := endSession(ctx, v)
		if headers == nil {
			return o
		}
		x := v.Post(ctx, suite.Request{Body: notification.Append(nil)}, headers)
		const accepted = "a notification in a session that was ended got the status %d, expected 404"
		return exam.BrokenIf(exam.Served(x), x, accepted, exam.Status(x))
	})
	v.Check(ctx, rule, "GET", func(ctx context.Context) exam.Outcome {
		headers, o := endSession(ctx, v)
		if headers == nil {
			return o
		}
		x := openStreamIn(ctx, v, headers)
		return exam.BrokenIf(isOpenStream(x), x, "GET in a session that was ended got an event stream, expected 404")
	})
}

// endSession begins a session and ends it, and returns its headers; nil if that was not possible.
func endSession(ctx context.Context, v *exam.Visit) (http.Header, exam.Outcome) {
	id, _ := begin(ctx, v, "")
	if id == "" {
		return nil, exam.Unverified("no further session was opened")
	}
	gone := v.Post(ctx, suite.Request{Method: http.MethodDelete}, makeSessionHeaders(v, id))
	if !exam.Served(gone) {
		return nil, exam.Unverified("DELETE got %s", exam.Answer(gone))
	}
	return makeSessionHeaders(v, id), exam.Outcome{}
}

// sendMadeUpID begins a session with a made-up id, and sends requests with it.
func sendMadeUpID(ctx context.Context, v *exam.Visit, served []kind) {
	const made = "mcptest-made-up-session-id"
	const rule = "session-fixation"
	v.Check(ctx, rule, "initialize", func(ctx context.Context) exam.Outcome {
		id, x := begin(ctx, v, made)
		return exam.BrokenIf(id == made, x, "initialize with a made-up session id got a session with this id")
	})
	eachKind(ctx, v, rule, served, func(ctx context.Context, k kind) exam.Outcome {
		x := v.Post(ctx, suite.Request{Body: k.makeFrame(v, 7201).Append(nil)}, makeSessionHeaders(v, made))
		return exam.BrokenIf(fulfills(x), x, "%s with a made-up session id was served", k.method)
	})
}

// makeSessionHeaders returns the headers of a session with an id.
func makeSessionHeaders(v *exam.Visit, id string) http.Header {
	return http.Header{"Mcp-Protocol-Version": {v.Version.Name}, exam.SessionID: {id}}
}

// compareSessionIDs opens five sessions and compares their ids.
func compareSessionIDs(ctx context.Context, v *exam.Visit) exam.Outcome {
	var last int64
	steps, seen := 0, map[string]bool{}
	for range 5 {
		id, x := begin(ctx, v, "")
		if id == "" {
			return exam.Unverified("no further session was opened")
		}
		defer v.Post(ctx, suite.Request{Method: http.MethodDelete}, makeSessionHeaders(v, id))
		n, err := strconv.ParseInt(id, 10, 64)
		if err == nil && last != 0 && n-last > 0 && n-last < 1000 {
			steps++
		}
		last = n
		if seen[id] {
			return exam.Broken(x, "two sessions have the id %s", id)
		}
		if steps == 4 {
			return exam.Broken(x, "the ids of sessions are numbers that rise by small steps: %s", id)
		}
		seen[id] = true
	}
	return exam.Held()
}

// begin opens a session with a raw request and returns its id. It is begun completely: a
// server may wait for notifications/initialized, also before it ends a session.
func begin(ctx context.Context, v *exam.Visit, id string) (string, *mcp.Exchange) {
	h := http.Header{}
	if id != "" {
		h.Set(exam.SessionID, id)
	}
	greeting := v.Greeting(v.Version.Name, jsonv.Object())
	body := jsonv.ObjectOf("jsonrpc", "2.0", "id", 1, "method", "initialize", "params", greeting).Append(nil)
	x := v.Post(ctx, suite.Request{Body: body}, h)
	if x.HTTP == nil || !v.Version.Known() {
		return "", x
	}
	own := http.Header{"Mcp-Protocol-Version": {v.Version.Name}}
	begun := x.HTTP.Header.Get(exam.SessionID)
	if begun != "" {
		own.Set(exam.SessionID, begun)
	}
	if fulfills(x) {
		initialized := v.Frame(jsonv.Value{}, "notifications/initialized", jsonv.Value{})
		v.Post(ctx, suite.Request{Body: initialized.Append(nil)}, own)
	}
	return begun, x
}

// beginSession begins a session without a stream of GET, because a second one may be refused,
// and returns its headers.
func beginSession(ctx context.Context, v *exam.Visit) http.Header {
	h := http.Header{"Mcp-Protocol-Version": {v.Version.Name}}
	if id, _ := begin(ctx, v, ""); id != "" {
		h.Set(exam.SessionID, id)
	}
	return h
}

// openStream opens the stream of a session of its own, with further headers.
func openStream(ctx context.Context, v *exam.Visit, headers http.Header) *mcp.Exchange {
	h := beginSession(ctx, v)
	defer v.Post(ctx, suite.Request{Method: http.MethodDelete}, h.Clone())
	own := h.Clone()
	maps.Copy(own, headers)
	return openStreamIn(ctx, v, own)
}

// openStreamIn opens the stream of the session that headers name.
func openStreamIn(ctx context.Context, v *exam.Visit, headers http.Header) *mcp.Exchange {
	headers.Set("Accept", "text/event-stream")
	ctx, cancel := context.WithTimeout(ctx, v.Reply/5)
	defer cancel()
	return v.Post(ctx, suite.Request{Method: http.MethodGet}, headers)
}

// isOpenStream reports whether an event stream was opened.
func isOpenStream(x *mcp.Exchange) bool {
	return exam.Served(x) && protocol.IsEventStream(x.HTTP.ContentType)
}
