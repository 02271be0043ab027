package engine

import (
	"context"
	"errors"

	"mcptest/internal/base/jsonv"
)

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
	if !s.runBounded(e, func() { e.check(s.root, v, nil) }) {
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
	if !s.runBounded(e, judge) {
		return nil, tookTooLong(ctx.Err())
	}
	return out, e.err
}

// runBounded runs an evaluation and reports whether it ended before its context. Only a
// pattern that backtracks cannot be interrupted: it runs on after that, on a goroutine of
// its own.
func (s *Schema) runBounded(e *evaluation, run func()) bool {
	if e.err = endError(e.ctx); e.err != nil {
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
