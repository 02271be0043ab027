package probe

import (
	"context"
	"fmt"
	"slices"
	"strings"

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
	for _, s := range pr.buildScenarios() {
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
			turns = append(turns, llm.Message{Role: "tool", ID: call.ID, Text: pr.rehearse(call)})
		}
	}
	return nil
}

// rehearse answers a model's call. A documented call that only reads is carried out;
// any other call is recorded and not carried out, in every mode.
func (pr semanticProbe) rehearse(call llm.Call) string {
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
		if refused := pr.refuseRehearsal(part); refused != "" {
			return refused
		}
	}
	r := pr.run.Caller.Send(call.Name, call.Arguments)
	if r.Number == 0 {
		return "the call was not sent: " + r.Cause.Error()
	}
	return display.Truncate(pr.run.Caller.RedactAnswer(r).String(), 20_000)
}

// refuseRehearsal returns the answer to a request that is not sent, "" if it may be.
func (pr semanticProbe) refuseRehearsal(part jsonv.Value) string {
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

// buildScenarios builds the questions of the four families (S 5.3): discovery, field
// selection, understanding an error, choosing an operation.
func (pr semanticProbe) buildScenarios() (all []evidence.SemanticCase) {
	families := []func() *evidence.SemanticCase{
		pr.askForCreates, pr.askForFields, pr.askAboutError, pr.askForOperation,
	}
	for _, question := range families {
		if s := question(); s != nil {
			all = append(all, *s)
		}
	}
	return all
}

// askForCreates asks what can be created; nil if nothing can.
func (pr semanticProbe) askForCreates() *evidence.SemanticCase {
	var creates []string
	for _, op := range pr.run.Catalog.Operations {
		if op.Category == "CREATE" {
			creates = append(creates, op.Name)
		}
	}
	if len(creates) == 0 {
		return nil
	}
	s := &evidence.SemanticCase{
		Name:               "Discovery: what can be created",
		Question:           "Which operations of this adapter create something? Name all of them.",
		Facts:              "The CREATE operations are " + strings.Join(creates, ", ") + ".",
		RequiredPatterns:   creates[:1],
		ExpectedOperations: []string{"introspect"},
	}
	for _, name := range creates[:min(len(creates), 3)] {
		s.PhraseGroups = append(s.PhraseGroups, []string{name})
	}
	return s
}

// askForFields asks how to get a part of an answer; nil if no operation offers that.
func (pr semanticProbe) askForFields() *evidence.SemanticCase {
	for _, op := range pr.run.Catalog.Operations {
		keys := catalog.ListScalarKeys(catalog.Sample(pr.run.Base[op.Name].Data()))
		if op.Category != "READ" || op.FindParam("fields") == nil || len(keys) < 2 {
			continue
		}
		question := fmt.Sprintf("You need nothing but %s and %s of what %s answers. How do you ask for just these?",
			keys[0], keys[1], op.Name)
		return &evidence.SemanticCase{
			Name:               "Field selection: " + op.Name,
			Question:           question,
			Facts:              op.Name + " takes the parameter fields: " + op.FindParam("fields").Doc,
			RequiredPatterns:   []string{"fields"},
			PhraseGroups:       [][]string{{keys[0]}, {keys[1]}},
			ExpectedParameters: []string{"fields"},
		}
	}
	return nil
}

// askAboutError asks what an error of the adapter means; nil if it returned none.
func (pr semanticProbe) askAboutError() *evidence.SemanticCase {
	for _, m := range pr.run.Evidence.MissingRequired {
		text := evidence.Message(m.Response).Text()
		if m.Operation == "introspect" || !evidence.IsRefused(m.Response) || text == "" {
			continue
		}
		question := fmt.Sprintf("You called %s and got this error: %s\nWhat was wrong, and what do you do?",
			m.Operation, display.Truncate(text, 500))
		facts := fmt.Sprintf("The required parameter %s of %s was missing; the call is to be repeated with it.",
			m.Parameter, m.Operation)
		remedies := []string{"missing", "required", "add", "include", "provide", "supply", "with", "without"}
		return &evidence.SemanticCase{
			Name:             "Error understanding: " + m.Operation,
			Question:         question,
			Facts:            facts,
			RequiredPatterns: []string{m.Parameter},
			PhraseGroups:     [][]string{{m.Parameter}, remedies},
		}
	}
	return nil
}

// askForOperation asks for something that one operation does; nil if there is none that
// may be called.
func (pr semanticProbe) askForOperation() *evidence.SemanticCase {
	for _, op := range pr.run.Catalog.Operations {
		description := op.Detail.Lookup("description").Text()
		lists := op.Verb == "list" && op.Category == "READ"
		if !lists || description == "" || pr.run.Gate.Skipped[op.Name] != "" {
			continue
		}
		wanted := display.Truncate(strings.ReplaceAll(description, op.Name, "it"), 300)
		return &evidence.SemanticCase{
			Name:               "Operation selection: " + op.Name,
			Question:           "Do this with the adapter's tools, then say which operation you used: " + wanted,
			Facts:              "The operation for it is " + op.Name + ".",
			RequiredPatterns:   []string{op.Name},
			PhraseGroups:       [][]string{{op.Name}},
			ExpectedOperations: []string{op.Name},
		}
	}
	return nil
}
