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
		return missed(s, "every element "+m.words())
	}
	if kind := s.Value.Kind(); kind != jsonv.KindArray && kind != jsonv.KindObject {
		return unfit("a list", s.Value)
	}
	var failing, unseen []string
	fails, unfits, total := 0, 0, 0
	for path, e := range members(s.Value) {
		total++
		o := m.Named.Match(ctx, target.Subject{Target: s.Target + path, Value: e, Present: true}, env)
		if o.Pass && !m.every {
			return passed
		}
		if o.Pass {
			if len(o.Unseen) > 0 && len(unseen) < shown.MaxLines {
				unseen = append(unseen, path+": "+o.Unseen[0])
			}
			continue
		}
		if o.Unfit {
			unfits++
		}
		fails++
		if len(failing) < shown.MaxLines {
			failing = append(failing, path+": "+o.Msg)
		}
	}
	if m.every {
		for _, miss := range s.Lacking {
			total++
			o := m.Named.Match(ctx, target.Subject{Target: s.Target, Miss: miss}, env)
			if o.Pass {
				continue
			}
			if o.Unfit {
				unfits++
			}
			fails++
			if len(failing) < shown.MaxLines {
				failing = append(failing, miss.Reason())
			}
		}
		o := m.everyOutcome(failing, fails, unfits, total)
		if o.Pass {
			o.Unseen = append(unseen, o.Unseen...)
		}
		return o
	}
	o := Outcome{Expected: "an element that " + m.words(), Unfit: unfits > 0, Diff: failing}
	o.Msg = fmt.Sprintf("none of %s %s", display.Count(total, "element"), m.words())
	if fails > 0 {
		o.Msg += ", the first: " + failing[0]
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
