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

const sessionID = "Mcp-Session-Id"

// sessionRules examines the rules of the family session.
type sessionRules struct{ *visit }

// sessions examines the sessions of a server over HTTP.
func (v sessionRules) sessions(ctx context.Context) {
	if v.modern() || v.stdio() || v.hello.HTTP == nil {
		return
	}
	if v.hello.HTTP.Header.Get(sessionID) == "" {
		for _, r := range v.rules.Rules {
			if r.Family == "session" {
				v.enter(r.ID, inapplicable("the server has no sessions"))
			}
		}
		return
	}
	list := v.frame(7201, v.firstList(), jsonv.Value{})
	request := func(ctx context.Context, id string) *mcp.Exchange {
		h := http.Header{"Mcp-Protocol-Version": {v.version.Name}, sessionID: {id}}
		if id == "" {
			h[sessionID] = nil
		}
		return v.post(ctx, suite.Request{Body: list.Append(nil)}, h)
	}
	v.check(ctx, "session-missing", "", func(ctx context.Context) outcome {
		switch x := request(ctx, ""); {
		case status(x) == http.StatusBadRequest || status(x) == 0:
			return held()
		case status(x) < 300:
			return unverified("the server requires no session id")
		default:
			return broken(shown(x), "a request without a session id got the status %d, expected 400", status(x))
		}
	})
	v.check(ctx, "session-ended", "", func(ctx context.Context) outcome {
		id, _ := v.begin(ctx, "")
		if id == "" {
			return unverified("no further session was opened")
		}
		gone := v.post(ctx, suite.Request{Method: http.MethodDelete}, http.Header{"Mcp-Protocol-Version": {v.version.Name}, sessionID: {id}})
		if s := status(gone); s < 200 || s > 299 {
			return unverified("DELETE got %s", answer(gone))
		}
		if x := request(ctx, id); status(x) != http.StatusNotFound && status(x) != 0 {
			return broken(shown(x), "a request in a session that was ended got the status %d, expected 404", status(x))
		}
		return held()
	})
	v.check(ctx, "session-random", "", v.randomIDs)
	v.check(ctx, "session-fixation", "", func(ctx context.Context) outcome {
		const made = "mcptest-made-up-session-id"
		id, x := v.begin(ctx, made)
		if id == made {
			return broken(shown(x), "initialize with a made-up session id got a session with this id")
		}
		if x := request(ctx, made); status(x) >= 200 && status(x) < 300 {
			return broken(shown(x), "a request with a made-up session id was served")
		}
		return held()
	})
}

// randomIDs opens five sessions and compares their ids.
func (v sessionRules) randomIDs(ctx context.Context) outcome {
	var last int64
	steps, seen := 0, map[string]bool{}
	for range 5 {
		id, x := v.begin(ctx, "")
		if id == "" {
			return unverified("no further session was opened")
		}
		defer v.post(ctx, suite.Request{Method: http.MethodDelete}, http.Header{"Mcp-Protocol-Version": {v.version.Name}, sessionID: {id}})
		n, err := strconv.ParseInt(id, 10, 64)
		if err == nil && last != 0 && n-last > 0 && n-last < 1000 {
			steps++
		}
		last = n
		if seen[id] {
			return broken(shown(x), "two sessions have the id %s", id)
		}
		if steps == 4 {
			return broken(shown(x), "the ids of sessions are numbers that rise by small steps: %s", id)
		}
		seen[id] = true
	}
	return held()
}

// begin opens a session with a raw request and returns its id.
func (v sessionRules) begin(ctx context.Context, id string) (string, *mcp.Exchange) {
	params := jsonv.ObjectOf("protocolVersion", v.version.Name, "capabilities", jsonv.Object(), "clientInfo", jsonv.ObjectOf("name", v.Client.Name, "version", v.Client.Version))
	h := http.Header{}
	if id != "" {
		h.Set(sessionID, id)
	}
	x := v.post(ctx, suite.Request{Body: jsonv.ObjectOf("jsonrpc", "2.0", "id", 1, "method", "initialize", "params", params).Append(nil)}, h)
	if x.HTTP == nil {
		return "", x
	}
	if got := x.HTTP.Header.Get(sessionID); got != "" && protocol.VersionOf(v.version.Name).Known() {
		return got, x
	}
	return "", x
}
