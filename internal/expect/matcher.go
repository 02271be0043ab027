package expect

import (
	"context"

	"mcptest/internal/jsonv"
	"mcptest/internal/source"
)

// Matcher judges a value. Matchers are compiled from the rows of [Matchers].
type Matcher interface {
	Match(ctx context.Context, s Subject, env *Env) Outcome
}

// Outcome is a matcher's judgement.
type Outcome struct {
	Pass bool
	// Unfit is set when the value could not be judged at all: it is missing,
	// or of a kind the matcher does not know. Such a matcher fails, and so
	// does its negation.
	Unfit bool
	// Score is 1 or 0, but for graded matchers, which say how good a value
	// is between 0 and 1.
	Score float64
	Msg   string // why it failed, in one line, without the target
	// Expected and Actual are shown side by side; shortened.
	Expected, Actual string
	Diff             []string // lines of a text diff (' ', '-', '+'), or one line for each difference
	Notes            []string // what the reader should know besides
	// Unseen says what was left out, or that there was nothing to look at: why
	// a pass may mean little. A negation takes it over from what failed.
	Unseen []string

	graded bool
}

// Row is one matcher of the table.
type Row struct {
	Name    string
	Aliases []string // the name in snake_case, where that differs
	Doc     string   // one line
	// Example is the matcher as YAML; a value that passes it and one that
	// does not follow as JSON, "" standing for a missing target.
	Example, Passes, Fails string
	// ArgSchema is the JSON Schema of the argument. Nested matchers are
	// {"$ref": "#/$defs/matcher"}.
	ArgSchema jsonv.Value

	schema string
	// transparent matchers get to see missing targets; the others fail.
	transparent bool
	compile     func(c *compiler, n *source.Node, path string) Matcher
}

// check is a compiled matcher with its name and argument.
type check struct {
	row   *Row
	m     Matcher
	shown string // desc, "" when it is made on demand
	// argument has an isError key, for matchers that look at a whole result.
	namesIsError bool
	execs        bool
}

// desc is the matcher as messages show it: contains "rust".
func (k *check) desc() string {
	if m, ok := k.m.(exactly); ok && k.shown == "" {
		return k.row.Name + " " + show(m.want, shownInLine)
	}
	return k.shown
}

// Match judges a value and completes what the matcher left out.
func (k *check) Match(ctx context.Context, s Subject, env *Env) Outcome {
	if s.Miss != nil && !k.row.transparent {
		return s.missed(k.desc())
	}
	o := k.m.Match(ctx, s, env)
	if o.Pass {
		if !o.graded {
			o.Score = 1
		}
		return o
	}
	if o.Expected == "" {
		o.Expected = k.desc()
	}
	if o.Actual == "" {
		o.Actual = show(s.Value, shownAlone)
	}
	return o
}

// missed is the outcome of a matcher that needs a value where there is none.
func (s *Subject) missed(expected string) Outcome {
	return Outcome{Unfit: true, Msg: s.Miss.Reason(), Expected: expected, Actual: "nothing"}
}

// matchFunc is a matcher that needs nothing but the value.
type matchFunc func(v jsonv.Value) Outcome

// Match calls f.
func (f matchFunc) Match(_ context.Context, s Subject, _ *Env) Outcome { return f(s.Value) }

var passed = Outcome{Pass: true}

// failed is the outcome of a matcher that does not hold.
func failed(msg string) Outcome { return Outcome{Msg: msg} }

// unfit is the outcome of a matcher that cannot judge the value.
func unfit(want string, v jsonv.Value) Outcome {
	return Outcome{Unfit: true, Msg: "expected " + want + ", got " + got(v)}
}
