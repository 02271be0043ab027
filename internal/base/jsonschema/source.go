package jsonschema

import (
	"errors"
	"fmt"
	"net/url"

	"mcptest/internal/base/jsonschema/engine"
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
	if o.BaseURI != "" {
		if u, err := url.Parse(o.BaseURI); err == nil && u.IsAbs() {
			u.Fragment = ""
			root = u.String()
		}
	}
	return &sources{root: root, docs: map[string]jsonv.Value{root: doc}, fetch: o.Load}
}

// load returns another document.
func (s *sources) load(uri string) (jsonv.Value, error) {
	if s.fetch == nil {
		return jsonv.Value{}, engine.ErrRefused
	}
	if len(s.docs) > maxLoads {
		return jsonv.Value{}, fmt.Errorf("the schema needs more than %d other documents", maxLoads)
	}
	data, err := s.fetch(uri)
	if err != nil {
		return jsonv.Value{}, err
	}
	doc, err := jsonv.Parse(data)
	if err != nil {
		return jsonv.Value{}, err
	}
	nodes, serr := checkSchemaSize(doc, MaxNodes)
	if serr != nil {
		return jsonv.Value{}, serr
	}
	s.loadedNodes += nodes
	s.docs[uri] = doc
	return doc, nil
}

// formatPointer returns a place as a pointer, which begins with the document when it is not
// the schema itself.
func (s *sources) formatPointer(p engine.Place) string {
	if p.URI != s.root {
		return p.URI + "#" + p.Pointer
	}
	return p.Pointer
}

// explain converts an error of the engine.
func (s *sources) explain(err error) *Error {
	var bad *engine.Error
	switch {
	case !errors.As(err, &bad):
		return &Error{Msg: err.Error()}
	case len(bad.Failures) == 0:
		return &Error{Pointer: s.formatPointer(bad.Place), Msg: bad.Msg}
	}
	return s.explainInvalid(bad)
}

// explainInvalid converts what a schema fails in its metaschema to errors that point into
// the schema.
func (s *sources) explainInvalid(bad *engine.Error) *Error {
	prefix := s.formatPointer(bad.Place)
	r := &reporter{sources: s, root: bad.Value}
	r.reportAll(bad.Failures)
	if r.fault != nil || len(r.found) == 0 {
		return &Error{Pointer: prefix, Msg: "the schema does not fit its metaschema"}
	}
	var errs []*Error
	for _, f := range r.sortFindings() {
		ptr := prefix
		for _, t := range f.tokens {
			ptr = jsonv.AppendPointer(ptr, t)
		}
		errs = append(errs, &Error{Pointer: ptr, Msg: f.Msg})
	}
	errs[0].Rest = errs[1:]
	return errs[0]
}
