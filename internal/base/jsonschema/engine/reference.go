package engine

import (
	"errors"
	"net/url"
	"strings"

	"mcptest/internal/base/jsonv"
)

// staticReference is a $ref.
type staticReference struct{ to *node }

func (r staticReference) check(e *evaluation, _ *node, v jsonv.Value, seen *evaluated) bool {
	return e.applies(r.to, v, seen)
}

// references resolves the references of a node; nil for those that it does not have.
func (c *compiler) references(n *node) (ref *node, others *dynamicReferences, err *Error) {
	if ref, err = c.reference(n, "$ref"); err != nil || n.draft() < Draft2019 {
		return ref, nil, err
	}
	others = &dynamicReferences{}
	if others.recursive, err = c.reference(n, "$recursiveRef"); err != nil || n.draft() < Draft2020 {
		return ref, others, err
	}
	if others.dynamic, err = c.reference(n, "$dynamicRef"); err != nil || others.dynamic == nil {
		return ref, others, err
	}
	// Only a reference to a $dynamicAnchor is dynamic.
	_, fragment, _ := strings.Cut(n.value.Lookup("$dynamicRef").Text(), "#")
	name, _ := url.PathUnescape(fragment)
	if others.dynamic.value.Lookup("$dynamicAnchor").Text() == name {
		others.name = name
	}
	return ref, others, nil
}

// reference returns the node that a keyword refers to, nil if n does not have it.
func (c *compiler) reference(n *node, keyword string) (*node, *Error) {
	ref := n.value.Lookup(keyword)
	if ref.Kind() != jsonv.KindString {
		return nil, nil
	}
	place := n.place.with(keyword)
	written, fragment, _ := strings.Cut(ref.Text(), "#")
	uri, err := join(n.resource.uri, written)
	if err != nil {
		return nil, errorAt(place, "bad URI %q: %v", ref.Text(), err)
	}
	fragment, err = url.PathUnescape(fragment)
	if err != nil {
		return nil, errorAt(place, "bad URI %q: %v", ref.Text(), err)
	}
	to, err := c.target(uri, fragment, n.resource)
	var inSchema *Error
	switch {
	case err == nil:
		return to, nil
	case errors.As(err, &inSchema):
		return nil, inSchema
	case errors.Is(err, errNoTarget):
		return nil, errorAt(place, "%q points to nothing", ref.Text())
	case errors.Is(err, ErrRefused):
		return nil, errorAt(place, "%q points outside the schema; %v", ref.Text(), err)
	}
	return nil, errorAt(place, "cannot load %q: %v", ref.Text(), err)
}

var errNoTarget = errors.New("points to nothing")

// target returns the node at a URI and fragment, seen from a resource. The error is an
// *Error if it is in the schema there.
func (c *compiler) target(uri, fragment string, from *resource) (*node, error) {
	r := from.find(uri)
	if r == nil {
		d, err := c.document(uri)
		if err != nil {
			return nil, err
		}
		r = d.resources[""]
	}
	ptr := r.pointer + fragment
	if fragment != "" && fragment[0] != '/' {
		a, ok := r.anchors[fragment]
		if !ok {
			return nil, errNoTarget
		}
		ptr = a.pointer
	}
	d := r.document
	v, ok := d.value.Pointer(ptr)
	if !ok {
		return nil, errNoTarget
	}
	if n, ok := d.nodes[ptr]; ok {
		return n, nil
	}
	if err := c.examine(d, ptr, v); err != nil {
		return nil, err
	}
	return c.node(d, ptr, v, d.around(ptr)), nil
}

// find returns the resource with a URI in the document of r, nil if it is elsewhere.
func (r *resource) find(uri string) *resource {
	if r == nil {
		return nil
	}
	if r.uri == uri {
		return r
	}
	if r.document.uri == uri {
		return r.document.resources[""]
	}
	for _, other := range r.document.resources {
		if other.uri == uri {
			return other
		}
	}
	return nil
}

// examine collects and checks the schema at a pointer, if it is in a place that was not
// known to contain a schema.
func (c *compiler) examine(d *document, ptr string, v jsonv.Value) error {
	for _, root := range d.examined {
		if d.isWithin(root, ptr) {
			return nil
		}
	}
	near := d.around(ptr)
	if err := c.collect(d, v, &trail{token: ptr}, near.uri, near, near.dialect); err != nil {
		return err
	}
	if c.metaOf != nil {
		if err := c.checkMeta(d, ptr, v); err != nil {
			return err
		}
	}
	d.examined = append(d.examined, ptr)
	return nil
}

// isWithin reports whether the schema at a pointer is in the one at root, so that keywords
// that contain schemas lead to it.
func (d *document) isWithin(root, ptr string) bool {
	rest, ok := strings.CutPrefix(ptr, root)
	if !ok || rest != "" && rest[0] != '/' {
		return false
	}
	tokens, err := jsonv.ParsePointer(rest)
	if err != nil {
		return false
	}
	at := root
	v, _ := d.value.Pointer(root)
	for len(tokens) > 0 {
		keyword := tokens[0]
		holds := d.around(at).dialect.draft.holds(keyword)
		v = v.Lookup(keyword)
		steps := 1
		isNamed := holds&holdsNamed != 0 && v.Kind() == jsonv.KindObject
		switch {
		case isNamed, holds&holdsList != 0 && v.Kind() == jsonv.KindArray:
			steps = 2
		case holds&holdsOne == 0:
			return false
		}
		if len(tokens) < steps {
			return false
		}
		for _, token := range tokens[:steps] {
			at = jsonv.AppendPointer(at, token)
		}
		v, _ = d.value.Pointer(at)
		tokens = tokens[steps:]
	}
	return true
}
