package probe

import (
	"context"
	"net/http"
	"strconv"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/spec/suite"
)

// sessions examines the sessions of a server over HTTP.
func sessions(ctx context.Context, v *visit) {
	if v.modern() || v.stdio() || v.hello.HTTP == nil {
		return
	}
	if v.hello.HTTP.Header.Get(sessionID) == "" {
		v.enterAll("session", inapplicable("the server has no sessions"))
		return
	}
	list := suite.Request{Body: v.frame(7201, v.firstList(), jsonv.Value{}).Append(nil)}
	v.check(ctx, "session-missing", "", func(ctx context.Context) outcome {
		x := v.post(ctx, list, http.Header{"Mcp-Protocol-Version": {v.version.Name}, sessionID: nil})
		if served(x) {
			return unverified("the server requires no session id")
		}
		return expectStatus(x, http.StatusBadRequest, "a request without a session id")
	})
	v.check(ctx, "session-ended", "", func(ctx context.Context) outcome {
		id, _ := begin(ctx, v, "")
		if id == "" {
			return unverified("no further session was opened")
		}
		if gone := v.post(ctx, suite.Request{Method: http.MethodDelete}, named(v, id)); !served(gone) {
			return unverified("DELETE got %s", answer(gone))
		}
		return expectStatus(v.post(ctx, list, named(v, id)), http.StatusNotFound, "a request in a session that was ended")
	})
	v.check(ctx, "session-random", "", func(ctx context.Context) outcome { return randomIDs(ctx, v) })
	v.check(ctx, "session-fixation", "", func(ctx context.Context) outcome {
		const made = "mcptest-made-up-session-id"
		id, x := begin(ctx, v, made)
		if id == made {
			return broken(x, "initialize with a made-up session id got a session with this id")
		}
		x = v.post(ctx, list, named(v, made))
		return brokenIf(served(x), x, "a request with a made-up session id was served")
	})
}

// named are the headers of a session with an id.
func named(v *visit, id string) http.Header {
	return http.Header{"Mcp-Protocol-Version": {v.version.Name}, sessionID: {id}}
}

// randomIDs opens five sessions and compares their ids.
func randomIDs(ctx context.Context, v *visit) outcome {
	var last int64
	steps, seen := 0, map[string]bool{}
	for range 5 {
		id, x := begin(ctx, v, "")
		if id == "" {
			return unverified("no further session was opened")
		}
		defer v.post(ctx, suite.Request{Method: http.MethodDelete}, named(v, id))
		n, err := strconv.ParseInt(id, 10, 64)
		if err == nil && last != 0 && n-last > 0 && n-last < 1000 {
			steps++
		}
		last = n
		if seen[id] {
			return broken(x, "two sessions have the id %s", id)
		}
		if steps == 4 {
			return broken(x, "the ids of sessions are numbers that rise by small steps: %s", id)
		}
		seen[id] = true
	}
	return held()
}

// begin opens a session with a raw request and returns its id.
func begin(ctx context.Context, v *visit, id string) (string, *mcp.Exchange) {
	h := http.Header{}
	if id != "" {
		h.Set(sessionID, id)
	}
	x := v.post(ctx, suite.Request{Body: jsonv.ObjectOf("jsonrpc", "2.0", "id", 1, "method", "initialize", "params", v.greeting(v.version.Name, jsonv.Object())).Append(nil)}, h)
	if x.HTTP == nil || !protocol.VersionOf(v.version.Name).Known() {
		return "", x
	}
	return x.HTTP.Header.Get(sessionID), x
}
