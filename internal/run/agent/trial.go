package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"mcptest/internal/assert/trajectory"
	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lists"
	"mcptest/internal/model"
	"mcptest/internal/report/result"
	"mcptest/internal/run/allow"
	spec "mcptest/internal/spec/agent"
)

// Why a conversation ended.
const (
	StopEnd       = "end"
	StopTurns     = "turns"
	StopRefusal   = "refusal"
	StopTruncated = "truncated"
	StopBudget    = "budget"
)

// Speaker answers a conversation: a model, or a script.
type Speaker interface {
	Answer(ctx context.Context, system string, turns []model.Message, tools []model.Tool) (model.Answer, error)
}

// FailedError is a reason why a trial failed: something that the model or the test did
// wrong. Other errors say that there is no outcome.
type FailedError struct{ Msg string }

// Error returns the reason.
func (e *FailedError) Error() string { return e.Msg }

func newFailedError(format string, args ...any) error {
	return &FailedError{fmt.Sprintf(format, args...)}
}

// Trial is one conversation.
type Trial struct {
	*spec.Conversation
	Offers   []Offer
	Speaker  Speaker
	Price    *spec.Price
	Mentions []trajectory.Mention
	Warn     func(...string)
	// Call calls a tool at its server. ok is false if there was no response: the trial
	// ends, and its outcome is known already.
	Call func(ctx context.Context, t *Tool, args jsonv.Value) (res, rpcError jsonv.Value, ok bool)
	// Changed returns the tools again if a server has announced since the last time that
	// its list changed; may be nil.
	Changed func(ctx context.Context) (offers []Offer, changed bool, err error)
	// MayChange says that a server declares that its list of tools may change.
	MayChange bool

	tools  []*Tool
	seen   []*Tool // in any list, by their last definition
	policy allow.Policy
	mocks  *mocks
	turns  []model.Message
	calls  []jsonv.Value
	cost   float64
	record result.Conversation
	warned []string
	// Uncounted says, after Run, why the number of tokens is not known; "" if it is.
	Uncounted string
}

// ErrNoResponse says that a server did not respond; the host of the trial knows why.
var ErrNoResponse = errors.New("a server did not respond")

// Run has the conversation. It returns the record and what assertions examine; these are
// complete up to the point where an error ended it.
func (t *Trial) Run(ctx context.Context) (result.Conversation, jsonv.Value, error) {
	began := time.Now()
	t.tools = Tools(t.Offers)
	t.seen = t.tools
	t.mocks = newMocks(t.Mocks)
	t.allow()
	defer t.mocks.close()
	t.record = result.Conversation{
		Model:    t.Model,
		System:   t.System,
		Messages: []result.ModelMessage{{Role: "user", Text: t.Prompt}},
	}
	for _, tool := range t.tools {
		t.record.Tools = append(t.record.Tools, tool.Name)
	}
	stop, err := t.converse(ctx)
	if err == nil && t.MayChange {
		err = t.checkKnown()
	}
	t.record.Stop, t.record.DurationMS = stop, float64(time.Since(began).Microseconds())/1000
	switch {
	case err != nil || t.Stops || stop == StopEnd:
	case stop == StopRefusal:
		err = newFailedError("the model refused to answer: %s", cmp.Or(t.findFinal(), "without a text"))
	default:
		err = newFailedError("the conversation ended after %s without a final answer (stop: %s)", display.Count(t.record.Turns, "turn"), stop)
	}
	return t.record, t.buildObserved(), err
}

// converse returns why the conversation ended.
func (t *Trial) converse(ctx context.Context) (stop string, err error) {
	if err := t.checkDescribed(); err != nil {
		return "", err
	}
	if !t.MayChange {
		if err := t.checkKnown(); err != nil {
			return "", err
		}
	}
	t.turns = []model.Message{{Role: "user", Text: t.Prompt}}
	for {
		if t.record.Turns == t.Conversation.Turns {
			return StopTurns, nil
		}
		tools := lists.Map(t.tools, func(tool *Tool) model.Tool { return tool.makeDefinition() })
		a, err := t.Speaker.Answer(ctx, t.System, t.turns, tools)
		if err != nil {
			return "", err
		}
		t.addAnswer(a)
		switch {
		case a.Stop == model.Truncated:
			return StopTruncated, errors.New("the answer was cut off at the limit of its tokens; raise max_tokens of the model")
		case a.Stop == model.Refused:
			return StopRefusal, nil
		case len(a.Calls) == 0 && a.Text == "" && len(t.calls) == 0:
			return "", errors.New("the model's answer is empty: it has neither a text nor a call, so there is nothing to examine")
		case len(a.Calls) == 0:
			return StopEnd, nil
		}
		for i, c := range a.Calls {
			if err := t.call(ctx, c, i); err != nil {
				return "", err
			}
		}
		if err := t.reread(ctx); err != nil {
			return "", err
		}
		if t.isBudgetSpent() {
			return StopBudget, nil
		}
	}
}

// isBudgetSpent reports whether the trial has reached a limit of its budget.
func (t *Trial) isBudgetSpent() bool {
	b := t.Budget
	if b == nil {
		return false
	}
	return b.Tokens > 0 && t.record.Tokens() >= b.Tokens || b.USD > 0 && t.cost >= b.USD
}

// allow fills the names of the tools that may write.
func (t *Trial) allow() {
	t.policy.Named = nil
	for _, name := range t.AllowWrites {
		for _, tool := range findTools(t.tools, name) {
			t.policy.Named = append(t.policy.Named, tool.Name)
		}
	}
}

// reread reads the lists again if a server has announced a change: the next request has
// the tools as they are then.
func (t *Trial) reread(ctx context.Context) error {
	if t.Changed == nil {
		return nil
	}
	offers, changed, err := t.Changed(ctx)
	if err != nil || !changed {
		return err
	}
	t.tools = Tools(offers)
	t.allow()
	gone := func(old *Tool) bool {
		return slices.ContainsFunc(t.tools, func(n *Tool) bool { return n.Name == old.Name })
	}
	t.seen = append(slices.Clone(t.tools), slices.DeleteFunc(slices.Clone(t.seen), gone)...)
	for _, tool := range t.tools {
		if !slices.Contains(t.record.Tools, tool.Name) {
			t.record.Tools = append(t.record.Tools, tool.Name)
		}
	}
	return nil
}

// checkDescribed fails a test with descriptions of tools that no server offers: they are no
// trial of the model.
func (t *Trial) checkDescribed() error {
	for i, o := range t.Offers {
		for _, d := range o.Descriptions {
			if !slices.ContainsFunc(o.Tools, func(def jsonv.Value) bool { return def.Lookup("name").Text() == d.Tool }) {
				return fmt.Errorf("describe: %s: %s", d.Pos, explainUnknown(Tools(t.Offers[i:i+1]), d.Tool))
			}
		}
	}
	return nil
}

// checkKnown fails a test that names tools that no server offers, or several.
func (t *Trial) checkKnown() error {
	mentions := slices.Clone(t.Mentions)
	if t.Mocks != nil {
		for _, tool := range t.Mocks.Tools {
			mentions = append(mentions, trajectory.Mention{In: "mock", Name: tool.Name})
		}
	}
	for _, name := range t.AllowWrites {
		mentions = append(mentions, trajectory.Mention{In: "allow_writes", Name: name})
	}
	for _, m := range mentions {
		text, n := explainUnknown(t.seen, m.Name), len(findTools(t.seen, m.Name))
		switch {
		case n == 1 || n > 1 && m.Absent:
		case !m.Absent:
			return newFailedError("%s: %s", m.In, text)
		case strings.Contains(text, "did you mean"): // a guard against a tool that is not there yet
			t.Warn(m.In + ": " + text)
		}
	}
	return nil
}

// addAnswer adds an answer of the model to the record.
func (t *Trial) addAnswer(a model.Answer) {
	r := &t.record
	r.Turns++
	r.InputTokens, r.OutputTokens = r.InputTokens+a.Input, r.OutputTokens+a.Output
	t.Uncounted = cmp.Or(t.Uncounted, a.Uncounted)
	t.cost = t.Price.Cost(r.InputTokens, r.OutputTokens)
	if t.Price != nil {
		r.CostUSD = &t.cost
	}
	r.ModelName = cmp.Or(a.Model, r.ModelName)
	m := result.ModelMessage{Role: "assistant", Text: a.Text, InputTokens: a.Input, OutputTokens: a.Output}
	for _, c := range a.Calls {
		name := c.Name
		if tool := t.find(c.Name); tool != nil {
			name = tool.Name
		}
		m.Calls = append(m.Calls, result.ModelCall{Name: name, Arguments: c.Text(), Filled: c.Filled})
		if c.Filled {
			t.warnOnce(name + ": the model wrote " + jsonv.String(c.Raw).String() + " for the arguments, which is taken for {}, as clients do")
		}
	}
	r.Messages = append(r.Messages, m)
	t.turns = append(t.turns, a.Message)
}

// warnOnce warns of what may happen with every answer.
func (t *Trial) warnOnce(text string) {
	if !slices.Contains(t.warned, text) {
		t.warned = append(t.warned, text)
		t.Warn(text)
	}
}

// findFinal returns the text of the last answer.
func (t *Trial) findFinal() string {
	for i := len(t.record.Messages) - 1; i > 0; i-- {
		if m := t.record.Messages[i]; m.Role == "assistant" {
			return m.Text
		}
	}
	return ""
}

// buildObserved returns the values of the targets.
func (t *Trial) buildObserved() jsonv.Value {
	r := t.record
	tokens := jsonv.ObjectOf("input", r.InputTokens, "output", r.OutputTokens, "total", r.Tokens())
	var final, cost jsonv.Value // absent: nothing was said, no price is known
	if text := t.findFinal(); text != "" {
		final = jsonv.String(text)
	}
	if t.Price != nil {
		cost = jsonv.Float(t.cost)
	}
	return jsonv.ObjectOf(
		"calls", jsonv.Array(t.calls...),
		"turns", r.Turns,
		"tokens", tokens,
		"stop", r.Stop,
		"model", cmp.Or(r.ModelName, r.Model),
		"final", final,
		"cost_usd", cost,
	)
}
