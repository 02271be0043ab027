package probe

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/run/boundary"
	"mcptest/internal/run/probe/verdict"
	"mcptest/internal/spec/suite"
)

// do makes one valid request in the open session.
func (v *visit) do(ctx context.Context, method string, params jsonv.Value) *mcp.Exchange {
	call := mcp.Call{Method: method}
	if !params.IsAbsent() {
		call.Params = params.Append(nil)
	}
	return v.send(ctx, call)
}

// send makes a call in the open session. What the session reports about the exchange
// reaches the ledger.
func (v *visit) send(ctx context.Context, call mcp.Call) *mcp.Exchange {
	x := v.once(ctx, call)
	v.observe(x, func() *mcp.Exchange { return v.once(ctx, call) })
	return x
}

// once makes a call, and returns an exchange with a cause if no session can be opened.
func (v *visit) once(ctx context.Context, call mcp.Call) *mcp.Exchange {
	sess, err := v.session(ctx)
	if err != nil {
		return &mcp.Exchange{Method: call.Method, Cause: err}
	}
	ctx, cancel := mcp.WithLimit(ctx, "response", v.Reply)
	defer cancel()
	return sess.Do(ctx, call)
}

// call calls a tool, or says why it must not.
func (v *visit) call(ctx context.Context, tool, args jsonv.Value) (x *mcp.Exchange, why string) {
	if why := v.policy.Call(tool, args); why != "" {
		return nil, why
	}
	params := jsonv.ObjectOf("name", tool.Lookup("name"), "arguments", args)
	return v.send(ctx, mcp.Call{Method: "tools/call", Params: params.Append(nil), ProgressToken: true}), ""
}

// raw sends one message unchanged in the open session. Its violations reach no ledger: a
// deviation may be answered in ways that a request may not.
func (v *visit) raw(ctx context.Context, message jsonv.Value) *mcp.Exchange {
	sess, err := v.session(ctx)
	if err != nil {
		return &mcp.Exchange{Cause: err}
	}
	ctx, cancel := mcp.WithLimit(ctx, "response", v.Reply)
	defer cancel()
	return sess.SendRaw(ctx, message.Append(nil))
}

// frame is a complete request of the revision: in 2026-07-28 with the members of _meta
// that it requires.
func (v *visit) frame(id any, method string, params jsonv.Value) jsonv.Value {
	if v.modern() {
		if params.IsAbsent() {
			params = jsonv.Object()
		}
		params = params.With("_meta", v.meta())
	}
	out := jsonv.ObjectOf("jsonrpc", "2.0")
	if id != nil {
		out = out.With("id", jsonv.From(id))
	}
	out = out.With("method", jsonv.String(method))
	if !params.IsAbsent() {
		out = out.With("params", params)
	}
	return out
}

// meta is _meta of requests of a stateless revision.
func (v *visit) meta() jsonv.Value {
	return jsonv.ObjectOf(protocol.MetaVersion, v.version.Name,
		protocol.MetaClient, jsonv.ObjectOf("name", v.Client.Name, "version", v.Client.Version), protocol.MetaCapabilities, jsonv.Object())
}

// post sends a raw HTTP request to the server's address, outside of the session: with the
// server's credentials and the given headers, and nothing else. A nil header removes one.
func (v *visit) post(ctx context.Context, action suite.Request, headers http.Header) *mcp.Exchange {
	ctx, cancel := mcp.WithLimit(ctx, "response", v.Reply)
	defer cancel()
	if !v.local {
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
	env := boundary.Env{Connect: v.Connect, Client: v.Client, Headers: headers}
	o, x, err := env.Request(ctx, v.server, action)
	if err != nil {
		x.Cause = err
	}
	if events := o.Own.Lookup("http.events"); events.Len() > 0 {
		x.Response = events.At(events.Len() - 1).Lookup("data").Append(nil)
	}
	if message, err := jsonv.Parse(x.Response); err == nil && message.Lookup("jsonrpc").Text() == "2.0" {
		for member, part := range map[string]*[]byte{"result": &x.Result, "error": &x.Error} {
			if val, ok := message.Get(member); ok {
				*part = val.Append(nil)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		x.Method += "\n" + name + ": " + strings.Join(headers[name], ", ")
	}
	return x
}

// inSession are the headers of a message in the open session.
func (v *visit) inSession(ctx context.Context, message jsonv.Value) http.Header {
	h := http.Header{"Mcp-Protocol-Version": {v.version.Name}}
	if v.modern() {
		method := message.Lookup("method").Text()
		h.Set("Mcp-Method", method)
		if name := protocol.NameOf(method, message.Lookup("params").Append(nil)); name != "" {
			h.Set("Mcp-Name", protocol.HeaderValue(name))
		}
		return h
	}
	if sess, err := v.session(ctx); err == nil {
		if info := sess.Handshake().HTTP; info != nil && info.Header.Get("Mcp-Session-Id") != "" {
			h.Set("Mcp-Session-Id", info.Header.Get("Mcp-Session-Id"))
		}
	}
	return h
}

// result returns the result in an exchange, absent if there is none.
func result(x *mcp.Exchange) jsonv.Value {
	if x == nil {
		return jsonv.Value{}
	}
	res, _ := jsonv.Parse(x.Result)
	return res
}

// code returns the code of the JSON-RPC error in an exchange; ok is false if there is none.
func code(x *mcp.Exchange) (code int64, ok bool) {
	if e := rpcError(x); e != nil {
		return int64(e.Code), true
	}
	return 0, false
}

// rpcError returns the JSON-RPC error in an exchange, also in the body of an HTTP error.
func rpcError(x *mcp.Exchange) *protocol.RPCError {
	if x == nil {
		return nil
	}
	if x.Error != nil {
		return x.RPCError()
	}
	body := x.Response
	if body == nil && x.HTTP != nil {
		body = x.HTTP.Body
	}
	message, err := jsonv.Parse(body)
	if e := message.Lookup("error"); err == nil && e.Kind() == jsonv.KindObject {
		return protocol.ParseRPCError(e.Append(nil))
	}
	return nil
}

// refused reports whether a request got an error of any kind.
func refused(x *mcp.Exchange) bool {
	_, ok := code(x)
	return ok || status(x) >= 400
}

// status is that of HTTP, 0 on stdio or without a response.
func status(x *mcp.Exchange) int {
	if x.HTTP == nil {
		return 0
	}
	return x.HTTP.Status
}

// answer describes the response to a request in a few words.
func answer(x *mcp.Exchange) string {
	e := rpcError(x)
	switch {
	case e != nil:
		return fmt.Sprintf("the error %d (%s)", e.Code, verdict.Excerpt(e.Message, 120))
	case x.Result != nil:
		return "a result"
	case x.HTTP != nil && x.HTTP.Status > 0:
		return fmt.Sprintf("HTTP %d", x.HTTP.Status)
	case x.Cause != nil:
		return "no response: " + verdict.Excerpt(x.Cause.Error(), 160)
	}
	return "no response"
}

// shown returns an exchange as evidence.
func shown(x *mcp.Exchange) verdict.Evidence {
	e := verdict.Evidence{Sent: verdict.Excerpt(string(x.Request), 1000), Received: verdict.Excerpt(string(x.Response), 1000), Status: status(x)}
	if x.HTTP != nil {
		if strings.Contains(x.Method, " ") { // of a raw request
			e.Sent = strings.TrimSpace(x.Method + "\n\n" + e.Sent)
		}
		body := e.Received
		if x.Response == nil {
			body = verdict.Excerpt(string(x.HTTP.Body), 1000)
		}
		e.Received = strings.TrimSpace(fmt.Sprintf("HTTP %d %s\n%s", x.HTTP.Status, x.HTTP.ContentType, body))
	}
	e.Received = cmp.Or(e.Received, answer(x))
	return e
}

// invalidSchema reports whether a schema was refused for what it says, and not for a
// dialect or a reference that is unknown here.
func invalidSchema(err error) bool {
	unknown := []string{"dialect", "$schema", "$ref", "reference", "load", "more than"}
	return !slices.ContainsFunc(unknown, func(word string) bool { return strings.Contains(err.Error(), word) })
}
