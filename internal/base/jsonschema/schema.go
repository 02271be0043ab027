package jsonschema

import (
	"cmp"
	"context"
	"fmt"

	"mcptest/internal/base/jsonschema/engine"
	"mcptest/internal/base/jsonv"
)

// maxNesting bounds (depth of the instance) × (subschemas), which is the recursion
// depth of an evaluation.
const maxNesting = 150_000

// Schema is a compiled JSON Schema, safe for use by several goroutines.
type Schema struct {
	compiled *engine.Schema
	sources  *sources
	nodes    int
}

// Compile validates a schema against its metaschema and prepares it. The error is a
// *Error.
func Compile(doc jsonv.Value, o Options) (*Schema, error) {
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
	src := newSources(doc, o)
	compiled, err := engine.Compile(doc, engine.Options{
		Draft: draft, BaseURI: src.root, Load: src.load,
		AssertFormat: o.AssertFormat, IgnoreFormat: o.IgnoreFormat, NoClock: o.NoClock,
	})
	if err != nil {
		return nil, src.explain(err)
	}
	if o.Strict {
		if serr := src.checkStrict(compiled.Draft()); serr != nil {
			return nil, serr
		}
	}
	return &Schema{compiled: compiled, sources: src, nodes: nodes + src.loadedNodes}, nil
}

func draftNamed(name string) (engine.Draft, *Error) {
	switch name {
	case "", "2020-12":
		return engine.Draft2020, nil
	case "2019-09":
		return engine.Draft2019, nil
	case "7", "draft-07":
		return engine.Draft7, nil
	case "6", "draft-06":
		return engine.Draft6, nil
	case "4", "draft-04":
		return engine.Draft4, nil
	}
	return 0, &Error{Msg: fmt.Sprintf("unknown draft %q, expected 2020-12, 2019-09, 7, 6 or 4", name)}
}

// FormatOf returns the check of one of the [Formats].
func FormatOf(name string) func(text string) bool { return engine.Format(name) }

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
		for token, e := range walkChildren(v) {
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
	if err := s.checkDepth(v); err != nil {
		return nil, err
	}
	failures, err := s.compiled.Check(ctx, v)
	if err != nil || len(failures) == 0 {
		return nil, err
	}
	return s.sources.listViolations(failures, v)
}

// Matches reports which values match the schema. It is much faster than Validate for
// many small values; the limits are those of one validation.
func (s *Schema) Matches(ctx context.Context, values []jsonv.Value) ([]bool, error) {
	for _, v := range values {
		if err := s.checkDepth(v); err != nil {
			return nil, err
		}
	}
	out, err := s.compiled.Fits(ctx, values)
	if err != nil {
		return nil, err
	}
	for i, v := range values {
		out[i] = out[i] && v.Kind() != jsonv.KindAbsent
	}
	return out, nil
}

// checkDepth refuses a value that is too deep for the schema.
func (s *Schema) checkDepth(v jsonv.Value) error {
	if d := measureDepth(v); d*s.nodes > maxNesting {
		return fmt.Errorf("check against the schema: a value nested %d levels deep is too deep for a schema of %d nodes", d, s.nodes)
	}
	return nil
}
