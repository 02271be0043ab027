package conn

import (
	"bytes"
	"fmt"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
)

// message handles one valid JSON object, whose members are in r.scan; see read.
func (r *receiver) message(raw []byte, f wire.Frame) (id string, k *call) {
	e := &r.scan.Envelope
	r.state.silent = false
	if e.Has&^protocol.HasVersion == 0 || e.Has&(protocol.HasMethod|protocol.HasResult|protocol.HasError|protocol.HasID) == 0 {
		r.notes.stray(raw, f)
		return "", nil
	}
	if e.Has&protocol.HasVersion == 0 {
		r.notes.flag(protocol.BadJSONRPC, `the message has no "jsonrpc" member`, raw, f)
	} else if string(e.Version) != `"2.0"` {
		r.notes.flag(protocol.BadJSONRPC, `"jsonrpc" is `+protocol.Excerpt(e.Version)+`, not "2.0"`, raw, f)
	}
	if e.Duplicate != 0 {
		r.notes.flag(protocol.DuplicateKey, "the message has "+e.Duplicate.String()+" twice", raw, f)
	}
	switch {
	case e.Has&protocol.HasMethod == 0:
		return r.response(raw, e, f)
	case e.IsResponse() && r.calls.matchesCall(e):
		r.notes.flag(protocol.BadMessage, `a response with a "method" member`, raw, f)
		return r.response(raw, e, f)
	}
	r.notes.deep(&r.limits, raw, f)
	if e.Has&protocol.HasID != 0 {
		return r.request(raw, e, f)
	}
	return r.notification(raw, e, f)
}

// response completes the call that a response belongs to.
func (r *receiver) response(raw []byte, e *protocol.Envelope, f wire.Frame) (id string, k *call) {
	m := r.calls.match(e)
	if m.kind != "" {
		r.notes.flag(m.kind, m.msg, raw, f)
	}
	if m.k != nil {
		return r.answer(m.k, raw, e, f)
	}
	if m.kind == protocol.MissingID || m.kind == protocol.NullID {
		r.useIfOnlyCall(raw, f)
	}
	return m.id, m.late
}

// match is the call that a response belongs to.
type match struct {
	k         *call  // in flight; nil: none
	id        string // otherwise that of a request that was sent, or ""
	late      *call  // the request with this id, if it is complete but not signaled yet
	kind, msg string // what is wrong with the id of the response, or ""
}

// match finds the call of a response.
func (c *callTable) match(e *protocol.Envelope) (m match) {
	if m.k = c.rawWaiter(e.ID); m.k != nil {
		return m
	}
	n, known := protocol.OwnID(e.ID)
	if known {
		if m.k = c.find(n); m.k != nil {
			return m
		}
		if c.late.take(n) { // canceled: the response was sent before the server knew, which is valid
			m.id, m.late = idText(n), c.unsignaled(n)
			return m
		}
	}
	if m.k = c.anyRaw(); m.k != nil && !(known && c.wasSent(n)) {
		return m
	}
	m.k = nil
	if known {
		m.kind, m.msg = c.unexpected(n)
	} else {
		if n, known = protocol.GuessID(e.ID); known {
			m.k = c.find(n)
		}
		m.kind, m.msg = c.foreignID(e, n, known)
		known = known && m.kind == protocol.IDType
	}
	if m.k == nil && known && c.wasSent(n) {
		c.late.take(n)
		m.id, m.late = idText(n), c.unsignaled(n)
	}
	return m
}

// unexpected describes a response to an id of a call that is not in flight.
func (c *callTable) unexpected(n int64) (kind, msg string) {
	switch {
	case c.wasSent(n):
		return protocol.DuplicateID, "a second response to id " + idText(n)
	case c.sent.Load() == 0:
		return protocol.EarlyResponse, "a response to id " + idText(n) + " before any request was sent"
	}
	return protocol.UnknownID, "a response to id " + idText(n) + ", which was never sent"
}

// foreignID describes an id that the client never writes; n is the one that was meant, if
// that is known.
func (c *callTable) foreignID(e *protocol.Envelope, n int64, known bool) (kind, msg string) {
	switch t := protocol.KindOf(e.ID); {
	case c.sent.Load() == 0:
		return protocol.EarlyResponse, "a response before any request was sent"
	case e.Has&protocol.HasID == 0:
		return protocol.MissingID, "a response without an id"
	case t == jsonv.KindNull:
		return protocol.NullID, "a response with the id null"
	case known && c.wasSent(n):
		return protocol.IDType, fmt.Sprintf("the id is %s, the request had %d", protocol.Excerpt(e.ID), n)
	case t == jsonv.KindNumber && bytes.ContainsAny(e.ID, ".eE"), t != jsonv.KindNumber && t != jsonv.KindString:
		return protocol.IDType, "the id is " + protocol.Excerpt(e.ID) + ", not a string or an integer"
	}
	return protocol.UnknownID, "a response to id " + protocol.Excerpt(e.ID) + ", which was never sent"
}

// orphanGrace is how long a response without an id waits for a better one.
const orphanGrace = 500 * time.Millisecond

// useIfOnlyCall records a response that matches no call. If exactly one call is in flight
// and gets no other response within orphanGrace, this one is used, which is better
// than a timeout.
func (r *receiver) useIfOnlyCall(raw []byte, f wire.Frame) {
	only := r.calls.onlyCall()
	if only == nil || r.early != nil {
		return
	}
	id := only.id
	r.early = time.AfterFunc(orphanGrace, func() {
		r.state.mu.Lock()
		defer r.state.mu.Unlock()
		r.early = nil
		k := r.calls.find(id)
		if k == nil || r.scan.Scan(raw) != nil {
			return
		}
		r.notes.assign(r.answer(k, raw, &r.scan.Envelope, f))
		r.calls.wake()
	})
}

// answer completes a call.
func (r *receiver) answer(k *call, raw []byte, e *protocol.Envelope, f wire.Frame) (id string, _ *call) {
	x := k.x
	x.Response = raw
	r.calls.complete(k, f.At)
	if r.limits.TooManyValues(raw) {
		x.Cause = &TooManyValuesError{Method: x.Method, Limit: r.limits.Values}
		return x.ID, k
	}
	if e.Has&protocol.HasResult != 0 {
		x.Result = e.Result
	}
	if e.Has&protocol.HasError != 0 && protocol.KindOf(e.Err) != jsonv.KindNull {
		x.Error = e.Err
		if e.Has&protocol.HasResult != 0 && protocol.KindOf(e.Result) == jsonv.KindNull {
			x.Result = nil
		}
	}
	r.checkResponse(x, e, f)
	return x.ID, k
}

// checkResponse checks the result and the error of a response.
func (r *receiver) checkResponse(x *Exchange, e *protocol.Envelope, f wire.Frame) {
	switch both := protocol.HasResult | protocol.HasError; e.Has & both {
	case both:
		r.notes.flag(protocol.ResultAndError, resultAndError(e), x.Response, f)
	case 0:
		r.notes.flag(protocol.NoResult, "a response with neither a result nor an error", x.Response, f)
		x.Cause = &wire.ProtocolError{Method: x.Method, Msg: "the response has neither a result nor an error"}
		return
	}
	if x.Error != nil {
		if msg := errorFault(x.Error); msg != "" {
			r.notes.flag(protocol.BadError, msg, x.Error, f)
		}
	} else if e.Has&protocol.HasResult == 0 {
		r.notes.flag(protocol.BadError, `"error" is null`, x.Response, f)
		x.Cause = &wire.ProtocolError{Method: x.Method, Msg: "the response's error is null and it has no result"}
	}
	if x.Result == nil {
		return
	}
	if protocol.KindOf(x.Result) != jsonv.KindObject {
		r.notes.flag(protocol.BadResult, "the result is "+protocol.KindOf(x.Result).WithArticle()+", not an object", x.Result, f)
		return
	}
	if msg := r.resultTypeFault(x); msg != "" {
		r.notes.flag(protocol.ResultType, msg, x.Result, f)
	}
}

func resultAndError(e *protocol.Envelope) string {
	switch {
	case protocol.KindOf(e.Err) == jsonv.KindNull:
		return `"error": null next to a result`
	case protocol.KindOf(e.Result) == jsonv.KindNull:
		return `"result": null next to an error`
	}
	return "a response with both a result and an error"
}

// errorFault describes the mistake in an error member (JSON-RPC 2.0 section 5.1), or
// returns "".
func errorFault(raw []byte) string {
	if protocol.KindOf(raw) != jsonv.KindObject {
		return "the error is " + protocol.KindOf(raw).WithArticle() + ", not an object"
	}
	var code, message []byte
	_ = jsonv.EachMember(raw, func(k string, val []byte) error {
		switch k {
		case "code":
			code = val
		case "message":
			message = val
		}
		return nil
	})
	switch {
	case code == nil:
		return "the error has no code"
	case !protocol.IsInteger(code):
		return "the error's code is " + protocol.Excerpt(code) + ", not an integer"
	case message == nil:
		return "the error has no message"
	case protocol.KindOf(message) != jsonv.KindString:
		return "the error's message is " + protocol.KindOf(message).WithArticle() + ", not a string"
	}
	return ""
}

// extTasks is the extension in which a call can return a task.
const extTasks = "io.modelcontextprotocol/tasks"

var resultTypeKey = []byte(`"resultType"`)

// resultTypeFault describes the mistake in the resultType of a response, or returns
// "". A value that is unknown, or belongs to something that this client did not
// declare, must be treated as invalid (MCP 2026-07-28). No earlier revision gives the
// member another meaning, so all of them are checked.
func (r *receiver) resultTypeFault(x *Exchange) string {
	if !bytes.Contains(x.Result, resultTypeKey) {
		return ""
	}
	t := protocol.MemberOf(x.Result, "resultType")
	switch string(t) {
	case "", `"complete"`:
		return ""
	case `"input_required"`:
		if d := r.state.agreed(); d.Era() == protocol.EraSession {
			return fmt.Sprintf("resultType is %s, which protocol version %s does not have", protocol.Excerpt(t), d.Name)
		}
		return ""
	case `"task"`:
		if r.knowsTasks(x) {
			return ""
		}
		return `resultType is "task", and the request did not declare that the client knows tasks`
	}
	return "resultType is " + protocol.Excerpt(t)
}

// knowsTasks reports whether the server may return a task.
func (r *receiver) knowsTasks(x *Exchange) bool {
	return x.AsksTask() || r.declares("extensions", extTasks) || r.declares("tasks")
}

// AsksTask reports whether the request asks for a task (params.task of 2025-11-25),
// or declares support for tasks (the extension of 2026-07-28).
func (x *Exchange) AsksTask() bool {
	if !bytes.Contains(x.Request, []byte("task")) && bytes.IndexByte(x.Request, '\\') < 0 {
		return false // not even with an escape: parsing takes 2 µs a test
	}
	params := protocol.MemberOf(x.Request, "params")
	if protocol.KindOf(protocol.MemberOf(params, "task")) == jsonv.KindObject {
		return true
	}
	declared := protocol.MemberOf(protocol.MemberOf(protocol.MemberOf(params, "_meta"), protocol.MetaCapabilities), "extensions")
	return protocol.MemberOf(declared, extTasks) != nil
}
