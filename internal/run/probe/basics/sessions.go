package basics

import (
	"context"
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
	list := suite.Request{Body: v.Frame(7201, v.FirstList(), jsonv.Value{}).Append(nil)}
	v.Check(ctx, "session-missing", "", func(ctx context.Context) exam.Outcome {
		x := v.Post(ctx, list, http.Header{"Mcp-Protocol-Version": {v.Version.Name}, exam.SessionID: nil})
		if exam.Served(x) {
			return exam.Unverified("the server requires no session id")
		}
		return exam.ExpectStatus(x, http.StatusBadRequest, "a request without a session id")
	})
	v.Check(ctx, "session-ended", "", func(ctx context.Context) exam.Outcome {
		id, _ := begin(ctx, v, "")
		if id == "" {
			return exam.Unverified("no further session was opened")
		}
		if gone := v.Post(ctx, suite.Request{Method: http.MethodDelete}, named(v, id)); !exam.Served(gone) {
			return exam.Unverified("DELETE got %s", exam.Answer(gone))
		}
		return exam.ExpectStatus(v.Post(ctx, list, named(v, id)), http.StatusNotFound, "a request in a session that was ended")
	})
	v.Check(ctx, "session-random", "", func(ctx context.Context) exam.Outcome { return randomIDs(ctx, v) })
	v.Check(ctx, "session-fixation", "", func(ctx context.Context) exam.Outcome {
		const made = "mcptest-made-up-session-id"
		id, x := begin(ctx, v, made)
		if id == made {
			return exam.Broken(x, "initialize with a made-up session id got a session with this id")
		}
		x = v.Post(ctx, list, named(v, made))
		return exam.BrokenIf(exam.Served(x), x, "a request with a made-up session id was served")
	})
}

// named are the headers of a session with an id.
func named(v *exam.Visit, id string) http.Header {
	return http.Header{"Mcp-Protocol-Version": {v.Version.Name}, exam.SessionID: {id}}
}

// randomIDs opens five sessions and compares their ids.
func randomIDs(ctx context.Context, v *exam.Visit) exam.Outcome {
	var last int64
	steps, seen := 0, map[string]bool{}
	for range 5 {
		id, x := begin(ctx, v, "")
		if id == "" {
			return exam.Unverified("no further session was opened")
		}
		defer v.Post(ctx, suite.Request{Method: http.MethodDelete}, named(v, id))
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

// begin opens a session with a raw request and returns its id.
func begin(ctx context.Context, v *exam.Visit, id string) (string, *mcp.Exchange) {
	h := http.Header{}
	if id != "" {
		h.Set(exam.SessionID, id)
	}
	x := v.Post(ctx, suite.Request{Body: jsonv.ObjectOf("jsonrpc", "2.0", "id", 1, "method", "initialize", "params", v.Greeting(v.Version.Name, jsonv.Object())).Append(nil)}, h)
	if x.HTTP == nil || !protocol.VersionOf(v.Version.Name).Known() {
		return "", x
	}
	return x.HTTP.Header.Get(exam.SessionID), x
}
