package jsonschema

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/dlclark/regexp2"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"mcptest/internal/base/jsonv"
)

// maxNesting bounds (depth of the instance) × (subschemas), which is the recursion
// depth of the validator.
const maxNesting = 150_000

// Schema is a compiled JSON Schema, safe for use by several goroutines;
// validations with one Schema run one after another.
type Schema struct {
	compiled *jsonschema.Schema
	sources  *sources
	nodes    int
	turn     chan struct{} // holds a token while a validation runs
	guard    *guard        // belongs to the holder of the turn
}

// Compile validates a schema against its metaschema and prepares it. The error is a
// *Error.
func Compile(doc jsonv.Value, o Options) (schema *Schema, err error) {
	src := newSources(doc, o)
	defer func() {
		if r := recover(); r != nil { // a fault in the library must not end the run
			schema, err = nil, &Error{Msg: fmt.Sprintf("the schema cannot be compiled: %v", r)}
		}
	}()
	if doc.Kind() != jsonv.KindObject && doc.Kind() != jsonv.KindBool {
		return nil, &Error{Msg: fmt.Sprintf("a schema is an object or a boolean, got %s", describe(doc))}
	}
	nodes, serr := checkSchemaSize(doc, cmp.Or(o.Nodes, MaxNodes))
	if serr != nil {
		return nil, serr
	}
	draft, serr := draftNamed(o.DefaultDraft)
	if serr != nil {
		return nil, serr
	}
	g := &guard{}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(draft)
	c.UseLoader(src)
	limit := matchTimeout
	if o.NoClock {
		limit = regexp2.DefaultMatchTimeout
	}
	c.UseRegexpEngine(newRegexEngine(g, limit))
	c.RegisterVocabulary(g.vocabulary())
	c.AssertVocabs()
	if o.AssertFormat {
		c.AssertFormat()
	}
	for _, name := range Formats {
		if o.IgnoreFormat {
			c.RegisterFormat(&jsonschema.Format{Name: name, Validate: func(any) error { return nil }})
		}
	}
	if err := c.AddResource(src.root, toAny(doc, true)); err != nil {
		return nil, &Error{Msg: err.Error()}
	}
	compiled, err := c.Compile(src.root)
	if err != nil {
		return nil, src.explain(err)
	}
	if o.Strict {
		if serr := src.strict(compiled.DraftVersion); serr != nil {
			return nil, serr
		}
	}
	return &Schema{
		compiled: compiled,
		sources:  src,
		nodes:    nodes + src.loadedNodes,
		turn:     make(chan struct{}, 1),
		guard:    g,
	}, nil
}

func draftNamed(name string) (*jsonschema.Draft, *Error) {
	switch name {
	case "", "2020-12":
		return jsonschema.Draft2020, nil
	case "2019-09":
		return jsonschema.Draft2019, nil
	case "7", "draft-07":
		return jsonschema.Draft7, nil
	case "6", "draft-06":
		return jsonschema.Draft6, nil
	case "4", "draft-04":
		return jsonschema.Draft4, nil
	}
	return nil, &Error{Msg: fmt.Sprintf("unknown draft %q, expected 2020-12, 2019-09, 7, 6 or 4", name)}
}

// checkSchemaSize counts the nodes of a schema and refuses a schema beyond the
// limits.
func checkSchemaSize(doc jsonv.Value, most int) (int, *Error) {
	nodes, size := 0, 0
	var walk func(v jsonv.Value, ptr string, depth int) *Error
	walk = func(v jsonv.Value, ptr string, depth int) *Error {
		size++
		if v.Kind() == jsonv.KindObject || v.Kind() == jsonv.KindArray || v.Kind() == jsonv.KindBool {
			nodes++
		}
		switch {
		case nodes > most:
			return &Error{Pointer: ptr, Msg: fmt.Sprintf("the schema has more than %d subschemas and lists", most), Limit: true}
		case size > maxSize:
			return &Error{Pointer: ptr, Msg: fmt.Sprintf("the schema has more than %d values", maxSize), Limit: true}
		case v.Kind() != jsonv.KindObject && v.Kind() != jsonv.KindArray:
			return nil
		case depth >= MaxDepth:
			return &Error{Pointer: ptr, Msg: fmt.Sprintf("the schema is nested more than %d levels deep", MaxDepth), Limit: true}
		}
		for token, e := range children(v) {
			if err := walk(e, jsonv.AppendPointer(ptr, token), depth+1); err != nil {
				return err
			}
		}
		return nil
	}
	err := walk(doc, "", 0)
	return nodes, err
}

// Validate returns the violations of the schema by v, in the order of v; none means
// that it is valid. At most 1000 are listed. The error is set when there is no
// verdict: the time limit of ctx passed, a pattern took too long, or the schema
// refers to itself without end.
func (s *Schema) Validate(ctx context.Context, v jsonv.Value) ([]Violation, error) {
	if v.Kind() == jsonv.KindAbsent {
		return []Violation{{Msg: "there is no value"}}, nil
	}
	failed, err := s.evaluate(ctx, []jsonv.Value{v})
	if err != nil || failed[0] == nil {
		return nil, err
	}
	return s.sources.violations(failed[0], v)
}

// Matches reports which values match the schema. It is much faster than Validate for
// many small values; the limits are those of one validation.
func (s *Schema) Matches(ctx context.Context, values []jsonv.Value) ([]bool, error) {
	failed, err := s.evaluate(ctx, values)
	if err != nil {
		return nil, err
	}
	out := make([]bool, len(values))
	for i, v := range values {
		out[i] = failed[i] == nil && v.Kind() != jsonv.KindAbsent
	}
	return out, nil
}

// evaluate validates values one after another; a nil error means that the value is
// valid.
func (s *Schema) evaluate(ctx context.Context, values []jsonv.Value) ([]*jsonschema.ValidationError, error) {
	for _, v := range values {
		if d := depthOf(v); d*s.nodes > maxNesting {
			return nil, fmt.Errorf("check against the schema: a value nested %d levels deep is too deep for a schema of %d nodes", d, s.nodes)
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, tookTooLong(err)
	}
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, tookTooLong(ctx.Err())
	}
	// The library cannot be interrupted from outside, so it runs on a separate
	// goroutine, which ends at the next step after ctx is done.
	result := make(chan verdict, 1)
	go s.run(ctx, values, result)
	select {
	case r := <-result:
		return r.failed, r.err
	case <-ctx.Done():
		return nil, tookTooLong(ctx.Err())
	}
}

type verdict struct {
	failed []*jsonschema.ValidationError // of each value
	err    error
}

func (s *Schema) run(ctx context.Context, values []jsonv.Value, result chan<- verdict) {
	s.guard.begin(ctx)
	var out verdict
	finished := false
	defer func() {
		if r := recover(); r != nil {
			out = verdict{err: fmt.Errorf("check against the schema: the validator failed: %v", r)}
		} else if s.guard.err != nil {
			out = verdict{err: s.guard.err}
		} else if !finished { // ended by the guard
			out = verdict{err: tookTooLong(context.DeadlineExceeded)}
		}
		result <- out
		<-s.turn
	}()
	out.failed = make([]*jsonschema.ValidationError, len(values))
	for i, v := range values {
		if err := s.compiled.Validate(toAny(v, false)); err != nil && !errors.As(err, &out.failed[i]) {
			out.err = fmt.Errorf("check against the schema: %w", err)
			break
		}
	}
	finished = true
}
