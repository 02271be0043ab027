package jsonschema

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"mcptest/internal/base/jsonv"
)

// defaultBase is the URI of a schema without a base.
const defaultBase = "schema:///schema.json"

// sources are the documents of a schema: the schema itself and those loaded for its
// references.
type sources struct {
	root        string
	docs        map[string]jsonv.Value // by URI without fragment
	fetch       func(uri string) ([]byte, error)
	loadedNodes int
}

func newSources(doc jsonv.Value, o Options) *sources {
	root := defaultBase
	if u, err := url.Parse(o.BaseURI); err == nil && u.IsAbs() {
		u.Fragment = ""
		root = u.String()
	}
	return &sources{root: root, docs: map[string]jsonv.Value{root: doc}, fetch: o.Load}
}

var errRefused = errors.New("references to other documents are not followed")

// Load implements jsonschema.URLLoader.
func (s *sources) Load(uri string) (any, error) {
	if s.fetch == nil {
		return nil, errRefused
	}
	if len(s.docs) > maxLoads {
		return nil, fmt.Errorf("the schema needs more than %d other documents", maxLoads)
	}
	data, err := s.fetch(uri)
	if err != nil {
		return nil, err
	}
	doc, err := jsonv.Parse(data)
	if err != nil {
		return nil, err
	}
	nodes, serr := checkSchemaSize(doc, MaxNodes)
	if serr != nil {
		return nil, serr
	}
	s.loadedNodes += nodes
	s.docs[uri] = doc
	return toAny(doc, true), nil
}

// split splits a URI of the library into document and pointer. The second pointer
// begins with the document when it is not the schema itself.
func (s *sources) split(uri string) (doc jsonv.Value, tokens []string, pointer string) {
	base, fragment, _ := strings.Cut(uri, "#")
	if raw, err := url.PathUnescape(fragment); err == nil {
		fragment = raw
	}
	tokens, err := jsonv.ParsePointer(fragment)
	if err != nil {
		tokens = nil
	}
	if base != s.root {
		return s.docs[base], tokens, base + "#" + fragment
	}
	return s.docs[base], tokens, fragment
}

// keyword returns the value of a keyword as written in the schema, absent when the
// schema is not available (a metaschema).
func (s *sources) keyword(schemaURI string, path ...string) jsonv.Value {
	v, tokens, _ := s.split(schemaURI)
	return follow(follow(v, tokens), path)
}

// follow returns the value that the tokens of a pointer lead to, or an absent value.
func follow(v jsonv.Value, tokens []string) jsonv.Value {
	ptr := ""
	for _, t := range tokens {
		ptr = jsonv.AppendPointer(ptr, t)
	}
	v, _ = v.Pointer(ptr)
	return v
}

// explain converts an error of the library's compiler to an error about the schema.
func (s *sources) explain(err error) *Error {
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
			ptr = jsonv.AppendPointer(ptr, regex.Regex)
		}
		return &Error{Pointer: ptr, Msg: fmt.Sprintf("bad regular expression %q: %v", regex.Regex, regex.Err)}
	case errors.As(err, &load):
		return s.explainLoad(load)
	case errors.As(err, &noPointer):
		return s.missingTarget(noPointer.URL)
	case errors.As(err, &noAnchor):
		return s.missingTarget(noAnchor.Reference)
	case errors.As(err, &draft):
		return &Error{Pointer: "/$schema", Msg: "unknown metaschema " + draft.URL}
	}
	return &Error{Msg: strings.ReplaceAll(err.Error(), s.root, "")}
}

func (s *sources) explainLoad(load *jsonschema.LoadURLError) *Error {
	ptr, written := s.findRef(func(ref, resolved string) bool {
		return strings.TrimSuffix(resolved, "#") == load.URL || ref == load.URL
	})
	written = cmp.Or(written, load.URL)
	if strings.HasSuffix(ptr, "/$schema") {
		return &Error{Pointer: ptr, Msg: fmt.Sprintf("unknown metaschema %q", written)}
	}
	if errors.Is(load.Err, errRefused) {
		return &Error{Pointer: ptr, Msg: fmt.Sprintf("%q points outside the schema; %v", written, errRefused)}
	}
	return &Error{Pointer: ptr, Msg: fmt.Sprintf("cannot load %q: %v", written, load.Err)}
}

// missingTarget returns the error for a reference whose target does not exist.
func (s *sources) missingTarget(target string) *Error {
	_, fragment, _ := strings.Cut(target, "#")
	if raw, err := url.PathUnescape(fragment); err == nil {
		fragment = raw
	}
	ptr, written := s.findRef(func(ref, _ string) bool {
		_, f, _ := strings.Cut(ref, "#")
		raw, err := url.PathUnescape(f)
		return err == nil && raw != "" && strings.HasSuffix(fragment, raw)
	})
	written = cmp.Or(written, "#"+fragment)
	return &Error{Pointer: ptr, Msg: fmt.Sprintf("%q points to nothing", written)}
}

// findRef returns the pointer and text of the first matching reference in the schema;
// resolved is without its fragment.
func (s *sources) findRef(fits func(ref, resolved string) bool) (ptr, written string) {
	var walk func(v jsonv.Value, ptr string, base *url.URL) bool
	walk = func(v jsonv.Value, at string, base *url.URL) bool {
		if id, ok := v.Get("$id"); ok && id.Kind() == jsonv.KindString {
			if u, err := base.Parse(id.Text()); err == nil {
				base = u
			}
		}
		for _, k := range [...]string{"$ref", "$dynamicRef", "$recursiveRef", "$schema"} {
			ref, ok := v.Get(k)
			if !ok || ref.Kind() != jsonv.KindString {
				continue
			}
			resolved := ref.Text()
			if u, err := base.Parse(ref.Text()); err == nil {
				u.Fragment = ""
				resolved = u.String()
			}
			if fits(ref.Text(), resolved) {
				ptr, written = jsonv.AppendPointer(at, k), ref.Text()
				return true
			}
		}
		for token, e := range children(v) {
			if walk(e, jsonv.AppendPointer(at, token), base) {
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

// explainInvalid converts violations of the metaschema to errors that point into the
// schema.
func (s *sources) explainInvalid(invalid *jsonschema.SchemaValidationError) *Error {
	var failed *jsonschema.ValidationError
	if !errors.As(invalid.Err, &failed) {
		return &Error{Msg: invalid.Err.Error()}
	}
	doc, tokens, prefix := s.split(invalid.URL)
	doc = follow(doc, tokens)
	namePlaces{}.repair(failed, doc, nil)
	r := &reporter{sources: s, root: doc}
	r.report(failed)
	if r.fault != nil || len(r.found) == 0 {
		return &Error{Pointer: prefix, Msg: "the schema does not fit its metaschema"}
	}
	var errs []*Error
	for _, f := range r.sorted() {
		ptr := prefix
		for _, t := range f.tokens {
			ptr = jsonv.AppendPointer(ptr, t)
		}
		errs = append(errs, &Error{Pointer: ptr, Msg: f.Msg})
	}
	errs[0].Rest = errs[1:]
	return errs[0]
}
