package engine

import (
	"context"
	"errors"

	"mcptest/internal/base/jsonv"
)

// maxSteps bounds the subschema evaluations of one call, for callers whose context has no
// time limit.
const maxSteps = 20_000_000

// Check lists what a value fails, at most maxFailures. The error is set if there is no verdict: the context
// ended, a pattern took too long, or there were too many steps.
func (s *Schema) Check(ctx context.Context, v jsonv.Value) ([]Failure, error) {
	failures, err := s.check(v, &evaluation{ctx: ctx})
	if errors.Is(err, errTooMany) {
		return s.check(v, &evaluation{ctx: ctx, flat: true})
	}
	return failures, err
}

func (s *Schema) check(v jsonv.Value, e *evaluation) ([]Failure, error) {
	if !s.bounded(e, func() { e.check(s.root, v, nil) }) {
		return nil, tookTooLong(e.ctx.Err())
	}
	if errors.Is(e.err, errEnough) {
		return e.failures, nil
	}
	return e.failures, e.err
}

// Fits reports which values fit the schema.
func (s *Schema) Fits(ctx context.Context, values []jsonv.Value) ([]bool, error) {
	e := &evaluation{ctx: ctx, quiet: true}
	out := make([]bool, len(values))
	judge := func() {
		for i, v := range values {
			out[i] = e.check(s.root, v, nil)
		}
	}
	if !s.bounded(e, judge) {
		return nil, tookTooLong(ctx.Err())
	}
	return out, e.err
}

// bounded runs an evaluation and reports whether it ended before its context. Only a
// pattern that backtracks cannot be interrupted: it runs on after that, on a goroutine of
// its own.
func (s *Schema) bounded(e *evaluation, run func()) bool {
	if e.err = ended(e.ctx); e.err != nil {
		return true
	}
	if !s.backtracks {
		run()
		return true
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		run()
	}()
	select {
	case <-done:
		return true
	case <-e.ctx.Done():
		return false
	}
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

// rules evaluates the groups of keywords. A value of another type, constant or format is
// not examined further.
func (e *evaluation) rules(n *node, v jsonv.Value, seen *evaluated) bool {
	if n.values != nil && !e.checkValue(n, v) {
		return false
	}
	if n.unevaluated != nil && seen == nil {
		seen = &evaluated{}
	}
	ok := n.refs == nil || n.refs.ref == nil || e.applies(n.refs.ref, v, seen)
	if !ok && (e.quiet || n.draft().refStandsAlone()) {
		return false
	}
	ok = e.checkKind(n, v, seen) && ok
	if e.goesOn(ok) {
		ok = e.checkReferences(n, v, seen) && ok
	}
	if e.goesOn(ok) {
		ok = e.checkLogic(n, v, seen) && ok
	}
	if e.goesOn(ok) {
		ok = e.checkUnevaluated(n, v, seen) && ok
	}
	return ok
}

// checkKind evaluates the keywords for the kind of a value.
func (e *evaluation) checkKind(n *node, v jsonv.Value, seen *evaluated) bool {
	switch v.Kind() {
	case jsonv.KindObject:
		return n.objects == nil || e.checkObject(n, v, seen)
	case jsonv.KindArray:
		return n.arrays == nil || e.checkArray(n, v, seen)
	case jsonv.KindString:
		return n.texts == nil || e.checkText(n, v)
	case jsonv.KindNumber:
		return n.numbers == nil || e.checkNumber(n, v)
	}
	return true
}
