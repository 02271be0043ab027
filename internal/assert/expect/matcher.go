package expect

import (
	"context"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
)

// Matcher evaluates a value. Matchers are compiled from the rows of [Matchers].
type Matcher interface {
	Match(ctx context.Context, s Subject, env *Env) Outcome
}

// Outcome is the result of a matcher.
type Outcome struct {
	Pass bool
	// Unfit is set if the value could not be evaluated: it is missing, or of a kind
	// that the matcher does not support. Both the matcher and its negation then fail.
	Unfit bool
	// Score is 1 or 0, or between them for graded matchers.
	Score float64
	Msg   string // the reason of a failure in one line, without the target
	// Expected and Actual are shown next to each other, shortened.
	Expected, Actual string
	Diff             []string // lines of a text diff (' ', '-', '+'), or one line for each difference
	Notes            []string // additional information for the reader
	// Unseen lists what was omitted, or reports that there was nothing to examine, so
	// that a pass may mean little. A negation copies it from the failed matcher.
	Unseen []string

	graded bool
}

// Row is one matcher of the table.
type Row struct {
	Name    string
	Aliases []string // the name in snake_case, where that differs
	Doc     string   // one line
	// Example is the matcher as YAML. Passes and Fails are values in JSON that pass
	// and fail; "" is a missing target.
	Example, Passes, Fails string
	// ArgSchema is the JSON Schema of the argument. Nested matchers are
	// {"$ref": "#/$defs/matcher"}.
	ArgSchema jsonv.Value

	schema string
	// transparent matchers evaluate missing targets; all others fail.
	transparent bool
	compile     func(c *compiler, n *source.Node, path string) Matcher
}

// check is a compiled matcher with its name and argument.
type check struct {
	row   *Row
	m     Matcher
	shown string // desc, "" when it is made on demand
	// namesIsError is set if the argument has an isError key, for matchers of a whole
	// result.
	namesIsError bool
	execs        bool
}

// desc returns the matcher as messages show it: contains "rust".
func (k *check) desc() string {
	if m, ok := k.m.(exactly); ok && k.shown == "" {
		return k.row.Name + " " + show(m.want, shownInLine)
	}
	return k.shown
}

// Match evaluates a value and completes the fields that the matcher did not set.
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

// missed returns the outcome of a matcher that needs a value if there is none.
func (s *Subject) missed(expected string) Outcome {
	return Outcome{Unfit: true, Msg: s.Miss.Reason(), Expected: expected, Actual: "nothing"}
}

// matchFunc is a matcher that only needs the value.
type matchFunc func(v jsonv.Value) Outcome

// Match calls f.
func (f matchFunc) Match(_ context.Context, s Subject, _ *Env) Outcome { return f(s.Value) }

var passed = Outcome{Pass: true}

// failed returns the outcome of a matcher that failed.
func failed(msg string) Outcome { return Outcome{Msg: msg} }

// unfit returns the outcome of a matcher that cannot evaluate the value.
func unfit(want string, v jsonv.Value) Outcome {
	return Outcome{Unfit: true, Msg: "expected " + want + ", got " + got(v)}
}
