package agent

import (
	"context"
	"fmt"
	"strings"

	"mcptest/internal/base/jsonschema"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/model"
	spec "mcptest/internal/spec/agent"
)

const scripted = spec.Script

// Player answers what a test says, in order.
type Player struct {
	Script []*spec.Answer
	next   int
}

// Answer returns the next answer. After the last one the player has nothing to say.
func (p *Player) Answer(context.Context, string, []model.Message, []model.Tool) (model.Answer, error) {
	out := model.Answer{Message: model.Message{Role: "assistant"}, Model: scripted}
	if p.next == len(p.Script) {
		return out, nil
	}
	a := p.Script[p.next]
	p.next++
	out.Text = a.Say
	for i, c := range a.Made() {
		out.Calls = append(out.Calls, model.Call{
			ID:        fmt.Sprintf("call_%d_%d", p.next, i+1),
			Name:      c.Tool,
			Arguments: c.Args,
		})
	}
	return out, nil
}

// checkArguments fails a script with arguments that the tool does not accept.
func checkArguments(ctx context.Context, tool *Tool, args jsonv.Value) error {
	schema := tool.Def.Lookup("inputSchema")
	if schema.IsAbsent() {
		return nil
	}
	s, err := jsonschema.Compile(schema, jsonschema.Options{})
	if err != nil {
		return newFailedError("script: the inputSchema of %s is not valid: %v", tool.Name, err)
	}
	problems, err := s.Validate(ctx, args)
	if err != nil {
		return newFailedError("script: the arguments of %s could not be compared with its inputSchema: %v", tool.Name, err)
	}
	if len(problems) > 0 {
		return newFailedError("script: the arguments of %s do not fit its inputSchema: %s", tool.Name, strings.TrimPrefix(problems[0].InstancePath+": "+problems[0].Msg, ": "))
	}
	return nil
}
