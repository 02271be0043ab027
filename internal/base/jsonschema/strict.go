package jsonschema

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"mcptest/internal/base/jsonschema/engine"
	"mcptest/internal/base/jsonv"
)

// Formats are the formats that are checked.
var Formats = strings.Fields(`date date-time duration email hostname ipv4 ipv6 iri iri-reference json-pointer period
	regex relative-json-pointer semver time uri uri-reference uri-template uuid`)

// strictWalk searches a schema for words that JSON Schema would silently ignore.
type strictWalk struct {
	*sources
	draft engine.Draft // of schemas that do not declare one
	seen  map[string]bool
	found []*Error
}

// checkStrict returns an error for each keyword that the schema's draft does not have and
// for each format that is not checked: such a schema accepts every value. Names that
// begin with x- are the author's own. References are followed.
func (s *sources) checkStrict(draft engine.Draft) *Error {
	w := strictWalk{sources: s, draft: draft, seen: map[string]bool{}}
	w.walkDocument(s.root, "")
	if len(w.found) == 0 {
		return nil
	}
	w.found[0].Rest = w.found[1:]
	return w.found[0]
}

// walkDocument walks the schema at a fragment of a document.
func (w *strictWalk) walkDocument(uri, fragment string) {
	v, ok := w.docs[uri]
	tokens, err := jsonv.ParsePointer(fragment)
	if !ok || err != nil {
		return // an anchor: walked with its document
	}
	draft := w.draft
	if own, ok := engine.DraftOf(v.Lookup("$schema").Text()); ok {
		draft = own
	}
	w.walkSchema(follow(v, tokens), uri, fragment, draft)
}

func (w *strictWalk) walkSchema(v jsonv.Value, uri, ptr string, draft engine.Draft) {
	if v.Kind() != jsonv.KindObject || w.seen[uri+"#"+ptr] {
		return
	}
	w.seen[uri+"#"+ptr] = true
	for key, val := range v.Members() {
		at := jsonv.AppendPointer(ptr, key)
		k, ok := keywords()[key]
		switch {
		case !ok && strings.HasPrefix(key, "x-"):
			continue
		case !ok:
			w.setFault(uri, at, key, slices.Sorted(maps.Keys(keywords())), "unknown keyword %q", key)
		case draft < k.since || k.until != 0 && draft > k.until:
			w.setFault(uri, at, "", nil, "the draft of this schema has no keyword %q", key)
			continue
		case key == "format" && val.Kind() == jsonv.KindString && !slices.Contains(Formats, val.Text()):
			w.setFault(uri, at, val.Text(), Formats, "unknown format %q", val.Text())
		case key == "$ref" && val.Kind() == jsonv.KindString:
			w.followReference(uri, val.Text())
		}
		for rest, sub := range Within(key, val) {
			w.walkSchema(sub, uri, at+rest, draft)
		}
	}
}

// followReference walks the target of a $ref, if it was loaded.
func (w *strictWalk) followReference(from, ref string) {
	base, err := url.Parse(from)
	if err != nil {
		return
	}
	to, err := base.Parse(ref)
	if err != nil {
		return
	}
	fragment := to.Fragment
	to.Fragment, to.RawFragment = "", ""
	w.walkDocument(to.String(), fragment)
}

func (w *strictWalk) setFault(uri, ptr, word string, known []string, format string, args ...any) {
	e := &Error{Pointer: ptr, Msg: fmt.Sprintf(format, args...), Word: word, Known: known}
	if uri != w.root {
		e.Pointer = uri + "#" + ptr
	}
	w.found = append(w.found, e)
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
