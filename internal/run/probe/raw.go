package probe

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/run/boundary"
	"mcptest/internal/spec/suite"
)

const (
	pause     = 50 * time.Millisecond // between requests to an address that is not this machine
	sessionID = "Mcp-Session-Id"
)

// frame is a complete message of the revision: in 2026-07-28 with the members of _meta
// that it requires. A notification has an absent id.
func (l *link) frame(id any, method string, params jsonv.Value) jsonv.Value {
	if l.modern() {
		params = params.With("_meta", l.meta())
	}
	return jsonv.ObjectOf("jsonrpc", "2.0", "id", id, "method", method, "params", params)
}

// meta is _meta of requests of a stateless revision.
func (l *link) meta() jsonv.Value {
	return jsonv.ObjectOf(protocol.MetaVersion, l.version.Name, protocol.MetaClient, l.self(), protocol.MetaCapabilities, jsonv.Object())
}

// self is how mcptest introduces itself.
func (l *link) self() jsonv.Value {
	return jsonv.ObjectOf("name", l.Client.Name, "version", l.Client.Version)
}

// greeting are the parameters of initialize.
func (l *link) greeting(version string, caps jsonv.Value) jsonv.Value {
	return jsonv.ObjectOf("protocolVersion", version, "capabilities", caps, "clientInfo", l.self())
}

// raw sends one message unchanged in the open session. Its violations reach no ledger: a
// deviation may be answered in ways that a request may not.
func (l *link) raw(ctx context.Context, message jsonv.Value) *mcp.Exchange {
	sess, err := l.session(ctx)
	if err != nil {
		return &mcp.Exchange{Cause: err}
	}
	ctx, cancel := mcp.WithLimit(ctx, "response", l.Reply)
	defer cancel()
	return sess.SendRaw(ctx, message.Append(nil))
}

// post sends a raw HTTP request to the server's address, outside of the session: with the
// server's credentials and the given headers, and nothing else. A nil header removes one.
func (l *link) post(ctx context.Context, action suite.Request, headers http.Header) *mcp.Exchange {
	ctx, cancel := mcp.WithLimit(ctx, "response", l.Reply)
	defer cancel()
	if !l.local {
		time.Sleep(pause)
	}
	if action.Method == "" {
		action.Method, action.JSON = http.MethodPost, true
	}
	for name, values := range headers {
		if values == nil {
			action.Removed = append(action.Removed, name)
		}
	}
	action.Events = 1
	o, x, _ := boundary.Env{Connect: l.Connect, Client: l.Client, Headers: headers}.Request(ctx, l.pinned, action)
	if events := o.Own.Lookup("http.events"); events.Len() > 0 {
		x.Response = events.At(events.Len() - 1).Lookup("data").Append(nil)
	}
	if message, err := jsonv.Parse(x.Response); err == nil && message.Lookup("jsonrpc").Text() == "2.0" {
		x.Result, x.Error = text(message.Lookup("result")), text(message.Lookup("error"))
	}
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		x.Method += "\n" + name + ": " + strings.Join(headers[name], ", ")
	}
	return x
}

// tell posts a message in the open session, with headers that replace its own.
func (l *link) tell(ctx context.Context, message jsonv.Value, headers http.Header) *mcp.Exchange {
	h := l.inSession(ctx, message)
	maps.Copy(h, headers)
	return l.post(ctx, suite.Request{Body: message.Append(nil)}, h)
}

// inSession are the headers of a message in the open session.
func (l *link) inSession(ctx context.Context, message jsonv.Value) http.Header {
	h := http.Header{"Mcp-Protocol-Version": {l.version.Name}}
	if l.modern() {
		method := message.Lookup("method").Text()
		h.Set("Mcp-Method", method)
		if name := protocol.NameOf(method, message.Lookup("params").Append(nil)); name != "" {
			h.Set("Mcp-Name", protocol.HeaderValue(name))
		}
		return h
	}
	if sess, err := l.session(ctx); err == nil {
		if info := sess.Handshake().HTTP; info != nil && info.Header.Get(sessionID) != "" {
			h.Set(sessionID, info.Header.Get(sessionID))
		}
	}
	return h
}
