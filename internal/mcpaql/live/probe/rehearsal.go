package probe

import (
	"slices"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/live/catalog"
	"mcptest/internal/mcpaql/live/guard"
	llm "mcptest/internal/model"
)

// rehearsal answers the calls of a model that has to explain how it would use the adapter.
type rehearsal struct{ run *guard.Run }

// answer answers a model's call. A documented call that only reads is carried out;
// any other call is recorded and not carried out, in every mode.
func (pr rehearsal) answer(call llm.Call) string {
	if pr.run.Catalog.FindTool(call.Name).Name == "" {
		return makeRehearsedAnswer("NOT_FOUND_OPERATION", "There is no such tool.")
	}
	if call.Arguments.Kind() != jsonv.KindObject {
		return makeRehearsedAnswer("VALIDATION_INVALID_TYPE",
			"The arguments of the call must be a single JSON object that is not too long.")
	}
	parts := []jsonv.Value{call.Arguments}
	if batch := call.Arguments.Lookup("operations"); !batch.IsAbsent() {
		parts = batch.List()
		if _, both := call.Arguments.Get("operation"); both {
			parts = append(parts, call.Arguments)
		}
	}
	for _, part := range parts {
		if refused := pr.refuse(part); refused != "" {
			return refused
		}
	}
	r := pr.run.Caller.Send(call.Name, call.Arguments)
	if r.Number == 0 {
		return "the call was not sent: " + r.Cause.Error()
	}
	return display.Truncate(pr.run.Caller.RedactAnswer(r).String(), 20_000)
}

// refuse returns the answer to a request that is not sent, "" if it may be.
func (pr rehearsal) refuse(part jsonv.Value) string {
	name := part.Lookup("operation")
	op := pr.run.Catalog.FindOperation(name.Text())
	switch {
	case name.Kind() != jsonv.KindString:
		return makeRehearsedAnswer("VALIDATION_MISSING_PARAM", "The arguments of the call have to name an operation, a text.")
	case op == nil && name.Text() != "introspect":
		return makeRehearsedAnswer("NOT_FOUND_OPERATION", "The introspection lists no such operation.")
	}
	acts := op != nil && (op.Risk != catalog.RiskRead || pr.run.Gate.ExplainBarred(op) != "")
	if acts || smugglesOperation(op, part.Lookup("params")) {
		return makeRehearsedAnswer("PERMISSION_DENIED", "This is a rehearsal: the call was noted and not carried out.")
	}
	return ""
}

// makeRehearsedAnswer returns the answer to a model's call that was not sent.
func makeRehearsedAnswer(code, message string) string {
	return jsonv.ObjectOf(
		"success", false, "error", jsonv.ObjectOf("code", code, "message", message),
	).String()
}

// smugglesOperation reports whether parameters name an operation of their own, which a
// careless adapter may confuse with the requested one.
func smugglesOperation(op *catalog.Operation, params jsonv.Value) bool {
	return slices.ContainsFunc([]string{"operation", "operations"}, func(key string) bool {
		return !params.Lookup(key).IsAbsent() && (op == nil || op.FindParam(key) == nil)
	})
}
