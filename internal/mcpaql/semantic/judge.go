package semantic

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/evidence"
	"mcptest/internal/mcpaql/reference"
	llm "mcptest/internal/model"
)

// Asking configures how models are asked. The zero value asks none.
type Asking struct {
	Model *llm.Client // answers the questions; nil: no semantic evaluation
	Judge llm.Judge   // judges the answers; nil: the phrases decide
	Votes int         // of the judge, 1
	Cache JudgeCache  // of verdicts; may be nil
	Again bool        // ask the judge again about content that it has judged before
	// Progress gets the name of each answer before it is judged; may be nil.
	Progress func(name string)
}

// JudgeCache keeps verdicts by the key of what was judged.
type JudgeCache interface {
	Get(key string) (llm.Verdict, bool)
	Put(key string, v llm.Verdict)
}

// Patience decides when to stop asking a model or judge that fails. One failure may be the
// fault of the question; two in a row are not.
type Patience struct {
	row  int
	last error
}

// Record records an outcome and returns it.
func (p *Patience) Record(err error) error {
	if err == nil || errors.Is(err, llm.ErrRefused) {
		p.row = 0
		return err
	}
	p.row++
	p.last = err
	if errors.Is(err, llm.ErrCap) || errors.Is(err, context.Canceled) || errors.Is(err, ErrGivenUp) {
		p.row = maxInRow
	}
	return err
}

// ExplainEnd returns the reason why no more questions are asked; nil while they are.
func (p *Patience) ExplainEnd() error {
	if p.row >= maxInRow {
		return p.last
	}
	return nil
}

const maxInRow = 2

// ErrGivenUp reports that no further questions can be asked.
var ErrGivenUp = errors.New("the adapter has ended")

// Limits of one question.
const (
	MaxTurns     = 6        // how often a model may call tools
	MaxTurnCalls = 10       // calls of one turn; the rest is ignored
	MaxArguments = 64 << 10 // bytes of a call's arguments
)

// JudgeAnswers implements the part of tier 2 that asks a judge: it stores a verdict,
// or the reason why there is none, with every answer of the evidence. A verdict of
// the same judge on the same content is kept, unless o.Again is set. Without a judge
// it does nothing.
func JudgeAnswers(ctx context.Context, e *evidence.Evidence, o Asking) {
	if o.Judge == nil {
		return
	}
	var p Patience
	for i := range e.Semantics {
		s := &e.Semantics[i]
		if o.Progress != nil {
			o.Progress(s.Name)
		}
		k, votes := makeCase(s), max(o.Votes, 1)
		key := o.Judge.Key(k, votes)
		if !o.Again && isJudgedBy(s, o, key, votes) {
			continue
		}
		v, err := o.askJudge(ctx, k, votes, key, &p)
		if err != nil {
			s.Unjudged = display.Truncate(display.OneLine(err.Error()), 500)
			continue
		}
		s.Unjudged = ""
		s.Judge = &evidence.Judge{
			Kind:    o.Judge.Kind(),
			Model:   o.Judge.Model(),
			Verdict: v.Verdict,
			Reason:  v.Reason,
			Rubric:  llm.RubricVersion,
			Votes:   v.Votes,
			Key:     key,
		}
	}
	if e.IsLive() {
		e.Live = e.Live.With("judge", JudgeNote(o.Judge))
	}
}

// askJudge returns the verdict on a case: a stored one, or else that of the judge, which is then
// stored. key is "" for a case whose verdict cannot be stored.
func (o Asking) askJudge(ctx context.Context, k llm.Case, votes int, key string, p *Patience) (llm.Verdict, error) {
	if err := p.ExplainEnd(); err != nil {
		return llm.Verdict{}, err
	}
	stores := o.Cache != nil && key != ""
	if stores && !o.Again {
		if v, kept := o.Cache.Get(key); kept && v.Valid() {
			return v, nil
		}
	}
	v, err := o.Judge.Judge(ctx, k, votes)
	if err = p.Record(err); err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err == nil && stores {
		o.Cache.Put(key, v)
	}
	return v, err
}

// isJudgedBy reports whether a case has a verdict that this judge would be
// asked for: of the same judge, on the same answer as far as that is known.
func isJudgedBy(s *evidence.SemanticCase, o Asking, key string, votes int) bool {
	j := s.Judge
	if j == nil || s.Unjudged != "" {
		return false
	}
	if j.Kind != o.Judge.Kind() || j.Model != o.Judge.Model() || j.Rubric != llm.RubricVersion {
		return false
	}
	if key != "" {
		return j.Key == key
	}
	return len(j.Votes) == votes
}

// Limits on how much of an answer and of a call's parameters a judge sees, in
// characters.
const (
	judgedAnswer = 20_000
	judgedParams = 2000
)

// makeCase returns the case that a judge sees. If a bundle contains neither question
// nor facts, such as one written by hand, they are derived from its expectations.
func makeCase(s *evidence.SemanticCase) llm.Case {
	first := s.ToolCalls[:min(len(s.ToolCalls), MaxTurns*MaxTurnCalls)]
	calls, _ := json.Marshal(jsonv.List(first, func(t evidence.ToolCall) jsonv.Value {
		params := t.Params.OrNull()
		if text := params.String(); len(text) > judgedParams {
			params = jsonv.String(display.Truncate(text, judgedParams))
		}
		return jsonv.ObjectOf("operation", display.Truncate(t.Operation.Text(), 200), "params", params)
	}))
	k := llm.Case{Question: cmp.Or(s.Question, s.Name), Facts: s.Facts, Calls: string(calls)}
	if !s.ResponseText.IsAbsent() {
		k.Answer = display.Truncate(reference.FormatText(s.ResponseText), judgedAnswer)
	}
	if k.Facts == "" {
		k.Facts = deriveFacts(s)
	}
	return k
}

// deriveFacts says in words what is expected of an answer.
func deriveFacts(s *evidence.SemanticCase) string {
	var facts []string
	add := func(what string, names []string) {
		if len(names) > 0 {
			facts = append(facts, fmt.Sprintf("%s: %s.", what, strings.Join(names, ", ")))
		}
	}
	add("A right answer mentions", s.RequiredPatterns)
	for _, g := range s.PhraseGroups {
		add("A right answer says one of", g)
	}
	add("Operations to be called", s.ExpectedOperations)
	add("Parameters to be used", s.ExpectedParameters)
	return strings.Join(facts, " ")
}

// JudgeNote returns a live bundle's note about the judge.
func JudgeNote(j llm.Judge) jsonv.Value {
	o := jsonv.ObjectOf("kind", j.Kind(), "name", j.Model())
	if c, ok := j.(*llm.Client); ok {
		calls, tokens := c.Used()
		o = evidence.Merge(o, jsonv.ObjectOf("calls", calls, "tokens", tokens))
	}
	return o
}

// AddVerdicts returns a bundle with the verdicts of evidence that was read from
// it and judged. Everything else in it stays as it is.
func AddVerdicts(bundle jsonv.Value, e *evidence.Evidence) (jsonv.Value, error) {
	var tests []jsonv.Value
	for i, c := range bundle.Lookup("semantic_tests").Elems() {
		if i >= len(e.Semantics) {
			return bundle, errors.New("the evidence is that of another bundle")
		}
		verdict := evidence.Encode(e.Semantics[i])
		for _, key := range []string{"x_judge", "x_unjudged"} {
			c = c.Without(key).With(key, verdict.Lookup(key))
		}
		tests = append(tests, c)
	}
	if len(tests) > 0 {
		bundle = bundle.With("semantic_tests", jsonv.Array(tests...))
	}
	return bundle.With("x_live", bundle.Lookup("x_live").With("judge", e.Live.Lookup("judge"))), nil
}
