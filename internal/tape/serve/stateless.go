package serve

import (
	"context"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/protocol"
	"mcptest/internal/server/mcpserver"
	"mcptest/internal/tape/cassette"
)

// introduce returns the data that package mcpserver needs to answer server/discover:
// the recorded server as described by its handshake.
func (s *Server) introduce() *mcpserver.Reply {
	hello := s.c.Handshake(s.shared.Calls())
	if err := s.c.Err(); err != nil {
		return mcpserver.Failure(-32603, "%v", err)
	}
	return &mcpserver.Reply{Result: hello.Append(nil)}
}

// asksInput reports whether a response asks the client for input.
func asksInput(data []byte) bool {
	return protocol.TextOf(protocol.MemberOf(protocol.MemberOf(data, "result"), "resultType")) == "input_required"
}

// replyInput asks the client for the input that the recorded server requested, and
// continues with the recorded request that contained it.
func (x *session) replyInput(ctx context.Context, req *mcpserver.Request, call *cassette.Call, data []byte) (*mcpserver.Reply, error) {
	var questions []mcpserver.Question
	v, _ := jsonv.Parse(data)
	result := v.Lookup("result")
	for key, q := range result.Lookup("inputRequests").Members() {
		one := mcpserver.Question{Key: key, Method: q.Lookup("method").Text()}
		if params := q.Lookup("params"); !params.IsAbsent() {
			one.Params = params.Append(nil)
		}
		questions = append(questions, one)
	}
	next := x.findNext(call, result.Lookup("requestState"))
	if len(questions) == 0 || next == nil {
		return makeReply(data, 0), nil
	}
	_, _ = req.AskAll(ctx, questions) // an error is an answer too
	return x.play(ctx, req, next)
}

// findNext returns the recorded request that repeats a call with input.
func (x *session) findNext(call *cassette.Call, state jsonv.Value) *cassette.Call {
	after := false
	for _, c := range x.s.shared.Calls() {
		if c.Request == nil || c.Method != call.Method || !after {
			after = after || c.Request != nil && c.Request.Line == call.Request.Line
			continue
		}
		v := x.s.c.Value(c.Request)
		got := v.Lookup("params", "requestState")
		if !state.IsAbsent() && jsonv.Equal(got, state) ||
			state.IsAbsent() && !v.Lookup("params", "inputResponses").IsAbsent() {
			return c
		}
	}
	return nil
}
