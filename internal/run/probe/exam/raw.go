package exam

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/run/boundary"
	"mcptest/internal/run/connect"
	"mcptest/internal/spec/suite"
)

// Frame is a complete message of the revision: in 2026-07-28 with the members of _meta
// that it requires. A notification has an absent id.
func (l *link) Frame(id any, method string, params jsonv.Value) jsonv.Value {
	if l.Modern() {
		params = params.With("_meta", l.Meta())
	}
	return jsonv.ObjectOf("jsonrpc", "2.0", "id", id, "method", method, "params", params)
}

// Meta is _meta of requests of a stateless revision.
func (l *link) Meta() jsonv.Value {
	return jsonv.ObjectOf(protocol.MetaVersion, l.Version.Name, protocol.MetaClient, l.describeSelf(), protocol.MetaCapabilities, l.findDeclared())
}

// describeSelf returns how mcptest introduces itself.
func (l *link) describeSelf() jsonv.Value {
	return connect.ClientOf(l.Pinned, l.Client).JSON()
}

// findDeclared returns the capabilities that client: of the server declares, {} without it.
func (l *link) findDeclared() jsonv.Value {
	if l.Pinned.Client.Declares.IsAbsent() {
		return jsonv.Object()
	}
	return l.Pinned.Client.Declares
}

// Greeting are the parameters of initialize.
func (l *link) Greeting(version string, caps jsonv.Value) jsonv.Value {
	return jsonv.ObjectOf("protocolVersion", version, "capabilities", caps, "clientInfo", l.describeSelf())
}

// Raw sends one message unchanged in the open session: one that deviates on purpose may be
// answered in ways that a request may not.
func (v *Visit) Raw(ctx context.Context, message jsonv.Value) *mcp.Exchange {
	message = v.renumber(message)
	sess, err := v.Session(ctx)
	if err != nil {
		return &mcp.Exchange{Cause: err}
	}
	ctx, cancel := mcp.WithLimit(ctx, "response", v.Reply)
	defer cancel()
	x := sess.SendRaw(ctx, message.Append(nil))
	v.examineRaw(x)
	return x
}

// renumber gives a request an id that no other one had: a server may refuse one that was used in the
// session before.
func (v *Visit) renumber(message jsonv.Value) jsonv.Value {
	if message.Lookup("id").Kind() != jsonv.KindNumber {
		return message
	}
	v.raw++
	return message.With("id", jsonv.Int(firstRaw+v.raw))
}

// firstRaw is before the ids of raw requests.
const firstRaw = 7_000_000

// Post sends a raw HTTP request to the server's address, outside of the session: with the
// server's credentials and the given headers, and nothing else. A nil header removes one.
func (v *Visit) Post(ctx context.Context, action suite.Request, headers http.Header) *mcp.Exchange {
	x := v.post(ctx, action, headers)
	v.examineRaw(x)
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		x.Method += "\n" + name + ": " + strings.Join(headers[name], ", ")
	}
	return x
}

// post makes a raw HTTP request, which is not examined. It is safe for concurrent use. An
// address that only leads to another one, with the same method, is followed.
func (v *Visit) post(ctx context.Context, action suite.Request, headers http.Header) *mcp.Exchange {
	x := v.postOnce(ctx, action, headers)
	if s := Status(x); s == http.StatusTemporaryRedirect || s == http.StatusPermanentRedirect {
		action.Follow = true
		x = v.postOnce(ctx, action, headers)
	}
	return x
}

func (v *Visit) postOnce(ctx context.Context, action suite.Request, headers http.Header) *mcp.Exchange {
	ctx, cancel := mcp.WithLimit(ctx, "response", v.Reply)
	defer cancel()
	if !v.Local {
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
	env := boundary.Env{Connect: v.Connect, Client: v.Client, Headers: headers, Answers: isResponse}
	action.Events = mostEvents
	o, x, _ := env.Request(ctx, v.Pinned, action)
	if events := o.Own.Lookup("http.events"); events.Len() > 0 {
		x.Response = events.At(events.Len() - 1).Lookup("data").Append(nil)
	}
	if message, err := jsonv.Parse(x.Response); err == nil && message.Lookup("jsonrpc").Text() == "2.0" {
		x.Result, x.Error = Text(message.Lookup("result")), Text(message.Lookup("error"))
	}
	return x
}

// mostEvents is how many events of a stream are read for the response to a raw request.
const mostEvents = 1000

// isResponse reports whether an event is a response: what comes before it, such as progress
// or a log message, is none.
func isResponse(data jsonv.Value) bool {
	return data.Kind() == jsonv.KindObject && data.Lookup("method").IsAbsent()
}

// AtOnce posts messages at the same time, each with its headers, and returns what they got in
// the same order.
func (v *Visit) AtOnce(ctx context.Context, messages []jsonv.Value, headers []http.Header) []*mcp.Exchange {
	got := make([]*mcp.Exchange, len(messages))
	var all sync.WaitGroup
	for i, message := range messages {
		all.Go(func() {
			got[i] = v.post(ctx, suite.Request{Body: message.Append(nil)}, headers[i])
		})
	}
	all.Wait()
	for _, x := range got {
		v.examineRaw(x)
	}
	return got
}

// Tell posts a message in the open session, with headers that replace its own. If the server
// has ended the session meanwhile, it does so in another one.
func (v *Visit) Tell(ctx context.Context, message jsonv.Value, headers http.Header) *mcp.Exchange {
	message = v.renumber(message)
	h := v.InSession(ctx, message)
	id := h.Get(SessionID)
	maps.Copy(h, headers)
	x := v.Post(ctx, suite.Request{Body: message.Append(nil)}, h)
	if hasRunOut(ctx, x) {
		v.askAfterSilence(ctx, message.Lookup("method").Text())
	}
	if id == "" || Status(x) != http.StatusNotFound || !v.hasExpired(ctx, id) {
		return x
	}
	v.Close()
	h = v.InSession(ctx, message)
	maps.Copy(h, headers)
	return v.Post(ctx, suite.Request{Body: message.Append(nil)}, h)
}

// askAfterSilence asks for a list, once in a visit, after a raw request got no response: one that was
// answered before shows whether the server answers anything.
func (v *Visit) askAfterSilence(ctx context.Context, method string) {
	if v.memory.asked {
		return
	}
	v.memory.asked = true
	v.memory.behind = v.memory.behind || method == methodCall
	v.Once(ctx, mcp.Call{Method: v.FirstList()})
}

// hasExpired reports whether the server does not know a session any more.
func (v *Visit) hasExpired(ctx context.Context, id string) bool {
	idle := v.Frame("mcptest-session", "ping", jsonv.Value{})
	x := v.post(ctx, suite.Request{Body: idle.Append(nil)}, v.HeadersIn(idle, id))
	return Status(x) == http.StatusNotFound
}

// InSession are the headers of a message in the open session.
func (l *link) InSession(ctx context.Context, message jsonv.Value) http.Header {
	session := ""
	if !l.Modern() {
		if sess, err := l.Session(ctx); err == nil {
			if info := sess.Handshake().HTTP; info != nil {
				session = info.Header.Get(SessionID)
			}
		}
	}
	return l.HeadersIn(message, session)
}

// HeadersIn are the headers of a message in a session with an id, or without one.
func (l *link) HeadersIn(message jsonv.Value, session string) http.Header {
	h := http.Header{"Mcp-Protocol-Version": {l.Version.Name}}
	if session != "" {
		h.Set(SessionID, session)
	}
	if l.Modern() {
		method := message.Lookup("method").Text()
		h.Set("Mcp-Method", method)
		if name := protocol.NameOf(method, message.Lookup("params").Append(nil)); name != "" {
			h.Set("Mcp-Name", protocol.HeaderValue(name))
		}
	}
	return h
}
