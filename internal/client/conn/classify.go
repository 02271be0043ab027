package conn

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
)

// finding is a violation of a frame.
type finding struct {
	protocol.Violation
	cause string // why the message cannot be used, as the error of its call; "": it can
}

// classification is a frame and what is known about it so far.
type classification struct {
	state   *state
	answers *responder
	incoming
	found []finding
}

// classify returns the findings of a frame that was matched to its call, in the order of
// the checks. It changes nothing.
func classify(s *state, answers *responder, in incoming) []finding {
	f := classification{state: s, answers: answers, incoming: in}
	f.framing()
	switch in.shape {
	case abandoned:
		f.flag(protocol.BadJSON, fmt.Sprintf("JSON that begins here and is not complete after %d lines", in.lines), in.Raw)
	case noise:
		f.classifyNoise()
	case oversize:
		f.classifyOversize()
	case malformed:
		f.reportMalformed()
	case batch:
		if !s.agreedVersion().Batches {
			f.flag(protocol.Batch, fmt.Sprintf("an array of %d messages", len(in.parts)), in.Raw)
		} else if len(in.parts) == 0 {
			f.flag(protocol.Batch, "an empty batch", in.Raw)
		}
	case response:
		f.checkHeader()
		f.classifyResponse()
		f.checkContent()
	case adopted:
		f.checkContent()
	case echo:
		f.checkHeader()
		f.checkDepth()
		f.reject(protocol.Echo, "the server sent the client's own request back", in.Raw, "the server sent the request itself back instead of a response")
	case request:
		f.checkHeader()
		f.checkDepth()
		f.checkMethod()
		f.request()
	case notification:
		f.checkHeader()
		f.checkDepth()
		if f.checkMethod() && protocol.TextOf(in.envelope.Method) == "notifications/progress" {
			f.checkProgress()
		}
	}
	return f.found
}

// flag adds a finding.
func (f *classification) flag(kind, msg string, excerpt []byte) { f.reject(kind, msg, excerpt, "") }

// reject adds a finding that is the cause of the call to have no usable response.
func (f *classification) reject(kind, msg string, excerpt []byte, cause string) {
	v := protocol.Violation{Kind: kind, Msg: msg, Excerpt: protocol.Excerpt(excerpt), Offset: f.Offset, At: f.At}
	f.found = append(f.found, finding{v, cause})
}

// refuse adds a finding because of which a message of the server cannot be used.
func (f *classification) refuse(kind, msg string) { f.reject(kind, msg, f.Raw, msg) }

// framing checks the line around a message.
func (f *classification) framing() {
	if f.lines > 0 && f.shape != abandoned {
		f.flag(protocol.PrettyJSON, fmt.Sprintf("one message written over %d lines", f.lines), f.Raw)
	}
	if f.line == nil {
		return
	}
	if f.around.BOM {
		f.flag(protocol.BOM, "a byte order mark before the message", f.line)
	}
	if f.around.NUL {
		f.flag(protocol.NULByte, "NUL bytes around the message", f.line)
	}
	if !f.around.UTF8 {
		at, bad := badUTF8(f.Raw)
		f.flag(protocol.InvalidUTF8, fmt.Sprintf("byte %d of the line is not UTF-8", at), bad)
	}
	if f.Unterminated {
		f.flag(protocol.PartialLine, "the output ended without a newline", f.line)
	}
}

func badUTF8(raw []byte) (int, []byte) {
	for i := 0; i < len(raw); {
		r, n := utf8.DecodeRune(raw[i:])
		if r == utf8.RuneError && n == 1 {
			return i, raw[max(0, i-20):]
		}
		i += n
	}
	return 0, raw
}

// nameUnit is what the message should have filled.
func (f *classification) nameUnit() string {
	if f.Whole {
		return "a body"
	}
	return "a line"
}

// classifyNoise describes what is not a message.
func (f *classification) classifyNoise() {
	msg := f.nameUnit() + " that is not JSON"
	switch {
	case f.Unterminated: // reported by framing
		return
	case jsonv.Valid(f.Raw) == nil:
		msg = f.nameUnit() + " that is " + protocol.KindOf(f.Raw).WithArticle() + ", not a message"
	case !f.Whole && f.state.stdio:
		msg = "the server wrote a log line to stdout; stdout is reserved for JSON-RPC, write logs to stderr"
	}
	f.flag(protocol.StrayOutput, msg, f.Raw)
}

func (f *classification) classifyOversize() {
	msg := "a message over the limit of " + wire.FormatByteSize(int64(f.over.Limit))
	if f.over.Done {
		msg = "a message of " + wire.FormatByteSize(f.over.Size) +
			", over the limit of " + wire.FormatByteSize(int64(f.over.Limit))
	}
	f.reject(protocol.Oversize, msg, f.Raw, "the response is "+msg)
}

func (f *classification) reportMalformed() {
	if f.Unterminated { // reported by framing
		return
	}
	excerpt := f.Raw
	if s, ok := errors.AsType[*jsonv.SyntaxError](f.syntax); ok && s.Offset > 100 {
		excerpt = excerpt[min(s.Offset-100, len(excerpt)):]
	}
	text := "not valid JSON: " + protocol.SyntaxText(f.syntax)
	f.reject(protocol.BadJSON, f.nameUnit()+" that is "+text, excerpt, "the response is "+text)
}

// checkHeader checks the members that all messages have.
func (f *classification) checkHeader() {
	e := f.envelope
	if e.Has&protocol.HasVersion == 0 {
		f.flag(protocol.BadJSONRPC, `the message has no "jsonrpc" member`, f.Raw)
	} else if string(e.Version) != `"2.0"` {
		f.flag(protocol.BadJSONRPC, `"jsonrpc" is `+protocol.Excerpt(e.Version)+`, not "2.0"`, f.Raw)
	}
	if e.Duplicate != 0 {
		f.flag(protocol.DuplicateKey, "the message has "+e.Duplicate.String()+" twice", f.Raw)
	}
}

// maxDeepNotification is the size up to which a notification or request of the server
// is checked below its top level.
const maxDeepNotification = 256 << 10

// checkDepth checks a notification or a request of the server below its top level.
func (f *classification) checkDepth() {
	if len(f.Raw) > maxDeepNotification || f.tooMany {
		return
	}
	_, below, _ := parseDeep(f.Raw, jsonv.Options{})
	for _, v := range below[:min(len(below), maxCallViolations)] {
		v.Offset, v.At = f.Offset, f.At
		f.found = append(f.found, finding{Violation: v})
	}
}

// checkMethod checks the types of the members of a request or notification. It reports
// whether there is a method.
func (f *classification) checkMethod() bool {
	e := f.envelope
	if protocol.KindOf(e.Method) != jsonv.KindString {
		f.refuse(protocol.BadMessage, `"method" is `+protocol.KindOf(e.Method).WithArticle()+", not a string")
		return false
	}
	if e.Has&protocol.HasParams != 0 && protocol.KindOf(e.Params) != jsonv.KindObject {
		f.flag(protocol.BadMessage, `"params" is `+protocol.KindOf(e.Params).WithArticle()+", not an object", f.Raw)
	}
	if e.IsResponse() {
		f.flag(protocol.BadMessage, "a message with both a method and "+(e.Has&(protocol.HasResult|protocol.HasError)).String(), f.Raw)
	}
	return true
}

// request checks whether the client can answer a request.
func (f *classification) request() {
	id := f.envelope.ID
	if d := f.state.agreedVersion(); d.Stateless {
		f.refuse(protocol.BadMessage, "a request of the server, which protocol version "+d.Name+" does not have")
	}
	if what := f.state.findUndeclared(&f.incoming); what != "" && f.state.agreedVersion().Negotiated {
		f.flag(protocol.BadMessage, "the server asks "+protocol.TextOf(f.envelope.Method)+", though the client did not declare "+what, f.Raw)
	}
	t := protocol.KindOf(id)
	switch {
	case t == jsonv.KindString, protocol.IsInteger(id):
	case t == jsonv.KindNumber:
		f.flag(protocol.BadMessage, "a request with the id "+protocol.Excerpt(id), f.Raw)
	default:
		f.refuse(protocol.BadMessage, "a request with the id "+protocol.Excerpt(id))
	}
	if busy, full := f.answers.isBusy(string(id)); busy {
		f.refuse(protocol.BadMessage, "a second request with the id "+protocol.Excerpt(id)+" while the first is still being handled")
	} else if full {
		f.refuse(protocol.Flood, fmt.Sprintf("more than %d concurrent requests of the server: no response to this one", f.state.limits.Requests))
	}
}

// findUndeclared returns what a request of the server needs and the client has not declared.
func (s *state) findUndeclared(in *incoming) string {
	method := protocol.TextOf(in.envelope.Method)
	if s.offers.IsAbsent() || protocol.CapabilityOf(method) == "" { // it is not known what the client declares
		return ""
	}
	what := protocol.Undeclared(s.offers, method, in.envelope.Params)
	if what == protocol.SamplingTools && !s.agreedVersion().SamplingTools { // an unknown member
		return ""
	}
	return what
}

// checkProgress checks the token of a progress notification. One for a completed call may
// still arrive.
func (f *classification) checkProgress() {
	fault := ""
	switch {
	case f.token == nil:
		fault = "a progress notification without a progressToken"
	case f.call == nil && !f.state.tokens.has(string(f.token)):
		fault = "progressToken is " + protocol.Excerpt(f.token) + ", which no request had"
	case f.call != nil && !sameToken(f.call.token, f.token):
		fault = fmt.Sprintf("progressToken is %s, the request had %s", protocol.Excerpt(f.token), protocol.Excerpt(f.call.token))
	}
	switch {
	case fault != "":
		f.flag(protocol.ProgressToken, fault, f.envelope.Params)
	case f.call != nil:
		f.call.reports++
		f.call.reported = f.At
	default:
		f.state.late = f.At
	}
}

// classifyResponse checks the id of a response.
func (f *classification) classifyResponse() {
	if f.envelope.Has&protocol.HasMethod != 0 {
		f.flag(protocol.BadMessage, `a response with a "method" member`, f.Raw)
	}
	if !f.wrongID {
		return
	}
	_, exact := protocol.OwnID(f.envelope.ID)
	calls, id := f.state.calls, protocol.Excerpt(f.envelope.ID)
	kind, msg := protocol.UnknownID, "a response to id "+id+", which was never sent"
	t := protocol.KindOf(f.envelope.ID)
	switch {
	case exact && calls.wasSent(f.meant):
		kind, msg = protocol.DuplicateID, "a second response to id "+id
	case calls.sent.Load() == 0 && exact:
		kind, msg = protocol.EarlyResponse, "a response to id "+id+" before any request was sent"
	case calls.sent.Load() == 0:
		kind, msg = protocol.EarlyResponse, "a response before any request was sent"
	case exact: // never sent
	case t == jsonv.KindAbsent:
		kind, msg = protocol.MissingID, "a response without an id"
	case t == jsonv.KindNull:
		kind, msg = protocol.NullID, "a response with the id null"
	case calls.wasSent(f.meant):
		kind, msg = protocol.IDType, fmt.Sprintf("the id is %s, the request had %d", id, f.meant)
	case t == jsonv.KindNumber && bytes.ContainsAny(f.envelope.ID, ".eE"), t != jsonv.KindNumber && t != jsonv.KindString:
		kind, msg = protocol.IDType, "the id is "+id+", not a string or an integer"
	}
	f.flag(kind, msg, f.Raw)
}

// checkContent checks the result and the error of the response to a call in flight.
func (f *classification) checkContent() {
	if !f.ends || f.tooMany {
		return
	}
	switch f.envelope.Has & (protocol.HasResult | protocol.HasError) {
	case 0:
		f.reject(protocol.NoResult, "a response with neither a result nor an error", f.Raw, "the response has neither a result nor an error")
	case protocol.HasResult | protocol.HasError:
		msg := "a response with both a result and an error"
		if f.failure == nil {
			msg = `"error": null next to a result`
		} else if f.result == nil {
			msg = `"result": null next to an error`
		}
		f.flag(protocol.ResultAndError, msg, f.Raw)
	case protocol.HasError:
		if f.failure == nil {
			f.reject(protocol.BadError, `"error" is null`, f.Raw, "the response's error is null and it has no result")
		}
	}
	if f.failure != nil {
		if msg := findErrorFault(f.failure); msg != "" {
			f.flag(protocol.BadError, msg, f.failure)
		}
	}
	if f.result == nil {
		return
	}
	if t := protocol.KindOf(f.result); t != jsonv.KindObject {
		f.flag(protocol.BadResult, "the result is "+t.WithArticle()+", not an object", f.result)
	} else if msg := f.findResultTypeFault(); msg != "" {
		f.flag(protocol.ResultType, msg, f.result)
	}
}

// findErrorFault describes the mistake in an error member (JSON-RPC 2.0 section 5.1), or
// returns "".
func findErrorFault(raw []byte) string {
	if protocol.KindOf(raw) != jsonv.KindObject {
		return "the error is " + protocol.KindOf(raw).WithArticle() + ", not an object"
	}
	code, message := protocol.MemberOf(raw, "code"), protocol.MemberOf(raw, "message")
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

var resultTypeKey = []byte(`"resultType"`)

// findResultTypeFault describes the mistake in the resultType of a response, or returns
// "". A value that is unknown, or belongs to something that this client did not
// declare, must be treated as invalid (MCP 2026-07-28). No earlier revision gives the
// member another meaning, so all of them are checked.
func (f *classification) findResultTypeFault() string {
	if !bytes.Contains(f.result, resultTypeKey) {
		return ""
	}
	t := protocol.MemberOf(f.result, "resultType")
	switch string(t) {
	case "", `"complete"`:
		return ""
	case `"input_required"`:
		if d := f.state.agreedVersion(); d.Era() == protocol.EraSession {
			return fmt.Sprintf("resultType is %s, which protocol version %s does not have", protocol.Excerpt(t), d.Name)
		}
		return ""
	case `"task"`:
		offers := f.state.offers
		isDeclared := !offers.Lookup("extensions", extTasks).IsAbsent() || !offers.Lookup("tasks").IsAbsent()
		if f.call.x.AsksTask() || isDeclared {
			return ""
		}
		return `resultType is "task", and the request did not declare that the client knows tasks`
	}
	return "resultType is " + protocol.Excerpt(t)
}
