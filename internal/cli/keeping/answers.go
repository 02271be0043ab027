package keeping

import (
	"errors"
	"slices"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/client/mcp"
	"mcptest/internal/client/protocol"
	"mcptest/internal/run/inspect"
	"mcptest/internal/spec/draft"
)

// AnswerOf returns the answer to a request; ok is false if it got no response that a test can
// expect.
func AnswerOf(x *mcp.Exchange) (a draft.Answer, ok bool) {
	if rpc, refused := errors.AsType[*protocol.RPCError](inspect.ExchangeError(x)); refused {
		return draft.Answer{Code: jsonv.Int(rpc.Code), Reason: rpc.Message}, true
	}
	result, err := jsonv.Parse(x.Result)
	if x.Cause != nil || err != nil || result.Kind() != jsonv.KindObject {
		return draft.Answer{}, false
	}
	a.Result = result
	if result.Lookup("isError").Bool() {
		a.Reason = result.Lookup("content").At(0).Lookup("text").Text()
	}
	return a, true
}

// ScriptResponses returns what a test needs to answer the requests of the server during a call as
// they were answered, the value of `respond:`; absent if there was none.
func ScriptResponses(x *mcp.Exchange) jsonv.Value {
	var forms, samples []jsonv.Value
	roots := jsonv.Value{}
	for _, m := range x.During {
		answer, err := jsonv.Parse(m.Params)
		if m.Kind != mcp.KindResponse || err != nil {
			continue
		}
		switch {
		case m.Method == "elicitation/create" && !answer.Lookup("action").IsAbsent():
			forms = append(forms, scriptAnswer(x, answer))
		case m.Method == "sampling/createMessage" && !answer.Lookup("role").IsAbsent():
			samples = append(samples, answer)
		case m.Method == "roots/list" && answer.Lookup("roots").Kind() == jsonv.KindArray:
			roots = answer.Lookup("roots")
		}
	}
	if len(forms)+len(samples) == 0 && roots.IsAbsent() {
		return jsonv.Value{}
	}
	return jsonv.ObjectOf("elicitation", unwrapOne(forms), "sampling", unwrapOne(samples), "roots", roots)
}

// scriptAnswer returns an answer to an elicitation as a suite has it: one to an address says so.
func scriptAnswer(x *mcp.Exchange, answer jsonv.Value) jsonv.Value {
	for _, m := range x.During {
		asks := m.Kind == mcp.KindRequest && m.Method == "elicitation/create"
		if asks && protocol.TextOf(protocol.MemberOf(m.Params, "mode")) == "url" {
			return answer.Without("content").With("mode", jsonv.String("url"))
		}
	}
	return answer
}

// unwrapOne returns answers that are all equal as one, and others as a list.
func unwrapOne(answers []jsonv.Value) jsonv.Value {
	if len(answers) == 0 {
		return jsonv.Value{}
	}
	other := func(a jsonv.Value) bool { return !jsonv.Equal(a, answers[0]) }
	if slices.ContainsFunc(answers, other) {
		return jsonv.Array(answers...)
	}
	return answers[0]
}
