package aql

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"mcptest/internal/jsonv"
	llm "mcptest/internal/judge"
)

// The semantic evaluation has three steps. Collecting puts questions to a
// model that sees nothing but the adapter's tools; tier 1 looks for patterns
// in its answers; tier 2 holds its calls against the introspection and has
// its answers judged. The questions, and what is right, come from
// introspection. Everything stands in the bundle, so that the tiers can be
// gone through again without a model.

// Asking is how a live run asks models. The zero value asks none.
type Asking struct {
	Model *llm.Client // answers the questions; nil: no semantic evaluation
	Judge *llm.Client // judges the answers; nil: the phrases decide
	Votes int         // of the judge, 1
	Cache JudgeCache  // of verdicts; may be nil
}

// JudgeCache keeps verdicts by the key of what was judged.
type JudgeCache interface {
	Get(key string) (llm.Verdict, bool)
	Put(key string, v llm.Verdict)
}

// maxTurns is how often a model may call tools for one question.
const maxTurns = 6

const semanticSystem = "You use an adapter through its tools. Find out what it can do before you answer. Answer in a few plain sentences that name the operations and parameters you would use."

// scenario is one question with what is right.
type scenario struct {
	SemanticCase
	question, facts string
}

// scenarios makes the questions of the four families (S 5.3): discovery,
// field selection, understanding an error, choosing an operation.
func (c *collector) scenarios() (out []scenario) {
	var creates []string
	for _, op := range c.ops {
		if op.category == "CREATE" {
			creates = append(creates, op.name)
		}
	}
	if len(creates) > 0 {
		s := scenario{question: "Which operations of this adapter create something? Name all of them.", facts: "The CREATE operations are " + strings.Join(creates, ", ") + "."}
		s.Name = "Discovery: what can be created"
		s.RequiredPatterns, s.ExpectedOperations = creates[:1], []string{"introspect"}
		for _, name := range creates[:min(len(creates), 3)] {
			s.PhraseGroups = append(s.PhraseGroups, []string{name})
		}
		out = append(out, s)
	}
	for _, op := range c.ops {
		if keys := scalarKeys(sample(c.base[op.name].data())); op.category == "READ" && op.param("fields") != nil && len(keys) > 1 {
			s := scenario{
				question: fmt.Sprintf("You need nothing but %s and %s of what %s answers. How do you ask for just these?", keys[0], keys[1], op.name),
				facts:    op.name + " takes the parameter fields: " + op.param("fields").doc,
			}
			s.Name, s.RequiredPatterns, s.ExpectedParameters = "Field selection: "+op.name, []string{"fields"}, []string{"fields"}
			s.PhraseGroups = [][]string{{keys[0]}, {keys[1]}}
			out = append(out, s)
			break
		}
	}
	for _, m := range c.e.MissingRequired {
		if text := message(m.Response).Text(); m.Operation != "introspect" && refused(m.Response) && text != "" {
			s := scenario{
				question: fmt.Sprintf("You called %s and got this error: %s\nWhat was wrong, and what do you do?", m.Operation, clip(text, 500)),
				facts:    fmt.Sprintf("The required parameter %s of %s was missing; the call is to be repeated with it.", m.Parameter, m.Operation),
			}
			s.Name, s.RequiredPatterns = "Error understanding: "+m.Operation, []string{m.Parameter}
			s.PhraseGroups = [][]string{{m.Parameter}, {"missing", "required", "add", "include", "provide", "supply", "with", "without"}}
			out = append(out, s)
			break
		}
	}
	for _, op := range c.ops {
		description := op.detail.Lookup("description").Text()
		if op.verb == "list" && op.category == "READ" && description != "" && c.skipped[op.name] == "" {
			s := scenario{
				question: "Do this with the adapter's tools, then say which operation you used: " + clip(strings.ReplaceAll(description, op.name, "it"), 300),
				facts:    "The operation for it is " + op.name + ".",
			}
			s.Name, s.ExpectedOperations, s.RequiredPatterns = "Operation selection: "+op.name, []string{op.name}, []string{op.name}
			s.PhraseGroups = [][]string{{op.name}}
			out = append(out, s)
			break
		}
	}
	return out
}

// semantics puts the questions and has the answers judged.
func (c *collector) semantics() {
	if c.o.Asking.Model == nil || c.dead != "" || c.ctx.Err() != nil {
		return
	}
	var tools []llm.Tool
	for _, t := range c.tools {
		tools = append(tools, llm.Tool{Name: t.name, Description: t.description, Schema: t.schema})
	}
	for _, s := range c.scenarios() {
		c.phase("asking the model: "+s.Name, len(c.ops), len(c.ops))
		if err := c.askModel(&s, tools); err != nil {
			c.semanticError = err.Error()
			return // what was not asked is no evidence
		}
		c.haveJudged(&s)
		c.e.Semantics = append(c.e.Semantics, s.SemanticCase)
	}
}

// askModel lets the model call tools until it answers.
func (c *collector) askModel(s *scenario, tools []llm.Tool) error {
	turns := []llm.Message{{Role: "user", Text: s.question}}
	for range maxTurns {
		m, err := c.o.Asking.Model.Chat(c.ctx, semanticSystem, turns, tools)
		if err != nil {
			return err
		}
		s.ResponseText = jsonv.String(clip(m.Text, 20_000))
		if len(m.Calls) == 0 {
			return nil
		}
		turns = append(turns, m)
		for _, call := range m.Calls[:min(len(m.Calls), 10)] {
			op := call.Arguments.Lookup("operation")
			s.ToolCalls = append(s.ToolCalls, ToolCall{op.Text(), op.Kind() == jsonv.KindString, redactJSON(call.Arguments.Lookup("params"))})
		}
		for i, call := range m.Calls {
			text := "too many calls at once"
			if i < 10 {
				text = c.rehearse(call)
			}
			turns = append(turns, llm.Message{Role: "tool", ID: call.ID, Text: text})
		}
	}
	return nil
}

// rehearse answers a model's call: what only reads is done, everything else
// is noted and left undone, whatever the run's mode.
func (c *collector) rehearse(call llm.Call) string {
	if c.toolNamed(call.Name) == nil {
		return "there is no such tool"
	}
	one := func(args jsonv.Value) bool {
		op := c.op(args.Lookup("operation").Text())
		return op == nil || op.name == "introspect" || op.risk == riskRead
	}
	reads := one(call.Arguments)
	for _, part := range call.Arguments.Lookup("operations").Elems() {
		reads = reads && one(part)
	}
	if !reads {
		return `{"success":false,"error":{"code":"PERMISSION_DENIED","message":"This is a rehearsal: the call was noted and not carried out."}}`
	}
	r := c.send(call.Name, call.Arguments)
	return clip(r.response().String(), 20_000)
}

// haveJudged stores a judge's verdict with a case. A judge that cannot be
// asked leaves the phrases to decide.
func (c *collector) haveJudged(s *scenario) {
	a := c.o.Asking
	if a.Judge == nil {
		return
	}
	calls, _ := json.Marshal(each(s.ToolCalls, func(t ToolCall) jsonv.Value {
		return jsonv.Object(textMember("operation", t.Operation), jsonv.Member{Key: "params", Value: orNull(t.Params)})
	}))
	k := llm.Case{Question: s.question, Facts: s.facts, Answer: s.ResponseText.Text(), Calls: string(calls)}
	votes := max(a.Votes, 1)
	key := a.Judge.Key(k, votes)
	v, known := llm.Verdict{}, false
	if a.Cache != nil {
		v, known = a.Cache.Get(key)
	}
	if !known {
		var err error
		if v, err = a.Judge.Judge(c.ctx, k, votes); err != nil {
			if !errors.Is(err, context.Canceled) {
				c.semanticError = "the judge: " + err.Error()
			}
			return
		}
		if a.Cache != nil {
			a.Cache.Put(key, v)
		}
	}
	s.Judge = &Judge{Kind: "model", Model: a.Judge.Model(), Verdict: Verdict(v.Verdict), Reason: v.Reason, Rubric: llm.RubricVersion, Votes: v.Votes}
}

func orNull(v jsonv.Value) jsonv.Value {
	if v.IsAbsent() {
		return jsonv.Null()
	}
	return v
}
