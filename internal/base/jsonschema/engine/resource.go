package engine

import (
	"net/url"
	"strconv"
	"strings"

	"mcptest/internal/base/jsonv"
)

// trail is the way from a document's root to a value, for a pointer that is seldom needed.
type trail struct {
	up    *trail
	token string
	index int // instead of a token, if it is not 0: 1 + the index
}

func (t *trail) pointer() string {
	if t.up == nil {
		return t.token // a pointer already
	}
	if t.index > 0 {
		return t.up.pointer() + "/" + strconv.Itoa(t.index-1)
	}
	return jsonv.AppendPointer(t.up.pointer(), t.token)
}

// collect finds the resources and anchors of a schema and of those in it. near is the
// resource around it, nil at the root of the document.
func (c *compiler) collect(
	d *document, v jsonv.Value, at *trail, base string, near *resource, inherited dialect,
) *Error {
	if v.Kind() != jsonv.KindObject {
		if near == nil {
			d.resources[""] = &resource{document: d, uri: base, dialect: inherited}
		}
		return nil
	}
	own, err := c.ownResource(d, v, at, base, near, inherited)
	if err != nil {
		return err
	}
	if own != nil {
		near, base = own, own.uri
	}
	if err := collectAnchors(v, at, near); err != nil {
		return err
	}
	draft := near.dialect.draft
	for keyword, val := range v.Effective {
		if err := c.collectIn(d, draft.holds(keyword), val, &trail{up: at, token: keyword}, base, near); err != nil {
			return err
		}
	}
	return nil
}

// collectIn collects in the value of a keyword that contains schemas.
func (c *compiler) collectIn(d *document, holds int, v jsonv.Value, at *trail, base string, near *resource) *Error {
	kind := v.Kind()
	switch {
	case holds&holdsOne != 0 && kind == jsonv.KindObject:
		return c.collect(d, v, at, base, near, near.dialect)
	case holds&holdsList != 0 && kind == jsonv.KindArray:
		for i, e := range v.Elems() {
			if err := c.collect(d, e, &trail{up: at, index: 1 + i}, base, near, near.dialect); err != nil {
				return err
			}
		}
	case holds&holdsNamed != 0 && kind == jsonv.KindObject:
		for name, e := range v.Effective {
			if err := c.collect(d, e, &trail{up: at, token: name}, base, near, near.dialect); err != nil {
				return err
			}
		}
	}
	return nil
}

// ownResource returns the resource that begins at a schema, nil if none does.
func (c *compiler) ownResource(
	d *document, v jsonv.Value, at *trail, base string, near *resource, inherited dialect,
) (*resource, *Error) {
	schema := v.Lookup("$schema")
	own := inherited
	if schema.Kind() == jsonv.KindString {
		named, err := c.dialectOf(Place{URI: d.uri, Pointer: at.pointer()}, schema.Text())
		if err != nil {
			return nil, err
		}
		own = named
	}
	id := idOf(v, own.draft)
	if id == "" && near != nil {
		own = inherited // $schema is only meant for resources
		id = idOf(v, own.draft)
	}
	if id == "" && near != nil {
		return nil, nil
	}
	ptr := at.pointer()
	place := Place{URI: d.uri, Pointer: jsonv.AppendPointer(ptr, own.draft.idKeyword())}
	if id != "" {
		joined, err := join(base, id)
		if err != nil {
			return nil, errorAt(place, "bad URI %q: %v", id, err)
		}
		base = joined
	}
	for _, other := range d.resources {
		if other.uri == base && other.pointer != ptr {
			return nil, errorAt(place, "the schema at %q has the same URI %q", other.pointer, base)
		}
	}
	r := &resource{document: d, pointer: ptr, uri: base, dialect: own}
	d.resources[ptr] = r
	return r, nil
}

// idOf returns the URI that a schema gives itself, without its fragment.
func idOf(v jsonv.Value, draft Draft) string {
	if draft.refStandsAlone() {
		if _, ok := v.Get("$ref"); ok {
			return ""
		}
	}
	id, _, _ := strings.Cut(v.Lookup(draft.idKeyword()).Text(), "#")
	return id
}

// collectAnchors adds the names of a schema to its resource.
func collectAnchors(v jsonv.Value, at *trail, near *resource) *Error {
	draft := near.dialect.draft
	if draft.refStandsAlone() {
		if _, ok := v.Get("$ref"); ok {
			return nil
		}
		_, name, _ := strings.Cut(v.Lookup(draft.idKeyword()).Text(), "#")
		if name == "" {
			return nil
		}
		decoded, err := url.PathUnescape(name)
		if err != nil || strings.HasPrefix(decoded, "/") {
			return nil
		}
		return near.addAnchor(decoded, at, draft.idKeyword(), false)
	}
	if name := v.Lookup("$anchor"); name.Kind() == jsonv.KindString {
		if err := near.addAnchor(name.Text(), at, "$anchor", false); err != nil {
			return err
		}
	}
	name := v.Lookup("$dynamicAnchor")
	if draft >= Draft2020 && name.Kind() == jsonv.KindString {
		return near.addAnchor(name.Text(), at, "$dynamicAnchor", true)
	}
	return nil
}

func (r *resource) addAnchor(name string, at *trail, keyword string, dynamic bool) *Error {
	ptr := at.pointer()
	if other, ok := r.anchors[name]; ok && other.pointer != ptr {
		place := Place{URI: r.document.uri, Pointer: jsonv.AppendPointer(ptr, keyword)}
		return errorAt(place, "the schema at %q has the same anchor %q", other.pointer, name)
	}
	if r.anchors == nil {
		r.anchors = map[string]anchor{}
	}
	r.anchors[name] = anchor{pointer: ptr, dynamic: dynamic || r.anchors[name].dynamic}
	return nil
}

// around returns the resource that the schema at a pointer belongs to.
func (d *document) around(ptr string) *resource {
	for {
		if r, ok := d.resources[ptr]; ok {
			return r
		}
		slash := strings.LastIndexByte(ptr, '/')
		if slash < 0 {
			return d.resources[""]
		}
		ptr = ptr[:slash]
	}
}

// enter makes the root of a node's resource, and the schemas that dynamic references may
// lead to, nodes too.
func (c *compiler) enter(n *node) {
	r := n.resource
	if r.root != nil {
		return
	}
	root, _ := r.document.value.Pointer(r.pointer)
	r.root = c.node(r.document, r.pointer, root, r)
	for name, a := range r.anchors {
		if !a.dynamic {
			continue
		}
		if r.dynamic == nil {
			r.dynamic = map[string]*node{}
		}
		v, _ := r.document.value.Pointer(a.pointer)
		r.dynamic[name] = c.node(r.document, a.pointer, v, r)
	}
}
