package expect

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	"mcptest/internal/assert/match"
	"mcptest/internal/assert/shown"
	"mcptest/internal/assert/target"
	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
)

// Verdict is the result of evaluating a tree.
type Verdict struct {
	Pass    bool
	Message string // one line: the reason of a failure
	// Score is the combined score; set if and only if Scored is true.
	Score *float64
	// Scored is set if the test has a threshold. Otherwise the weights of Items have
	// no effect, except inside sets.
	Scored  bool
	Items   []ItemResult
	Metrics []MetricResult
	// Implicit is set if the only expectation was that the call succeeds.
	Implicit bool
	Notes    []string // additional information for the reader
	// Unexamined is set if the call failed, and no assertion examines that.
	Unexamined bool
}

// IfExpected ends the message about such a call.
const IfExpected = "; if that is expected: - {target: refusal, matcher: {exists: true}}"

// ItemResult is the result of one item.
type ItemResult struct {
	Pos             source.Pos
	Name            string
	Target, Matcher string // of an assertion
	Pass, Set       bool
	// Score is 1 or 0, or between them for graded matchers; that of a set is its
	// weighted pass-fraction.
	Score, Weight    float64
	Threshold        *float64 // of a set
	Message          string   // one line: the reason of a failure, starting with the target
	Expected, Actual string
	Diff, Notes      []string
	// Unseen lists what an assertion that passed did not examine: omitted elements,
	// an empty list.
	Unseen []string
	Items  []ItemResult // of a set
}

// MetricResult is the value of one derived metric.
type MetricResult struct {
	Pos       source.Pos
	Name      string
	Value     float64
	Threshold *float64
	Passed    *bool // nil without a threshold
	Notes     []string
}

// Evaluate evaluates an observation. env may be nil.
func (t *Tree) Evaluate(ctx context.Context, o *target.Observation, env *match.Env) Verdict {
	if env == nil {
		env = &match.Env{}
	}
	v := Verdict{Scored: t.Threshold != nil, Implicit: len(t.Items) == 0 && t.MaxDuration == nil}
	v.Items = evaluateItems(ctx, t.Items, o, env)
	var why []string
	callFailed := o.Failed() && !env.Examined
	// Failures caused by the failed call are not a second reason.
	msg := t.judgeItems(&v, callFailed)
	switch {
	case callFailed && !t.examines(o) && (msg == "" || !t.missesError(o, v.Items)):
		form := "result.isError"
		if o.HasError() {
			form = "error"
		}
		v.Unexamined = true
		why = append(why, o.Failure()+", and no assertion examines "+form+" or refusal"+IfExpected)
	case msg != "":
		why = append(why, msg)
	}
	if g := t.MaxDuration; g != nil && !Reaches(g.MaxMS, o.DurationMS) {
		took, limit := shown.Pair(o.DurationMS, g.MaxMS)
		why = append(why, "the call took "+took+" ms, more than max_duration_ms "+limit)
	}
	why = append(why, t.evaluateMetrics(&v)...)
	v.Pass = len(why) == 0
	v.Message = display.Truncate(strings.Join(why, "; "), shown.MaxMessage)
	return v
}

// examines reports whether an item examines the failure of the call, so that the
// author expected it.
func (t *Tree) examines(o *target.Observation) bool {
	if o.HasError() {
		return anyItem(t.Items, func(a *Assertion) bool { return a.Target.ExaminesError() })
	}
	return anyItem(t.Items, func(a *Assertion) bool {
		return a.Target.ExaminesFlag() || a.Matcher.NamesIsError && a.Target.WholeResult()
	})
}

// missesError reports whether an item fails because it examines a part of an error, and
// the call was refused by a result: it says what to examine instead.
func (t *Tree) missesError(o *target.Observation, results []ItemResult) bool {
	for i := range t.Items {
		if a := t.Items[i].Assertion; a != nil && !results[i].Pass && a.Target.Root() == "error" {
			_, miss := a.Target.Eval(o)
			return miss != nil
		}
	}
	return false
}

func anyItem(items []Item, is func(*Assertion) bool) bool {
	for i := range items {
		if set := items[i].Set; set != nil && anyItem(set.Items, is) || set == nil && is(items[i].Assertion) {
			return true
		}
	}
	return false
}

// judgeItems applies the threshold, or the rule that every item must pass, and
// returns the reason of a failure.
func (t *Tree) judgeItems(v *Verdict, callFailed bool) string {
	if t.Threshold == nil {
		return failures(v.Items)
	}
	score := fraction(t.Items, v.Items)
	if len(t.Items) == 0 && !callFailed {
		score = 1
	}
	v.Score = &score
	if Reaches(score, *t.Threshold) {
		return ""
	}
	is, want := shown.Pair(score, *t.Threshold)
	msg := "the score " + is + " is below the threshold " + want
	if first := failures(v.Items); first != "" {
		msg += ": " + first
	}
	return msg
}

// failures summarizes failing items in one line, or returns "".
func failures(items []ItemResult) string {
	failing, first := 0, ""
	for i := range items {
		if items[i].Pass {
			continue
		}
		failing++
		if failing == 1 {
			first = items[i].Message
			if items[i].Name != "" && !items[i].Set {
				first = display.Truncate(items[i].Name, shown.ShortKey) + ": " + first
			}
		}
	}
	if failing > 1 {
		return strconv.Itoa(failing) + " of " + strconv.Itoa(len(items)) + " failed, the first: " + first
	}
	return first
}

func evaluateItems(ctx context.Context, items []Item, o *target.Observation, env *match.Env) []ItemResult {
	if len(items) == 0 {
		return nil
	}
	results := make([]ItemResult, len(items))
	for i := range items {
		r := &results[i]
		r.Pos, r.Name, r.Weight = items[i].Pos, items[i].Name, items[i].Weight
		if items[i].Set != nil {
			items[i].Set.evaluate(ctx, o, env, r)
		} else {
			items[i].Assertion.evaluate(ctx, o, env, r)
		}
	}
	return results
}

func (s *Set) evaluate(ctx context.Context, o *target.Observation, env *match.Env, r *ItemResult) {
	r.Set, r.Threshold = true, &s.Threshold
	r.Items = evaluateItems(ctx, s.Items, o, env)
	r.Score = fraction(s.Items, r.Items)
	r.Pass = Reaches(r.Score, s.Threshold)
	if r.Pass {
		return
	}
	name := "the set"
	if r.Name != "" {
		name += " " + shown.Key(r.Name)
	}
	is, want := shown.Pair(r.Score, s.Threshold)
	r.Message = name + " scored " + is + ", below " + want + ": " + failures(r.Items)
}

func (a *Assertion) evaluate(ctx context.Context, o *target.Observation, env *match.Env, r *ItemResult) {
	r.Target, r.Matcher = a.Target.String(), a.Matcher.Name()
	s := a.Target.Subject(o)
	s.Name = r.Name
	out := a.Matcher.Match(ctx, s, env)
	r.Pass, r.Score, r.Notes = out.Pass, out.Score, out.Notes
	if len(s.Lacking) > 0 && a.Matcher.CountsLacking() {
		s.Notes = nil // each has counted them
	}
	if len(s.Notes) > 0 {
		r.Notes = append(r.Notes, s.Notes...)
	}
	if out.Pass {
		r.Unseen = append(out.Unseen, s.Notes...)
		return
	}
	r.Expected, r.Actual, r.Diff = out.Expected, out.Actual, shown.Lines(out.Diff)
	r.Message = a.Target.String() + ": " + out.Msg
	if a.Message != "" {
		r.Message = shown.Line(a.Message, shown.MaxLine) + ": " + r.Message
	}
	r.Message = display.Truncate(r.Message, shown.MaxMessage)
	if s.Elsewhere != "" && out.Actual != "nothing" {
		r.Notes = append(r.Notes, "the value was found in "+s.Elsewhere)
	}
	a.noteErrorText(o, s, r)
}

// noteErrorText adds the server's error text if a check of isError fails, or if a
// result with isError lacks a value.
func (a *Assertion) noteErrorText(o *target.Observation, s target.Subject, r *ItemResult) {
	if !o.Flagged() || !a.Target.IsErrorFlag() && (s.Miss == nil || a.Target.Root() == "error") {
		return
	}
	if text, _ := o.Text(); text.Kind() == jsonv.KindString && text.Text() != "" {
		r.Notes = append(r.Notes, "the server says: "+shown.Value(text, shown.Said))
	}
}

// evaluateMetrics computes the metrics in order and returns the reasons of those
// below their threshold.
func (t *Tree) evaluateMetrics(v *Verdict) (why []string) {
	if len(t.Metrics) == 0 {
		return nil
	}
	v.Metrics = make([]MetricResult, len(t.Metrics))
	unknown := make([]string, len(t.Metrics)) // why a metric has no value
	for i := range t.Metrics {
		m, r := &t.Metrics[i], &v.Metrics[i]
		r.Pos, r.Name, r.Threshold = m.Pos, m.Name, m.Threshold
		total := 0.0
		for _, term := range m.Terms {
			score, ok := lookupScore(term.Ref, v.Items, v.Metrics[:i])
			if !ok {
				note := t.unknownRef(term.Ref, i)
				unknown[i] = cmp.Or(unknown[i], note)
				r.Notes = append(r.Notes, note)
				v.Notes = append(v.Notes, "metric "+shown.Key(m.Name)+": "+note)
			} else if j := indexMetric(t.Metrics[:i], term.Ref); j >= 0 && unknown[j] != "" {
				unknown[i] = cmp.Or(unknown[i], "it refers to the metric "+shown.Key(term.Ref)+", and "+unknown[j])
			}
			r.Value += score * term.Weight
			total += term.Weight
		}
		if m.Average && total > 0 {
			r.Value /= total
		}
		if m.Threshold == nil {
			continue
		}
		known := unknown[i] == "" || *m.Threshold <= 0 // every score reaches 0, that of an unknown name too
		pass := known && Reaches(r.Value, *m.Threshold)
		r.Passed = &pass
		switch {
		case !known:
			why = append(why, "the metric "+shown.Key(m.Name)+" can't be compared with its threshold: "+unknown[i])
		case !pass:
			is, want := shown.Pair(r.Value, *m.Threshold)
			why = append(why, "the metric "+shown.Key(m.Name)+" is "+is+", below its threshold "+want)
		}
	}
	return why
}

// lookupScore returns a named score of items, items of sets or metrics.
func lookupScore(ref string, items []ItemResult, metrics []MetricResult) (float64, bool) {
	for i := range items {
		if items[i].Name == ref {
			return items[i].Score, true
		}
		for j := range items[i].Items {
			if items[i].Items[j].Name == ref {
				return items[i].Items[j].Score, true
			}
		}
	}
	for i := range metrics {
		if metrics[i].Name == ref {
			return metrics[i].Value, true
		}
	}
	return 0, false
}
