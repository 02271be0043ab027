package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"mcptest/internal/base/jsonv"
)

// evaluation is one evaluation of a schema.
type evaluation struct {
	ctx    context.Context
	steps  int
	err    error // why there is no verdict; nothing is evaluated any more
	quiet  bool  // only the verdict is wanted
	scopes []scope
	path   []step // from the value to the one that is evaluated
	level  int    // counts values on the way; unlike path, through names too

	failures []Failure
	within   int  // how many alternatives and names around have failures of their own
	held     int  // the weight of all failures, those of alternatives and names included
	flat     bool // alternatives and names have no failures of their own

	meta *metaCheck // set when the value is a schema
}

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

// scope is a schema that is being evaluated, on the value at a level.
type scope struct {
	node  *node
	level int
}

// tookTooLong is the error of an evaluation that was ended by its context.
func tookTooLong(err error) error {
	return fmt.Errorf("check against the schema: took too long: %w", err)
}

func ended(ctx context.Context) error {
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
		e.err = ended(e.ctx)
	}
	return e.err == nil
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

// failed is fail for a keyword of a schema.
func (e *evaluation) failed(n *node, keyword string, f Failure) bool {
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
