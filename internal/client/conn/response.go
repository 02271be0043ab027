package conn

import (
	"bytes"
	"fmt"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
)

// message handles one valid JSON object, whose members are in r.scan.
func (r *receiver) message(raw []byte, f wire.Frame) {
	e := &r.scan.Envelope
	r.state.silent = false
	if e.Has&^protocol.HasVersion == 0 || e.Has&(protocol.HasMethod|protocol.HasResult|protocol.HasError|protocol.HasID) == 0 {
		r.notes.stray(raw, f)
		r.notes.assign("", nil)
		return
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
		r.response(raw, e, f)
	case e.IsResponse() && r.calls.matchesCall(e):
		r.notes.flag(protocol.BadMessage, `a response with a "method" member`, raw, f)
		r.response(raw, e, f)
	case e.Has&protocol.HasID != 0:
		r.notes.deep(&r.limits, raw, f)
		r.request(raw, e, f)
	default:
		r.notes.deep(&r.limits, raw, f)
		r.notification(raw, e, f)
	}
}

// response assigns a response to its call, or explains why there is none.
func (r *receiver) response(raw []byte, e *protocol.Envelope, f wire.Frame) {
	if k := r.calls.rawWaiter(e.ID); k != nil {
		r.answer(k, raw, e, f)
		return
	}
	if n, ok := protocol.OwnID(e.ID); ok {
		if k := r.calls.find(n); k != nil {
			r.answer(k, raw, e, f)
			return
		}
		r.unmatchedResponse(n, raw, e, f)
		return
	}
	if k := r.calls.anyRaw(); k != nil {
		r.answer(k, raw, e, f)
		return
	}
	r.foreignID(raw, e, f)
}

// unmatchedResponse handles a response to an id that may be the client's, but of no call in
// flight.
func (r *receiver) unmatchedResponse(n int64, raw []byte, e *protocol.Envelope, f wire.Frame) {
	switch {
	case r.calls.late.take(n):
		// The call was canceled: its response was sent before the server knew, which
		// is valid.
	case r.calls.wasSent(n):
		r.notes.flag(protocol.DuplicateID, "a second response to id "+idText(n), raw, f)
	case r.calls.anyRaw() != nil:
		r.answer(r.calls.anyRaw(), raw, e, f)
		return
	case r.calls.sent.Load() == 0:
		r.notes.flag(protocol.EarlyResponse, "a response to id "+idText(n)+" before any request was sent", raw, f)
	default:
		r.notes.flag(protocol.UnknownID, "a response to id "+idText(n)+", which was never sent", raw, f)
	}
	id := ""
	var k *call
	if r.calls.wasSent(n) {
		id, k = idText(n), r.calls.unsignaled(n)
	}
	r.notes.assign(id, k)
}

// foreignID handles a response with an id that the client never writes.
func (r *receiver) foreignID(raw []byte, e *protocol.Envelope, f wire.Frame) {
	var k *call
	n, ok := protocol.GuessID(e.ID)
	if ok {
		k = r.calls.find(n)
	}
	kind, msg := protocol.UnknownID, "a response to id "+protocol.Excerpt(e.ID)+", which was never sent"
	switch t := protocol.KindOf(e.ID); {
	case r.calls.sent.Load() == 0:
		kind, msg = protocol.EarlyResponse, "a response before any request was sent"
	case e.Has&protocol.HasID == 0:
		kind, msg = protocol.MissingID, "a response without an id"
	case t == jsonv.KindNull:
		kind, msg = protocol.NullID, "a response with the id null"
	case ok && r.calls.wasSent(n):
		kind, msg = protocol.IDType, fmt.Sprintf("the id is %s, the request had %d", protocol.Excerpt(e.ID), n)
	case t == jsonv.KindNumber && bytes.ContainsAny(e.ID, ".eE"), t != jsonv.KindNumber && t != jsonv.KindString:
		kind, msg = protocol.IDType, "the id is "+protocol.Excerpt(e.ID)+", not a string or an integer"
	}
	r.notes.flag(kind, msg, raw, f)
	if k != nil {
		r.answer(k, raw, e, f)
		return
	}
	if kind == protocol.MissingID || kind == protocol.NullID {
		r.useIfOnlyCall(raw, f)
	}
	id := ""
	if ok && kind == protocol.IDType && r.calls.wasSent(n) {
		id, k = idText(n), r.calls.unsignaled(n)
		r.calls.late.take(n)
	}
	r.notes.assign(id, k)
}

// orphanGrace is how long a response without an id waits for a better one.
const orphanGrace = 500 * time.Millisecond

// useIfOnlyCall records a response that matches no call. If exactly one call is in flight
// and gets no other response within orphanGrace, this one is used, which is better
// than a timeout.
func (r *receiver) useIfOnlyCall(raw []byte, f wire.Frame) {
	only := r.calls.only()
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
		r.answer(k, raw, &r.scan.Envelope, f)
		r.calls.wake()
	})
}

// answer completes a call.
func (r *receiver) answer(k *call, raw []byte, e *protocol.Envelope, f wire.Frame) {
	x := k.x
	x.Response = raw
	if r.limits.TooManyValues(raw) {
		x.Cause = &TooManyValuesError{Method: x.Method, Limit: r.limits.Values}
		r.notes.assign(x.ID, k)
		r.calls.complete(k, f.At)
		return
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
	r.notes.assign(x.ID, k)
	r.calls.complete(k, f.At)
}

// checkResponse checks the result and the error of a response.
func (r *receiver) checkResponse(x *Exchange, e *protocol.Envelope, f wire.Frame) {
	switch both := protocol.HasResult | protocol.HasError; e.Has & both {
	case both:
		r.notes.flag(protocol.ResultAndError, resultAndError(e), x.Response, f)
	case 0:
		r.notes.flag(protocol.NoResult, "a response with neither a result nor an error", x.Response, f)
		x.Cause = &wire.ProtocolError{Method: x.Method, Kind: protocol.NoResult, Msg: "the response has neither a result nor an error"}
		return
	}
	if x.Error != nil {
		if msg := errorFault(x.Error); msg != "" {
			r.notes.flag(protocol.BadError, msg, x.Error, f)
		}
	} else if e.Has&protocol.HasResult == 0 {
		r.notes.flag(protocol.BadError, `"error" is null`, x.Response, f)
		x.Cause = &wire.ProtocolError{Method: x.Method, Kind: protocol.BadError, Msg: "the response's error is null and it has no result"}
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
