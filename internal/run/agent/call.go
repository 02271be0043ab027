package agent

import (
	"context"
	"fmt"

	"mcptest/internal/assert/target"
	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/model"
	"mcptest/internal/run/allow"
)

// outcome is what a call returned.
type outcome struct {
	text     string
	result   jsonv.Value
	refused  bool
	executed bool
	mocked   bool
}

// call makes one call of the last answer, the i-th, and adds its result to the
// conversation.
func (t *Trial) call(ctx context.Context, c model.Call, i int) error {
	tool := t.find(c.Name)
	o, err := t.execute(ctx, tool, c)
	if err != nil {
		return err
	}
	name, own, server := c.Name, c.Name, ""
	if tool != nil {
		name, own, server = tool.Name, tool.Own(), tool.Server
	}
	args := c.Arguments
	if args.IsAbsent() {
		args = jsonv.String(c.Raw)
	}
	t.calls = append(t.calls, jsonv.ObjectOf(
		"name", name,
		"tool", own,
		"server", server,
		"arguments", args,
		"text", o.text,
		"refused", o.refused,
		"executed", o.executed,
		"mocked", o.mocked,
		"turn", t.record.Turns,
		"result", o.result,
	))
	t.turns = append(t.turns, model.Message{Role: "tool", ID: c.ID, Text: o.text, IsError: o.refused})
	r := &t.record.Messages[len(t.record.Messages)-1].Calls[i]
	r.Server, r.Text, r.Refused, r.Executed, r.Mocked = server, o.text, o.refused, o.executed, o.mocked
	return nil
}

// execute calls a tool, or a mock, or says why neither is called.
func (t *Trial) execute(ctx context.Context, tool *Tool, c model.Call) (outcome, error) {
	switch {
	case tool == nil && t.Model == scripted && !t.Examines(len(t.calls), c.Name):
		return outcome{}, newFailedError("script: %s", explainUnknown(t.tools, c.Name))
	case tool == nil:
		return outcome{text: explainUnknown(t.tools, c.Name), refused: true}, nil
	case c.Arguments.Kind() != jsonv.KindObject:
		return outcome{text: "its arguments are " + display.Truncate(display.OneLine(formatArguments(c)), shownArguments) + ", which is no JSON object", refused: true}, nil
	}
	examined := t.Examines(len(t.calls), tool.Name, tool.Own())
	if t.Model == scripted && !examined {
		if err := checkArguments(ctx, tool, c.Arguments); err != nil {
			return outcome{}, err
		}
	}
	for _, name := range []string{tool.Name, tool.Own()} {
		if res, rpcError, ok := t.mocks.call(ctx, name, c.Arguments); ok {
			return t.readResponse(tool, res, rpcError, outcome{mocked: true})
		}
	}
	named := tool.Def
	if tool.Name != tool.Own() { // with several servers, the user names SERVER__TOOL
		named = named.With("name", jsonv.String(tool.Name))
	}
	if t.policy.Allows(named) != "" {
		if examined {
			return outcome{text: "the tool " + allow.FindObjection(named), refused: true}, nil
		}
		return outcome{}, newFailedError("the model called %s, which %s, so it was not sent: declare it in mock or allow_writes", tool.Name, allow.FindObjection(named))
	}
	res, rpcError, ok := t.Call(ctx, tool, c.Arguments)
	if !ok {
		return outcome{}, ErrNoResponse
	}
	return t.readResponse(tool, res, rpcError, outcome{executed: true})
}

// shownArguments limits arguments in a message.
const shownArguments = 80

// formatArguments returns the arguments of a call as the model wrote them, a text in quotes.
func formatArguments(c model.Call) string {
	if c.Arguments.IsAbsent() {
		return jsonv.String(c.Raw).String()
	}
	return c.Arguments.String()
}

// readResponse reads the response to a call.
func (t *Trial) readResponse(tool *Tool, res, rpcError jsonv.Value, o outcome) (outcome, error) {
	seen := target.Observation{Result: res, Error: rpcError}
	o.refused, o.result = seen.Failed(), res
	if res.Kind() == jsonv.KindObject && res.Lookup(target.KeyIsError).IsAbsent() { // as in the target result
		o.result = res.With(target.KeyIsError, jsonv.Bool(false))
	}
	if seen.HasError() {
		o.text = rpcError.Lookup("message").Text()
	} else {
		o.text = readText(res)
	}
	if o.refused && t.Model == scripted && !t.Refusals && !t.Examines(len(t.calls), tool.Name, tool.Own()) {
		return o, newFailedError("the server refused %s: %s", tool.Name, seen.Failure())
	}
	return o, nil
}

// readText returns the form of a result for the model: its texts, otherwise its
// structuredContent, otherwise the kinds of its content.
func readText(res jsonv.Value) string {
	seen := target.Observation{Result: res}
	if text, _ := seen.Text(); text.Kind() == jsonv.KindString {
		return text.Text()
	}
	if v := res.Lookup("structuredContent"); v.Kind() == jsonv.KindObject {
		return v.String()
	}
	out := ""
	for _, block := range res.Lookup("content").Elems() {
		out += fmt.Sprintf("[%s]", block.Lookup("type").Text())
	}
	return out
}
