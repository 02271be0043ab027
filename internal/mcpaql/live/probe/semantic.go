package probe

import (
	"context"
	"fmt"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lists"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/live/catalog"
	"mcptest/internal/mcpaql/live/guard"
	"mcptest/internal/mcpaql/semantic"
	llm "mcptest/internal/model"
)

// The semantic evaluation has three steps. Collecting asks a model that sees only the
// adapter's tools; tier 1 searches its answers for patterns; tier 2 compares its
// calls with the introspection and has its answers judged. The questions and the
// expected answers come from introspection. The bundle contains everything, so that
// the answers can be judged again, and the tiers repeated, without the adapter.

const semanticSystem = "You use an adapter through its tools. Find out what it can do before you answer. " +
	"Answer in a few plain sentences that name the operations and parameters you would use."

// semanticProbe asks the language model the questions of the semantic evaluation.
type semanticProbe struct{ run *guard.Run }

// testSemantics asks the questions and has the answers judged.
func (pr semanticProbe) testSemantics() {
	if pr.run.Options.Asking.Model == nil {
		return
	}
	tools := lists.Map(pr.run.Catalog.Tools, func(t catalog.Tool) llm.Tool {
		return llm.Tool{Name: t.Name, Description: t.Description, Schema: t.Schema}
	})
	var p semantic.Patience
	for _, s := range scenarios(pr).build() {
		pr.run.ReportPhase("asking the model: "+s.Name, len(pr.run.Catalog.Operations), len(pr.run.Catalog.Operations))
		err := p.ExplainEnd()
		if err == nil {
			err = p.Record(pr.askModel(&s, tools))
		}
		if err != nil { // a question that was not asked is not evidence
			why := display.Truncate(err.Error(), 500)
			pr.run.Unasked = append(pr.run.Unasked, jsonv.ObjectOf("name", s.Name, "reason", why))
			continue
		}
		pr.run.Evidence.Semantics = append(pr.run.Evidence.Semantics, s)
	}
	a := pr.run.Options.Asking
	a.Progress = func(name string) {
		pr.run.ReportPhase("asking the judge: "+name, len(pr.run.Catalog.Operations), len(pr.run.Catalog.Operations))
	}
	semantic.JudgeAnswers(pr.run.Caller.Ctx, pr.run.Evidence, a)
}

// askModel lets the model call tools until it answers.
func (pr semanticProbe) askModel(s *evidence.SemanticCase, tools []llm.Tool) error {
	turns := []llm.Message{{Role: "user", Text: s.Question}}
	for range semantic.MaxTurns {
		switch {
		case pr.run.Caller.Ctx.Err() != nil:
			return context.Cause(pr.run.Caller.Ctx)
		case pr.run.Caller.Dead != "":
			return fmt.Errorf("%w: %s", semantic.ErrGivenUp, pr.run.Caller.Dead)
		}
		m, err := pr.run.Options.Asking.Model.Chat(pr.run.Caller.Ctx, semanticSystem, turns, tools)
		if err != nil {
			return err
		}
		s.ResponseText = jsonv.String(display.Truncate(m.Text, 20_000))
		if len(m.Calls) == 0 {
			return nil
		}
		m.Calls = m.Calls[:min(len(m.Calls), semantic.MaxTurnCalls)]
		for i, call := range m.Calls {
			if len(call.Arguments.Append(nil)) > semantic.MaxArguments {
				m.Calls[i].Arguments = jsonv.Value{}
			}
		}
		turns = append(turns, m)
		for _, call := range m.Calls {
			op := call.Arguments.Lookup("operation")
			if op.Kind() != jsonv.KindString {
				op = jsonv.Value{}
			}
			s.ToolCalls = append(s.ToolCalls, evidence.ToolCall{
				Operation: op,
				Params:    pr.run.Caller.Redact(call.Arguments.Lookup("params")),
			})
			turns = append(turns, llm.Message{Role: "tool", ID: call.ID, Text: rehearsal(pr).answer(call)})
		}
	}
	return nil
}
