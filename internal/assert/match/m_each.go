package match

import (
	"context"
	"fmt"
	"iter"

	"mcptest/internal/assert/jsonpath"
	"mcptest/internal/assert/shown"
	"mcptest/internal/assert/target"
	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
)

const matcherRef = `{"$ref":"#/$defs/matcher"}`

var rowEach = Row{
	Name: "each", Doc: "every element of a list (or member of an object) passes this matcher; an empty one passes, with a warning",
	Example: `each: {gt: 0}`, Passes: `[1, 2]`, Fails: `[1, 0]`,
	schema: matcherRef, transparent: true, compile: compileElements(true),
}

var rowAny = Row{
	Name: "any", Doc: "at least one element of a list (or member of an object) passes this matcher",
	Example: `any: {contains: rust}`, Passes: `["go", "rust"]`, Fails: `["go"]`,
	schema: matcherRef, compile: compileElements(false),
}

func compileElements(every bool) func(*Compiler, *source.Node, string) Matcher {
	return func(c *Compiler, n *source.Node, path string) Matcher {
		if k := c.Matcher(n, path); k != nil {
			return elements{k, every}
		}
		return nil
	}
}

// elements applies a matcher to each element.
type elements struct {
	*Named
	every bool
}

func (m elements) Match(ctx context.Context, s target.Subject, env *Env) Outcome {
	if s.Miss != nil && len(s.Lacking) == 0 {
		return missOutcome(s, "every element "+m.words())
	}
	if kind := s.Value.Kind(); kind != jsonv.KindArray && kind != jsonv.KindObject {
		return unfit("a list", s.Value)
	}
	var t tally
	for path, e := range members(s.Value) {
		o := m.Named.Match(ctx, target.Subject{Target: s.Target + path, Value: e, Present: true}, env)
		if o.Pass && !m.every {
			return passed
		}
		t.add(o, path+": "+o.Msg)
		if o.Pass && len(o.Unseen) > 0 && len(t.unseen) < shown.MaxLines {
			t.unseen = append(t.unseen, path+": "+o.Unseen[0])
		}
	}
	if !m.every {
		return m.noneOutcome(t)
	}
	for _, miss := range s.Lacking {
		o := m.Named.Match(ctx, target.Subject{Target: s.Target, Miss: miss}, env)
		t.add(o, miss.Reason())
	}
	o := m.everyOutcome(t.failing, t.fails, t.unfits, t.total)
	if o.Pass {
		o.Unseen = append(t.unseen, o.Unseen...)
	}
	return o
}

// tally counts the outcomes of elements, and keeps the first texts about them.
type tally struct {
	total, fails, unfits int
	failing, unseen      []string
}

// add counts an outcome; why says what is wrong if it does not pass.
func (t *tally) add(o Outcome, why string) {
	t.total++
	if o.Pass {
		return
	}
	t.fails++
	if o.Unfit {
		t.unfits++
	}
	if len(t.failing) < shown.MaxLines {
		t.failing = append(t.failing, why)
	}
}

// noneOutcome is the outcome if no element passes, and one should.
func (m elements) noneOutcome(t tally) Outcome {
	o := Outcome{Expected: "an element that " + m.words(), Unfit: t.unfits > 0, Diff: t.failing}
	o.Msg = fmt.Sprintf("none of %s %s", display.Count(t.total, "element"), m.words())
	if t.fails > 0 {
		o.Msg += ", the first: " + t.failing[0]
	} else {
		o.Unseen = []string{"the list is empty: any had nothing to check"}
	}
	return o
}

func (m elements) everyOutcome(failing []string, fails, unfits, total int) Outcome {
	switch {
	case total == 0:
		return Outcome{Pass: true, Unseen: []string{"the list is empty: each had nothing to check"}}
	case fails == 0:
		return passed
	}
	verb := "do"
	if fails == 1 {
		verb = "does"
	}
	o := Outcome{
		Msg: fmt.Sprintf("%s %s not pass, the first: %s", shown.CountOf(fails, total), verb, failing[0]),
		// One failed element decides; the result is only undecided if every failure
		// was unfit.
		Unfit:    unfits == fails,
		Expected: "every element " + m.words(),
	}
	if fails > 1 {
		o.Diff = failing
	}
	return o
}

func (m elements) words() string { return "passes " + m.desc() }

// members returns an iterator over an object's members or a list's elements with
// their paths.
func members(v jsonv.Value) iter.Seq2[string, jsonv.Value] {
	return func(yield func(string, jsonv.Value) bool) {
		for i, e := range v.Elems() {
			if !yield(jsonv.JoinIndex("", i), e) {
				return
			}
		}
		for key, e := range v.Members() {
			if !yield(display.Truncate(jsonpath.Key(key), shown.ShortKey), e) {
				return
			}
		}
	}
}
