package match

import (
	"context"
	"fmt"

	"mcptest/internal/assert/shown"
	"mcptest/internal/assert/target"
	"mcptest/internal/base/lists"
	"mcptest/internal/base/source"
)

const matcherList = `{"type":"array","minItems":1,"items":{"$ref":"#/$defs/matcher"}}`

var rowNot = Row{
	Name: "not", Doc: "this matcher does not pass; a missing target, or a value of a type that the matcher does not support, fails both ways",
	Example: `not: {contains: password}`, Passes: `"hello"`, Fails: `"password=1"`,
	schema: matcherRef, compile: compileNot, transparent: true,
}

var rowAllOf = Row{
	Name: "all-of", Aliases: []string{"all_of"}, Doc: "all of these matchers pass",
	Example: `all-of: [{starts-with: a}, {ends-with: z}]`, Passes: `"a-z"`, Fails: `"a-y"`,
	schema: matcherList, compile: compileCombination(allOf), transparent: true,
}

var rowAnyOf = Row{
	Name: "any-of", Aliases: []string{"any_of"}, Doc: "at least one of these matchers passes",
	Example: `any-of: [{exact: null}, {type: string}]`, Passes: `"a"`, Fails: `7`,
	schema: matcherList, compile: compileCombination(anyOf), transparent: true,
}

var rowNoneOf = Row{
	Name: "none-of", Aliases: []string{"none_of"}, Doc: "none of these matchers passes",
	Example: `none-of: [{contains: password}, {regex: '\d{16}'}]`, Passes: `"hello"`, Fails: `"1234567812345678"`,
	schema: matcherList, compile: compileCombination(noneOf), transparent: true,
}

func compileNot(c *Compiler, n *source.Node, path string) Matcher {
	if k := c.Matcher(n, path); k != nil {
		return negation{k}
	}
	return nil
}

type negation struct{ *Named }

func (m negation) Match(ctx context.Context, s target.Subject, env *Env) Outcome {
	o := m.Named.Match(ctx, s, env)
	switch {
	case o.Unfit:
		return o
	case o.Pass:
		return Outcome{Msg: "expected not to match " + m.desc() + ", got " + shownSubject(s), Expected: "not " + m.desc()}
	}
	return Outcome{Pass: true, Unseen: o.Unseen}
}

// shownSubject formats a subject that may be missing.
func shownSubject(s target.Subject) string {
	if s.Miss != nil {
		return "nothing"
	}
	return shown.Got(s.Value)
}

type combination uint8

const (
	allOf combination = iota
	anyOf
	noneOf
)

func compileCombination(how combination) func(*Compiler, *source.Node, string) Matcher {
	return func(c *Compiler, n *source.Node, path string) Matcher {
		items, ok := c.List(n, path, "matchers")
		if !ok {
			return nil
		}
		m := combined{how: how}
		for i, item := range items {
			if k := c.Matcher(item, source.PathIndex(path, i)); k != nil {
				m.parts = append(m.parts, k)
			}
		}
		if len(m.parts) < len(items) {
			return nil
		}
		return m
	}
}

// combined implements a list of matchers in three-valued logic, in which unfit is the
// unknown value.
type combined struct {
	how   combination
	parts []*Named
}

func (m combined) Match(ctx context.Context, s target.Subject, env *Env) Outcome {
	var failing []Outcome
	var passing []*Named
	unfits := 0
	var notes, unseen []string // unseen: of parts that passed; for none-of, of all parts
	seen := false              // whether a part that passed has examined everything
	for _, k := range m.parts {
		o := k.Match(ctx, s, env)
		notes = append(notes, o.Notes...)
		if o.Pass || m.how == noneOf {
			unseen = append(unseen, o.Unseen...)
		}
		if o.Pass {
			passing = append(passing, k)
			seen = seen || len(o.Unseen) == 0
			continue
		}
		if o.Unfit {
			unfits++
		}
		failing = append(failing, o)
	}
	var o Outcome
	switch m.how {
	case allOf:
		o = m.all(failing, unfits)
	case anyOf:
		o = m.any(failing, passing, unfits)
	default:
		o = m.none(failing, passing, unfits, s)
	}
	switch {
	case !o.Pass:
		o.Notes = notes
	case m.how != anyOf || !seen:
		o.Unseen = unseen
	}
	return o
}

func (m combined) all(failing []Outcome, unfits int) Outcome {
	if len(failing) == 0 {
		return passed
	}
	o := failing[0]
	if len(failing) > 1 {
		o = Outcome{Msg: fmt.Sprintf("%d of %d matchers fail, the first: %s", len(failing), len(m.parts), o.Msg), Diff: messages(failing)}
	}
	o.Unfit = unfits == len(failing)
	o.Score, o.graded = 0, false // the score of a part is not that of the whole
	return o
}

func (m combined) any(failing []Outcome, passing []*Named, unfits int) Outcome {
	if len(passing) > 0 {
		return passed
	}
	if len(failing) == 1 {
		o := failing[0]
		o.Score, o.graded = 0, false
		return o
	}
	return Outcome{
		Msg:   fmt.Sprintf("none of %d matchers passes, the first: %s", len(failing), failing[0].Msg),
		Diff:  messages(failing),
		Unfit: unfits > 0,
	}
}

func (m combined) none(failing []Outcome, passing []*Named, unfits int, s target.Subject) Outcome {
	if len(passing) > 0 {
		return Outcome{Msg: "expected not to match " + passing[0].desc() + ", got " + shownSubject(s), Expected: "not " + passing[0].desc()}
	}
	if unfits == 0 {
		return passed
	}
	for _, o := range failing {
		if o.Unfit {
			return o
		}
	}
	return passed
}

func messages(outcomes []Outcome) []string {
	return lists.Map(outcomes, func(o Outcome) string { return o.Msg })
}

// runsPrograms reports whether a matcher, or one nested in it, runs a program.
func runsPrograms(m Matcher) bool {
	switch m := m.(type) {
	case execMatcher:
		return true
	case *Named:
		return m.Execs
	case negation:
		return m.Execs
	case elements:
		return m.Execs
	case combined:
		for _, k := range m.parts {
			if k.Execs {
				return true
			}
		}
	}
	return false
}
