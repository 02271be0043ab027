package mcp

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/conn"
	"mcptest/internal/client/protocol"
	"mcptest/internal/client/wire"
)

// callInRounds sends a request and repeats it with the input that the server requests,
// until there is a result (MCP 2026-07-28, multi round-trip requests). The earlier
// exchanges are the Hops of the last.
func (s *Session) callInRounds(ctx context.Context, c Call) *Exchange {
	x := s.tools.call(ctx, c)
	if x.Cause != nil || !bytes.Contains(x.Result, inputRequired) {
		return x
	}
	answer := c.Answer
	if answer == nil {
		answer = s.o.Answer
	}
	var hops []*Exchange
	for round := 0; ; round++ {
		in, fault := readInput(x)
		if in == nil && fault == "" {
			return joinRounds(hops, x)
		}
		if fault == "" && !protocol.AsksInput(c.Method) {
			fault = "resultType is input_required, which a response to " + c.Method + " must not be"
		}
		if fault != "" {
			s.o.violate(x, protocol.Violation{Kind: protocol.BadResult, Msg: fault, Excerpt: protocol.Excerpt(x.Result)})
			x.Cause = &wire.ProtocolError{Method: c.Method, Msg: fault}
			return joinRounds(hops, x)
		}
		if round == s.o.Limits.Rounds {
			x.Cause = &InputError{Method: c.Method, Msg: fmt.Sprintf("the server still asks for input after %d rounds", round)}
			return joinRounds(hops, x)
		}
		responses, err := s.answerInputs(ctx, in, x, answer, c.Method)
		if err != nil {
			x.Cause = err
			return joinRounds(hops, x)
		}
		hops = append(hops, x)
		next := c
		next.Params = retryParams(c.Params, responses, in.state)
		x = s.tools.call(ctx, next)
	}
}

var inputRequired = []byte(`"input_required"`)

// input is the content of an input_required result.
type input struct {
	keys     []string
	requests map[string][]byte
	state    []byte // requestState as JSON text, or nil
}

// readInput parses a result. If it returns nil and "", the result does not request
// input.
func readInput(x *Exchange) (*input, string) {
	if x.Cause != nil || x.Result == nil || string(protocol.MemberOf(x.Result, "resultType")) != string(inputRequired) {
		return nil, ""
	}
	in := &input{requests: map[string][]byte{}, state: protocol.MemberOf(x.Result, "requestState")}
	asked := protocol.MemberOf(x.Result, "inputRequests")
	switch {
	case in.state == nil && asked == nil:
		return nil, "an input_required result with neither inputRequests nor requestState"
	case in.state != nil && protocol.KindOf(in.state) != jsonv.KindString:
		return nil, "requestState is " + protocol.KindOf(in.state).WithArticle() + ", not a string"
	case asked != nil && protocol.KindOf(asked) != jsonv.KindObject:
		return nil, "inputRequests is " + protocol.KindOf(asked).WithArticle() + ", not an object"
	case asked == nil:
		return in, ""
	}
	fault := ""
	_ = jsonv.VisitMembers(asked, func(k string, val []byte) error {
		if _, twice := in.requests[k]; !twice {
			in.keys = append(in.keys, k)
		}
		in.requests[k] = val
		switch m := protocol.TextOf(protocol.MemberOf(val, "method")); m {
		case "elicitation/create", "sampling/createMessage", "roots/list":
		default:
			fault = fmt.Sprintf("inputRequests.%s has the method %q, expected elicitation/create, sampling/createMessage or roots/list", k, m)
		}
		return nil
	})
	return in, fault
}

// answerInputs answers the requests of the server in order, and records them and the
// responses in the exchange.
func (s *Session) answerInputs(
	ctx context.Context, in *input, x *Exchange, answer Answerer, call string,
) ([]byte, error) {
	if len(in.keys) == 0 {
		return nil, nil
	}
	out := []byte{'{'}
	for i, key := range in.keys {
		raw := in.requests[key]
		method, params := protocol.TextOf(protocol.MemberOf(raw, "method")), protocol.MemberOf(raw, "params")
		x.During = append(x.During, Message{
			Frame:  wire.Frame{Dir: wire.FromServer, At: time.Now(), Raw: raw, Stream: x.ID},
			Kind:   KindRequest,
			Method: method,
			Params: params,
		})
		if c := protocol.Undeclared(s.send.who.capabilities, method, params); c != "" {
			s.o.violate(x, protocol.Violation{Kind: protocol.BadMessage, Msg: "the server asks " + method + ", though the client did not declare " + c, Excerpt: protocol.Excerpt(raw)})
		}
		var result []byte
		var rpc *protocol.RPCError
		c := protocol.Undeclared(s.send.who.capabilities, method, params)
		switch {
		case c != "":
			rpc = protocol.RefusalOf(method, c)
		case answer != nil:
			result, rpc = answer(ctx, method, params)
		}
		switch {
		case ctx.Err() != nil:
			return nil, conn.ContextError(ctx, x)
		case result == nil:
			msg := "the server asks " + method + " but no response to it is configured"
			if rpc != nil {
				msg = "the server asks " + method + ": " + rpc.Message
			}
			return nil, &InputError{Method: call, Msg: msg}
		}
		x.During = append(x.During, Message{
			Frame:  wire.Frame{Dir: wire.ToServer, At: time.Now(), Raw: result, Stream: x.ID},
			Kind:   KindResponse,
			Method: method,
			Params: result,
		})
		if i > 0 {
			out = append(out, ',')
		}
		out = append(jsonv.AppendString(out, key), ':')
		out = append(out, result...)
	}
	return append(out, '}'), nil
}

// retryParams returns the params of a call with the requested input. The state, if
// any, is returned byte for byte.
func retryParams(params, responses, state []byte) []byte {
	if bytes.Contains(params, []byte(`"inputResponses"`)) || bytes.Contains(params, []byte(`"requestState"`)) {
		if v, err := jsonv.Parse(params); err == nil && v.Kind() == jsonv.KindObject {
			params = v.Without("inputResponses").Without("requestState").Append(nil)
		}
	}
	if state != nil {
		params = protocol.PrependMember(params, `"requestState":`, state)
	}
	if responses != nil {
		params = protocol.PrependMember(params, `"inputResponses":`, responses)
	}
	return params
}

// InputError ends a call for which the server requests unavailable input.
type InputError struct {
	Method string
	Msg    string
}

// Error returns the method and the message.
func (e *InputError) Error() string { return e.Method + ": " + e.Msg }
