package jsonschema

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/dlclark/regexp2"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"mcptest/internal/base/jsonv"
)

// The limits on a schema. MCP 2025-11-25 and later require clients to bound the depth
// of a schema, the number of its subschemas and the time of validation.
const (
	MaxDepth = 100    // nested arrays and objects
	MaxNodes = 2000   // arrays, objects and booleans, as each may be a subschema
	maxSize  = 50_000 // values of every kind, enough for enums of a few thousand strings
	maxLoads = 100    // documents loaded through Options.Load
)

// maxNesting bounds (depth of the instance) × (subschemas), which is the recursion
// depth of the validator.
const maxNesting = 150_000

// maxSteps bounds the subschema evaluations of one validation, for callers
// whose context has no time limit.
const maxSteps = 20_000_000

// Schema is a compiled JSON Schema, safe for use by several goroutines;
// validations with one Schema run one after another.
type Schema struct {
	compiled *jsonschema.Schema
	sources  *sources
	nodes    int
	turn     chan struct{} // holds a token while a validation runs
	guard    *guard        // belongs to the holder of the turn
}

// Options configures the compilation of a schema; the zero value is right for schemas
// that come from a server.
type Options struct {
	// AssertFormat makes "format" an assertion in drafts in which it is an annotation
	// (2019-09 and later).
	AssertFormat bool
	// IgnoreFormat makes "format" an annotation in earlier drafts too, in which a
	// validator may ignore it; "regex" remains an assertion there.
	IgnoreFormat bool
	// Strict refuses unknown keywords, other than x-…, and unknown formats, which
	// JSON Schema ignores. It is meant for schemas written by this project.
	Strict bool
	// NoClock lets a match of a pattern take any time, for callers whose verdict must not
	// depend on it, and who bound the length of values.
	NoClock bool
	// DefaultDraft is the draft of schemas without $schema: "2020-12" (also
	// meant by ""), "2019-09", "7", "6" or "4".
	DefaultDraft string
	// BaseURI is the base of relative references, before they are passed to Load,
	// when the schema has no $id.
	BaseURI string
	// Nodes is the limit of subschemas and lists; 0 means MaxNodes. It is for
	// schemas that this project publishes.
	Nodes int
	// Load fetches the documents outside the schema that references point to. If it
	// is nil, every such reference is refused, as MCP requires for network
	// references. The metaschemas of json-schema.org are built in and never loaded.
	Load func(uri string) ([]byte, error)
}

// Error describes a mistake in a schema and its place.
type Error struct {
	Pointer string   // RFC 6901, to the invalid value in the schema; preceded by its URI, in another document
	Msg     string   // want one of "array", "boolean", …, got "strin"
	Rest    []*Error // further faults found in the same pass
	Word    string   // an unknown word
	Known   []string // the known words in its place
	Limit   bool     // the schema exceeds the limits of this package, and may be valid
}

func (e *Error) Error() string {
	if e.Pointer == "" {
		return "bad JSON Schema: " + e.Msg
	}
	return fmt.Sprintf("bad JSON Schema at %s: %s", e.Pointer, e.Msg)
}

// Violation is one reason why a value does not match a schema.
type Violation struct {
	InstancePath  string // items[0].id; "" is the whole value
	Keyword       string // the keyword that failed: "type", "required"; "" for a schema that is false
	SchemaPointer string // to the keyword in the schema; preceded by its URI, in another document
	Msg           string // want type string, got number 3
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

func tookTooLong(err error) error {
	return fmt.Errorf("check against the schema: took too long: %w", err)
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

// guard monitors one validation from inside: the library calls it for every subschema
// it evaluates and for every pattern.
type guard struct {
	ctx   context.Context
	steps int
	err   error
}

func (g *guard) begin(ctx context.Context) { *g = guard{ctx: ctx} }

// vocabulary attaches the guard to every subschema. It has no keywords.
func (g *guard) vocabulary() *jsonschema.Vocabulary {
	return &jsonschema.Vocabulary{
		URL: "urn:mcptest:guard",
		Compile: func(*jsonschema.CompilerContext, map[string]any) (jsonschema.SchemaExt, error) {
			return g, nil
		},
	}
}

// Validate implements jsonschema.SchemaExt. It ends the goroutine when the
// time is up, as the library offers no other way out of a long validation.
func (g *guard) Validate(*jsonschema.ValidatorContext, any) {
	g.steps++
	if g.steps > maxSteps {
		g.err = fmt.Errorf("check against the schema: took more than %d steps", maxSteps)
		runtime.Goexit()
	}
	if g.steps&0xFF == 0 {
		if err := g.ctx.Err(); err != nil {
			g.err = tookTooLong(err)
			runtime.Goexit()
		}
	}
}
