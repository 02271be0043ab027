package mcp

import (
	"bytes"
	"fmt"
	"time"

	"mcptest/internal/jsonv"
	"mcptest/internal/mcp/protocol"
	"mcptest/internal/mcp/wire"
)

// message reads one valid JSON object whose members are in s.in.scan.
func (s *Session) message(raw []byte, f wire.Frame) {
	e := &s.in.scan.Envelope
	s.silent = false
	if e.Has&^protocol.HasVersion == 0 || e.Has&(protocol.HasMethod|protocol.HasResult|protocol.HasError|protocol.HasID) == 0 {
		s.stray(raw, f)
		s.settle("", nil)
		return
	}
	if e.Has&protocol.HasVersion == 0 {
		s.flag(protocol.BadJSONRPC, `the message has no "jsonrpc" member`, raw, f)
	} else if string(e.Version) != `"2.0"` {
		s.flag(protocol.BadJSONRPC, `"jsonrpc" is `+protocol.Excerpt(e.Version)+`, not "2.0"`, raw, f)
	}
	if e.Duplicate != 0 {
		s.flag(protocol.DuplicateKey, "the message has "+e.Duplicate.String()+" twice", raw, f)
	}
	switch {
	case e.Has&protocol.HasMethod == 0:
		s.response(raw, e, f)
	case e.IsResponse() && s.calls.answers(e):
		s.flag(protocol.BadMessage, `an answer with a "method" member`, raw, f)
		s.response(raw, e, f)
	case e.Has&protocol.HasID != 0:
		s.in.flagDeep(s, raw, f)
		s.request(raw, e, f)
	default:
		s.in.flagDeep(s, raw, f)
		s.notification(raw, e, f)
	}
}

// response files an answer with its call, or says why there is none.
func (s *Session) response(raw []byte, e *protocol.Envelope, f wire.Frame) {
	if k := s.calls.rawWaiter(e.ID); k != nil {
		s.answer(k, raw, e, f)
		return
	}
	if n, ok := ownID(e.ID); ok {
		if k := s.calls.find(n); k != nil {
			s.answer(k, raw, e, f)
			return
		}
		s.noCall(n, raw, e, f)
		return
	}
	if k := s.calls.anyRaw(); k != nil {
		s.answer(k, raw, e, f)
		return
	}
	s.oddID(raw, e, f)
}

// noCall deals with an answer to an id that could be ours and waits no more.
func (s *Session) noCall(n int64, raw []byte, e *protocol.Envelope, f wire.Frame) {
	switch {
	case s.calls.late.take(n):
		// The call was given up: an answer that crossed that is no violation.
	case s.calls.gave(n):
		s.flag(protocol.DuplicateID, "a second answer to id "+idText(n), raw, f)
	case s.calls.anyRaw() != nil:
		s.answer(s.calls.anyRaw(), raw, e, f)
		return
	case s.calls.sent.Load() == 0:
		s.flag(protocol.EarlyAnswer, "an answer to id "+idText(n)+" before any request was sent", raw, f)
	default:
		s.flag(protocol.UnknownID, "an answer to id "+idText(n)+", which was never sent", raw, f)
	}
	id := ""
	var k *call
	if s.calls.gave(n) {
		id, k = idText(n), s.calls.justDone(n)
	}
	s.settle(id, k)
}

// oddID deals with an answer whose id is none that we write.
func (s *Session) oddID(raw []byte, e *protocol.Envelope, f wire.Frame) {
	var k *call
	n, ok := evidentID(e.ID)
	if ok {
		k = s.calls.find(n)
	}
	kind, msg := protocol.UnknownID, "an answer to id "+protocol.Excerpt(e.ID)+", which was never sent"
	switch t := protocol.KindOf(e.ID); {
	case s.calls.sent.Load() == 0:
		kind, msg = protocol.EarlyAnswer, "an answer before any request was sent"
	case e.Has&protocol.HasID == 0:
		kind, msg = protocol.MissingID, "an answer without an id"
	case t == jsonv.KindNull:
		kind, msg = protocol.NullID, "an answer with the id null"
	case ok && s.calls.gave(n):
		kind, msg = protocol.IDType, fmt.Sprintf("the id is %s, the request had %d", protocol.Excerpt(e.ID), n)
	case t == jsonv.KindNumber && bytes.ContainsAny(e.ID, ".eE"), t != jsonv.KindNumber && t != jsonv.KindString:
		kind, msg = protocol.IDType, "the id is "+protocol.Excerpt(e.ID)+", not a string or an integer"
	}
	s.flag(kind, msg, raw, f)
	if k != nil {
		s.answer(k, raw, e, f)
		return
	}
	if kind == protocol.MissingID || kind == protocol.NullID {
		s.orphan(raw, f)
	}
	id := ""
	if ok && kind == protocol.IDType && s.calls.gave(n) {
		id, k = idText(n), s.calls.justDone(n)
		s.calls.late.take(n)
	}
	s.settle(id, k)
}

// orphanGrace is how long an answer without an id waits for a better one.
const orphanGrace = 500 * time.Millisecond

// orphan remembers an answer that names no call. When exactly one call is in
// flight and gets no other answer within a grace, this one was meant for it:
// better that than to wait for the timeout.
func (s *Session) orphan(raw []byte, f wire.Frame) {
	only := s.calls.only()
	if only == nil || s.in.early != nil {
		return
	}
	id := only.id
	s.in.early = time.AfterFunc(orphanGrace, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.in.early = nil
		k := s.calls.find(id)
		if k == nil || s.in.scan.Scan(raw) != nil {
			return
		}
		s.answer(k, raw, &s.in.scan.Envelope, f)
		s.calls.wake()
	})
}

// answer completes a call.
func (s *Session) answer(k *call, raw []byte, e *protocol.Envelope, f wire.Frame) {
	x := k.x
	x.Response = raw
	if s.lim.TooManyValues(raw) {
		x.Cause = &TooManyValuesError{Method: x.Method, Limit: s.lim.Values}
		s.settle(x.ID, k)
		s.calls.complete(k, f.At)
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
	s.checkAnswer(x, e, f)
	s.settle(x.ID, k)
	s.calls.complete(k, f.At)
}

// checkAnswer notes what is wrong with the result and the error of an answer.
func (s *Session) checkAnswer(x *Exchange, e *protocol.Envelope, f wire.Frame) {
	switch both := protocol.HasResult | protocol.HasError; e.Has & both {
	case both:
		s.flag(protocol.ResultAndError, resultAndError(e), x.Response, f)
	case 0:
		s.flag(protocol.NoResult, "an answer with neither a result nor an error", x.Response, f)
		x.Cause = &wire.ProtocolError{Method: x.Method, Kind: protocol.NoResult, Msg: "the answer has neither a result nor an error"}
		return
	}
	if x.Error != nil {
		if msg := errorFault(x.Error); msg != "" {
			s.flag(protocol.BadError, msg, x.Error, f)
		}
	} else if e.Has&protocol.HasResult == 0 {
		s.flag(protocol.BadError, `"error" is null`, x.Response, f)
		x.Cause = &wire.ProtocolError{Method: x.Method, Kind: protocol.BadError, Msg: "the answer's error is null and it has no result"}
	}
	if x.Result == nil {
		return
	}
	if protocol.KindOf(x.Result) != jsonv.KindObject {
		s.flag(protocol.BadResult, "the result is "+protocol.KindOf(x.Result).WithArticle()+", not an object", x.Result, f)
		return
	}
	if msg := s.resultTypeFault(x); msg != "" {
		s.flag(protocol.ResultType, msg, x.Result, f)
	}
}

func resultAndError(e *protocol.Envelope) string {
	switch {
	case protocol.KindOf(e.Err) == jsonv.KindNull:
		return `"error": null beside a result`
	case protocol.KindOf(e.Result) == jsonv.KindNull:
		return `"result": null beside an error`
	}
	return "an answer with both a result and an error"
}

// errorFault says what is wrong with an error member (JSON-RPC 2.0 section 5.1).
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

// extTasks is the extension that has calls answered with a task.
const extTasks = "io.modelcontextprotocol/tasks"

var resultTypeKey = []byte(`"resultType"`)

// resultTypeFault says what is wrong with the resultType of an answer, "" for
// nothing. A value that is not known, or of something that this client did not
// declare, must be treated as invalid (MCP 2026-07-28). No revision before
// gives the member another meaning, so the check holds for all of them.
func (s *Session) resultTypeFault(x *Exchange) string {
	if !bytes.Contains(x.Result, resultTypeKey) {
		return ""
	}
	t := protocol.MemberOf(x.Result, "resultType")
	switch string(t) {
	case "", `"complete"`:
		return ""
	case `"input_required"`:
		if d := s.agreed(); d.Era() == protocol.EraSession {
			return fmt.Sprintf("resultType is %s, which protocol revision %s does not have", protocol.Excerpt(t), d.Name)
		}
		return ""
	case `"task"`:
		if s.knowsTasks(x) {
			return ""
		}
		return `resultType is "task", and the request did not declare that the client knows tasks`
	}
	return "resultType is " + protocol.Excerpt(t)
}

// knowsTasks reports whether the server may answer with a task.
func (s *Session) knowsTasks(x *Exchange) bool {
	own := s.capabilities()
	return x.AsksTask() || !own.Lookup("extensions", extTasks).IsAbsent() || !own.Lookup("tasks").IsAbsent()
}

// AsksTask reports whether the request asks for a task (params.task of
// 2025-11-25), or declares that its sender knows them (the extension of
// 2026-07-28).
func (x *Exchange) AsksTask() bool {
	params := protocol.MemberOf(x.Request, "params")
	if protocol.KindOf(protocol.MemberOf(params, "task")) == jsonv.KindObject {
		return true
	}
	declared := protocol.MemberOf(protocol.MemberOf(protocol.MemberOf(params, "_meta"), protocol.MetaCapabilities), "extensions")
	return protocol.MemberOf(declared, extTasks) != nil
}
