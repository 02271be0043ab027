package jsonv

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// defaultBase is where a schema without a base is said to be.
const defaultBase = "schema:///schema.json"

// sources are the documents of a schema: the schema itself and what its
// references load.
type sources struct {
	root        string
	docs        map[string]Value // by URI without fragment
	fetch       func(uri string) ([]byte, error)
	loadedNodes int
}

func newSources(doc Value, o SchemaOptions) *sources {
	root := defaultBase
	if u, err := url.Parse(o.BaseURI); err == nil && u.IsAbs() {
		u.Fragment = ""
		root = u.String()
	}
	return &sources{root: root, docs: map[string]Value{root: doc}, fetch: o.Load}
}

var errRefused = errors.New("references to other documents are not followed")

// Load implements jsonschema.URLLoader.
func (s *sources) Load(uri string) (any, error) {
	if s.fetch == nil {
		return nil, errRefused
	}
	if len(s.docs) > maxSchemaLoads {
		return nil, fmt.Errorf("the schema needs more than %d other documents", maxSchemaLoads)
	}
	data, err := s.fetch(uri)
	if err != nil {
		return nil, err
	}
	doc, err := Parse(data)
	if err != nil {
		return nil, err
	}
	nodes, serr := checkSchemaSize(doc)
	if serr != nil {
		return nil, serr
	}
	s.loadedNodes += nodes
	s.docs[uri] = doc
	return toSchemaAny(doc), nil
}

// split takes a URI of the library apart into document and pointer. The second
// result has the document in front when it is not the schema itself.
func (s *sources) split(uri string) (doc Value, tokens []string, pointer string) {
	base, fragment, _ := strings.Cut(uri, "#")
	if raw, err := url.PathUnescape(fragment); err == nil {
		fragment = raw
	}
	tokens, err := ParsePointer(fragment)
	if err != nil {
		tokens = nil
	}
	if base != s.root {
		return s.docs[base], tokens, base + "#" + fragment
	}
	return s.docs[base], tokens, fragment
}

// keyword returns the value of a keyword as the schema writes it, absent when
// the schema is not at hand (a metaschema).
func (s *sources) keyword(schemaURI string, path ...string) Value {
	v, tokens, _ := s.split(schemaURI)
	for _, t := range append(tokens[:len(tokens):len(tokens)], path...) {
		v, _ = v.step(t)
	}
	return v
}

// explain turns an error of the library's compiler into one about the schema.
func (s *sources) explain(err error) *SchemaError {
	var (
		invalid   *jsonschema.SchemaValidationError
		regex     *jsonschema.InvalidRegexError
		load      *jsonschema.LoadURLError
		noPointer *jsonschema.JSONPointerNotFoundError
		noAnchor  *jsonschema.AnchorNotFoundError
		draft     *jsonschema.UnsupportedDraftError
	)
	switch {
	case errors.As(err, &invalid):
		return s.explainInvalid(invalid)
	case errors.As(err, &regex):
		_, _, ptr := s.split(regex.URL)
		if strings.HasSuffix(ptr, "/patternProperties") {
			ptr = AppendPointer(ptr, regex.Regex)
		}
		return &SchemaError{Pointer: ptr, Msg: fmt.Sprintf("bad regular expression %q: %v", regex.Regex, regex.Err)}
	case errors.As(err, &load):
		return s.explainLoad(load)
	case errors.As(err, &noPointer):
		return s.missingTarget(noPointer.URL)
	case errors.As(err, &noAnchor):
		return s.missingTarget(noAnchor.Reference)
	case errors.As(err, &draft):
		return &SchemaError{Pointer: "/$schema", Msg: "unknown metaschema " + draft.URL}
	}
	return &SchemaError{Msg: strings.ReplaceAll(err.Error(), s.root, "")}
}

func (s *sources) explainLoad(load *jsonschema.LoadURLError) *SchemaError {
	ptr, written := s.findRef(func(ref, resolved string) bool {
		return strings.TrimSuffix(resolved, "#") == load.URL || ref == load.URL
	})
	if written == "" {
		written = load.URL
	}
	if strings.HasSuffix(ptr, "/$schema") {
		return &SchemaError{Pointer: ptr, Msg: fmt.Sprintf("unknown metaschema %q", written)}
	}
	if errors.Is(load.Err, errRefused) {
		return &SchemaError{Pointer: ptr, Msg: fmt.Sprintf("%q points outside the schema; %v", written, errRefused)}
	}
	return &SchemaError{Pointer: ptr, Msg: fmt.Sprintf("cannot load %q: %v", written, load.Err)}
}

// missingTarget is the error for a reference into nothing.
func (s *sources) missingTarget(target string) *SchemaError {
	_, fragment, _ := strings.Cut(target, "#")
	if raw, err := url.PathUnescape(fragment); err == nil {
		fragment = raw
	}
	ptr, written := s.findRef(func(ref, _ string) bool {
		_, f, _ := strings.Cut(ref, "#")
		raw, err := url.PathUnescape(f)
		return err == nil && raw != "" && strings.HasSuffix(fragment, raw)
	})
	if written == "" {
		written = "#" + fragment
	}
	return &SchemaError{Pointer: ptr, Msg: fmt.Sprintf("%q points to nothing", written)}
}

// findRef returns the pointer and text of the first reference in the schema
// that fits; resolved is without its fragment.
func (s *sources) findRef(fits func(ref, resolved string) bool) (ptr, written string) {
	var walk func(v Value, ptr string, base *url.URL) bool
	walk = func(v Value, at string, base *url.URL) bool {
		if id, ok := v.Get("$id"); ok && id.kind == KindString {
			if u, err := base.Parse(id.s); err == nil {
				base = u
			}
		}
		for _, k := range [...]string{"$ref", "$dynamicRef", "$recursiveRef", "$schema"} {
			ref, ok := v.Get(k)
			if !ok || ref.kind != KindString {
				continue
			}
			resolved := ref.s
			if u, err := base.Parse(ref.s); err == nil {
				u.Fragment = ""
				resolved = u.String()
			}
			if fits(ref.s, resolved) {
				ptr, written = AppendPointer(at, k), ref.s
				return true
			}
		}
		for token, e := range v.children {
			if e.c != nil && walk(e, AppendPointer(at, token), base) {
				return true
			}
		}
		return false
	}
	if base, err := url.Parse(s.root); err == nil {
		walk(s.docs[s.root], "", base)
	}
	return ptr, written
}

// explainInvalid turns violations of the metaschema into errors that point
// into the schema.
func (s *sources) explainInvalid(invalid *jsonschema.SchemaValidationError) *SchemaError {
	var failed *jsonschema.ValidationError
	if !errors.As(invalid.Err, &failed) {
		return &SchemaError{Msg: invalid.Err.Error()}
	}
	doc, tokens, prefix := s.split(invalid.URL)
	for _, t := range tokens {
		doc, _ = doc.step(t)
	}
	r := &reporter{sources: s, root: doc}
	r.report(failed)
	if r.fault != nil || len(r.found) == 0 {
		return &SchemaError{Pointer: prefix, Msg: "the schema does not fit its metaschema"}
	}
	var errs []*SchemaError
	for _, f := range r.sorted() {
		ptr := prefix
		for _, t := range f.tokens {
			ptr = AppendPointer(ptr, t)
		}
		errs = append(errs, &SchemaError{Pointer: ptr, Msg: f.Msg})
	}
	errs[0].Rest = errs[1:]
	return errs[0]
}
