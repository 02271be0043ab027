package engine

import (
	"context"
	"fmt"

	"mcptest/internal/base/jsonv"
)

// maxSteps bounds the subschema evaluations of one call, for callers whose context has no
// time limit.
const maxSteps = 20_000_000

// Check lists what a value fails. The error is set if there is no verdict: the context
// ended, a pattern took too long, or there were too many steps.
func (s *Schema) Check(ctx context.Context, v jsonv.Value) ([]Failure, error) {
	e := &evaluation{ctx: ctx}
	if !s.bounded(e, func() { e.check(s.root, v, nil) }) {
		return nil, TookTooLong(ctx.Err())
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
		return nil, TookTooLong(ctx.Err())
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
	meta     *metaCheck // set when the value is a schema
}

// scope is a schema that is being evaluated, on the value at a level.
type scope struct {
	node  *node
	level int
}

// TookTooLong is the error of an evaluation that was ended by its context.
func TookTooLong(err error) error {
	return fmt.Errorf("check against the schema: took too long: %w", err)
}

func ended(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return TookTooLong(err)
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
	groups := [...]func(*node, jsonv.Value, *evaluated) bool{
		e.checkKind, e.checkReferences, e.checkLogic, e.checkUnevaluated,
	}
	for _, check := range groups {
		if !check(n, v, seen) {
			ok = false
			if e.quiet {
				return false
			}
		}
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

// checkReferences evaluates the references that depend on the schemas around.
func (e *evaluation) checkReferences(n *node, v jsonv.Value, seen *evaluated) bool {
	ok := true
	if n.refs == nil {
		return true
	}
	if to := n.refs.recursive; to != nil {
		ok = e.applies(e.recursiveTarget(to), v, seen)
	}
	if to := n.refs.dynamic; to != nil && (ok || !e.quiet) {
		ok = e.applies(e.dynamicTarget(to, n.refs.name), v, seen) && ok
	}
	return ok
}

// recursiveTarget returns the target of a $recursiveRef: the outermost resource with
// $recursiveAnchor, if the first target has it.
func (e *evaluation) recursiveTarget(to *node) *node {
	if !to.value.Lookup("$recursiveAnchor").Bool() {
		return to
	}
	for _, s := range e.scopes {
		if root := s.node.resource.root; root.value.Lookup("$recursiveAnchor").Bool() {
			return root
		}
	}
	return to
}

// dynamicTarget returns the target of a $dynamicRef: the anchor of this name in the
// outermost resource that has it.
func (e *evaluation) dynamicTarget(to *node, name string) *node {
	if name == "" {
		return to
	}
	for _, s := range e.scopes {
		if outermost, ok := s.node.resource.dynamic[name]; ok {
			return outermost
		}
	}
	return to
}

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

// in evaluates a schema on a member or element of the value.
func (e *evaluation) in(s step, n *node, v jsonv.Value) bool {
	e.path = append(e.path, s)
	e.level++
	ok := e.check(n, v, nil)
	e.level--
	e.path = e.path[:len(e.path)-1]
	return ok
}

func member(key string) step { return step{key: key, index: -1} }

func element(i int) step { return step{index: i} }

// fail adds a failure at the value, and returns false.
func (e *evaluation) fail(f Failure) bool {
	if !e.quiet && e.err == nil {
		f.At = tokens(e.path)
		e.failures = append(e.failures, f)
	}
	return false
}

// failed is fail for a keyword of a schema.
func (e *evaluation) failed(n *node, keyword string, f Failure) bool {
	if e.quiet {
		return false
	}
	f.Keyword, f.Place, f.Draft = keyword, n.place.with(keyword), n.draft()
	if f.Rule.IsAbsent() {
		f.Rule = n.value.Lookup(keyword)
	}
	return e.fail(f)
}

// collected returns the failures that were added since there were n, and removes them.
func (e *evaluation) collected(n int) []Failure {
	out := append([]Failure(nil), e.failures[n:]...)
	e.failures = e.failures[:n]
	return out
}
