package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"mcptest/internal/base/jsonv"
)

// maxSteps bounds the subschema evaluations of one call, for callers whose context has no
// time limit.
const maxSteps = 20_000_000

// Limits on failures: a schema can make a value fail in as many ways as there are steps.
const (
	maxFailures = 1000
	maxHeld     = 100_000
)

// Why an evaluation ends early.
var (
	errEnough  = errors.New("enough failures are listed")
	errTooMany = errors.New("the failures of alternatives are too many")
)

// tookTooLong is the error of an evaluation that was ended by its context.
func tookTooLong(err error) error {
	return fmt.Errorf("check against the schema: took too long: %w", err)
}

func endError(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return tookTooLong(err)
	}
	return nil
}

// step counts an evaluation and reports whether there may be more.
func (e *evaluation) step() bool {
	if e.err != nil {
		return false
	}
	e.steps++
	if e.steps > maxSteps {
		e.err = fmt.Errorf("check against the schema: took more than %d steps", maxSteps)
	} else if e.steps&0xFF == 0 {
		e.err = endError(e.ctx)
	}
	return e.err == nil
}

// check evaluates a schema and adds what fails to the failures. seen collects what of the
// value was evaluated, for unevaluated…; nil if that is of no interest.
func (e *evaluation) check(n *node, v jsonv.Value, seen *evaluated) bool {
	switch n.fixed {
	case always:
		return e.err == nil
	case never:
		return e.fail(Failure{Place: n.place})
	}
	if !e.step() {
		return false
	}
	if e.meta != nil && e.meta.isElsewhere(n, e.path) {
		return true
	}
	if e.isRepeated(n) {
		return e.fail(Failure{Place: n.place, Endless: true})
	}
	e.scopes = append(e.scopes, scope{n, e.level})
	ok := e.rules(n, v, seen)
	e.scopes = e.scopes[:len(e.scopes)-1]
	return ok && e.err == nil
}

// isRepeated reports whether a schema is being evaluated on the same value already.
func (e *evaluation) isRepeated(n *node) bool {
	for i := len(e.scopes) - 1; i >= 0 && e.scopes[i].level == e.level; i-- {
		if e.scopes[i].node == n {
			return true
		}
	}
	return false
}

// rules evaluates the groups of keywords.
func (e *evaluation) rules(n *node, v jsonv.Value, seen *evaluated) bool {
	if n.values != nil && !n.values.check(e, n, v, seen) {
		return false
	}
	if n.marks && seen == nil {
		seen = &evaluated{}
	}
	ok := true
	for _, r := range n.others {
		if ok = r.check(e, n, v, seen) && ok; !e.goesOn(ok) {
			return false
		}
	}
	return ok
}

// isElsewhere reports whether the value at a path is a schema of another dialect.
func (m *metaCheck) isElsewhere(n *node, path []step) bool {
	return n == m.root && len(m.elsewhere) > 0 && slices.Contains(m.elsewhere, pointerOf(path))
}

// goesOn reports whether more keywords are of interest: after a failure, only if all are to
// be listed.
func (e *evaluation) goesOn(ok bool) bool { return ok || !e.quiet }

// applies evaluates another schema on the same value.
func (e *evaluation) applies(n *node, v jsonv.Value, seen *evaluated) bool {
	if seen == nil {
		return e.check(n, v, nil)
	}
	var own evaluated
	if !e.check(n, v, &own) {
		return false
	}
	seen.add(own)
	return true
}

// fits is applies without failures.
func (e *evaluation) fits(n *node, v jsonv.Value, seen *evaluated) bool {
	quiet := e.quiet
	e.quiet = true
	ok := e.applies(n, v, seen)
	e.quiet = quiet
	return ok
}

// alternative is applies for one of several schemas, which returns what fails.
func (e *evaluation) alternative(n *node, v jsonv.Value, seen *evaluated) (ok bool, failures []Failure) {
	return e.apart(func() bool { return e.applies(n, v, seen) })
}

// in evaluates a schema on a member or element of the value.
func (e *evaluation) in(s step, n *node, v jsonv.Value) bool {
	e.path = append(e.path, s)
	e.level++
	ok := e.check(n, v, nil)
	e.level--
	e.path = e.path[:len(e.path)-1]
	return ok
}

// onName evaluates a schema on a name, whose failures have places in the name.
func (e *evaluation) onName(n *node, name string) bool {
	path := e.path
	e.path = nil
	e.level++
	ok := e.check(n, jsonv.String(name), nil)
	e.level--
	e.path = path
	return ok
}

func member(key string) step { return step{key: key, index: -1} }

func element(i int) step { return step{index: i} }

// fail adds a failure at the value, and returns false.
func (e *evaluation) fail(f Failure) bool {
	if e.quiet || e.err != nil {
		return false
	}
	f.At = tokens(e.path)
	e.failures = append(e.failures, f)
	const perWeight = 16 // tokens: a failure far down keeps a long place
	e.held += 1 + len(e.path)/perWeight
	switch {
	case e.within == 0 && len(e.failures) >= maxFailures, e.flat && e.held > maxHeld:
		e.err = errEnough
	case e.held > maxHeld:
		e.err = errTooMany
	}
	return false
}

// failSchema is fail for a keyword of a schema.
func (e *evaluation) failSchema(n *node, keyword string, f Failure) bool {
	if e.quiet {
		return false
	}
	f.Keyword, f.Place = keyword, n.place.with(keyword)
	if f.Rule.IsAbsent() {
		f.Rule = n.value.Lookup(keyword)
	}
	return e.fail(f)
}

// apart runs an evaluation whose failures are not those of the value, and returns them.
func (e *evaluation) apart(run func() bool) (ok bool, failures []Failure) {
	if e.quiet || e.flat {
		quiet := e.quiet
		e.quiet = true
		ok = run()
		e.quiet = quiet
		return ok, nil
	}
	before := len(e.failures)
	e.within++
	ok = run()
	e.within--
	failures = slices.Clone(e.failures[before:])
	e.failures = e.failures[:before]
	return ok, failures
}

// matches reports whether a pattern matches. A match that takes too long ends the
// evaluation.
func (e *evaluation) matches(re matcher, text string) bool {
	if e.err != nil {
		return false
	}
	ok, err := re.match(maskSurrogates(text))
	if err != nil {
		e.err = err
	}
	return ok
}
