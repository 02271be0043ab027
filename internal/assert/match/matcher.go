package match

import (
	"context"
	"slices"

	"mcptest/internal/assert/grading"
	"mcptest/internal/assert/shown"
	"mcptest/internal/assert/snapshot"
	"mcptest/internal/assert/target"
	"mcptest/internal/assert/trajectory"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
	"mcptest/internal/offer/assert"
	"mcptest/internal/offer/compat"
)

// Matcher evaluates a value. Matchers are compiled from the rows of [Matchers].
type Matcher interface {
	Match(ctx context.Context, s target.Subject, env *Env) Outcome
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
	compile     func(c *Compiler, n *source.Node, path string) Matcher
}

// Named is a compiled matcher with its name and argument.
type Named struct {
	row   *Row
	m     Matcher
	shown string // desc, "" when it is made on demand
	// NamesIsError is set if the argument has an isError key, for matchers of a whole
	// result.
	NamesIsError bool
	Execs        bool // it, or a matcher nested in it, runs a program
}

// desc returns the matcher as messages show it: contains "rust".
func (k *Named) desc() string {
	if m, ok := k.m.(exactly); ok && k.shown == "" {
		return k.row.Name + " " + shown.Value(m.want, shown.InLine)
	}
	return k.shown
}

// String returns the matcher as messages show it.
func (k *Named) String() string { return k.desc() }

// Name returns the matcher's name in the table.
func (k *Named) Name() string { return k.row.Name }

// Exactly returns a copy with another value, if the matcher is exact.
func (k *Named) Exactly(want jsonv.Value) (Named, bool) {
	_, names := want.Get(target.KeyIsError)
	_, ok := k.m.(exactly)
	return Named{row: k.row, m: exactly{want}, NamesIsError: names}, ok
}

// WantsNothing reports whether the matcher requires that there is no value.
func (k *Named) WantsNothing() bool { return k.m == presence{want: false} }

// SaysStillRuns reports whether the matcher of the target exit passes for a program that still
// runs, and for none that ended, unless its author names null as one of several values.
func (k *Named) SaysStillRuns() bool {
	passes := func(v jsonv.Value) bool {
		return k.Match(context.Background(), target.Subject{Target: "exit", Value: v, Present: true}, nil).Pass
	}
	if !passes(jsonv.Null()) {
		return false
	}
	if k.namesNull() {
		return true
	}
	ends := []jsonv.Value{
		jsonv.ObjectOf("code", 0, "signal", nil), jsonv.ObjectOf("code", 1, "signal", nil), jsonv.ObjectOf("code", nil, "signal", "killed"),
	}
	return !slices.ContainsFunc(ends, passes)
}

// SaysKilled reports whether the matcher of the target exit, or of exit.signal, passes for a
// program that a signal killed because its author expects a signal: it passes for no other one,
// or for no program that exited.
func (k *Named) SaysKilled(name, signal string) bool {
	passes := func(code, signal any) bool {
		v := jsonv.ObjectOf("code", code, "signal", signal)
		if name == "exit.signal" {
			v = v.Lookup("signal")
		}
		return k.Match(context.Background(), target.Subject{Target: name, Value: v, Present: true}, nil).Pass
	}
	if !passes(nil, signal) {
		return false
	}
	return !passes(nil, "another signal") || !passes(0, nil) && !passes(1, nil)
}

// SaysCode reports whether the matcher of the target exit, or of exit.code, passes for a program
// that exited with a code because its author expects this code: it passes for few others.
func (k *Named) SaysCode(name string, code int) bool {
	passes := func(code int) bool {
		v := jsonv.ObjectOf("code", code, "signal", nil)
		if name == "exit.code" {
			v = v.Lookup("code")
		}
		return k.Match(context.Background(), target.Subject{Target: name, Value: v, Present: true}, nil).Pass
	}
	return passes(code) && !passes(3) && !passes(99)
}

// namesNull reports whether null is one of the values that the matcher allows by name.
func (k *Named) namesNull() bool {
	switch m := k.m.(type) {
	case exactly:
		return m.want.Kind() == jsonv.KindNull
	case combined:
		return m.how != noneOf && slices.ContainsFunc(m.parts, (*Named).namesNull)
	}
	return false
}

// CountsLacking reports whether the matcher's outcome counts the elements that lack
// the target.
func (k *Named) CountsLacking() bool { return k.row.Name == rowEach.Name }

// Choice returns the argument of the matcher check, or nil.
func (k *Named) Choice() *compat.Choice {
	m, _ := k.m.(accepted)
	return m.choice
}

// Mentions returns the exact names of tools in the matcher trajectory.
func (k *Named) Mentions() []trajectory.Mention {
	if path := k.Route(); path != nil {
		return path.Mentions()
	}
	return nil
}

// Route returns the argument of the matcher trajectory, or nil.
func (k *Named) Route() *trajectory.Path {
	if m, ok := k.m.(route); ok {
		return m.Path
	}
	return nil
}

// SameAs returns the arguments of the matchers same-as in it.
func (k *Named) SameAs() (found []*assert.SameAs) {
	switch m := k.m.(type) {
	case offered:
		if m.SameAs != nil {
			found = append(found, m.SameAs)
		}
	case negation:
		return m.SameAs()
	case combined:
		for _, part := range m.parts {
			found = append(found, part.SameAs()...)
		}
	}
	return found
}

// Grading returns the argument of the matcher llm-judge, or nil.
func (k *Named) Grading() *grading.Grading {
	m, _ := k.m.(graded)
	return m.Grading
}

// Snapshot returns the options of the matcher snapshot, or nil.
func (k *Named) Snapshot() *snapshot.Options {
	m, _ := k.m.(snapshotMatcher)
	return m.Options
}

// Match evaluates a value and completes the fields that the matcher did not set.
func (k *Named) Match(ctx context.Context, s target.Subject, env *Env) Outcome {
	if s.Miss != nil && !k.row.transparent {
		return missOutcome(s, k.desc())
	}
	o := k.m.Match(ctx, s, env)
	if s.Cut != "" && !k.row.transparent && !(o.Pass && slices.Contains(found, k.row.Name)) {
		o = Outcome{Unfit: true, Msg: "this can't be judged, because " + s.Cut, Expected: o.Expected}
	}
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
		o.Actual = shown.Value(s.Value, shown.Alone)
	}
	return o
}

// found are the matchers that a text passes because of a part of it: if that part is known, what
// was cut makes no difference.
var found = []string{
	"contains", "icontains", "contains-all", "icontains-all", "contains-any", "icontains-any", "starts-with", "ends-with",
	"regex", "type",
}

// missOutcome returns the outcome of a matcher that needs a value if there is none.
func missOutcome(s target.Subject, expected string) Outcome {
	return Outcome{Unfit: true, Msg: s.Miss.Reason(), Expected: expected, Actual: "nothing"}
}

// matchFunc is a matcher that only needs the value.
type matchFunc func(v jsonv.Value) Outcome

// Match calls f.
func (f matchFunc) Match(_ context.Context, s target.Subject, _ *Env) Outcome { return f(s.Value) }

var passed = Outcome{Pass: true}

// failOutcome returns the outcome of a matcher that failed.
func failOutcome(msg string) Outcome { return Outcome{Msg: msg} }

// unfit returns the outcome of a matcher that cannot evaluate the value.
func unfit(want string, v jsonv.Value) Outcome {
	return Outcome{Unfit: true, Msg: "expected " + want + ", got " + shown.Got(v)}
}
