package contain

import (
	"errors"
	"math/big"
	"strconv"
	"strings"

	"mcptest/internal/base/jsonschema"
	"mcptest/internal/base/jsonv"
)

// Schema is a schema that Check can compare.
type Schema struct {
	Doc    jsonv.Value
	valid  *jsonschema.Schema
	near   jsonv.Value // as readers with double precision see it
	double *jsonschema.Schema
}

// Compile reads a schema. The error is a *jsonschema.Error. A format is an annotation in
// every draft, because validators are free to check it.
func Compile(doc jsonv.Value) (*Schema, error) {
	valid, err := jsonschema.Compile(doc, jsonschema.Options{IgnoreFormat: true})
	if err != nil {
		return nil, err
	}
	s := &Schema{Doc: doc, valid: valid, near: toDouble(doc), double: valid}
	if !jsonv.Equal(s.near, doc) {
		s.double, err = jsonschema.Compile(s.near, jsonschema.Options{IgnoreFormat: true})
	}
	return s, err
}

// ExplainTooLarge returns which limit of this program a schema exceeds that may be valid, or "".
func ExplainTooLarge(err error) string {
	if limit, ok := errors.AsType[*jsonschema.Error](err); ok && limit.Limit {
		return limit.Msg
	}
	return ""
}

// Draft returns the draft of JSON Schema that a schema uses: 4, 6, 7, 2019 or 2020.
func (s *Schema) Draft() int { return draftOf(s.Doc) }

// compiler reads the keywords of one document into nodes.
type compiler struct {
	s      *solver
	doc    jsonv.Value
	draft  int // 4, 6, 7, 2019 or 2020
	close  bool
	nodes  map[string]*node // by pointer
	nested bool             // a subschema has an $id, so references may lead elsewhere
}

func (s *solver) compile(doc jsonv.Value, closeObjects bool) *node {
	c := &compiler{s: s, doc: doc, draft: draftOf(doc), close: closeObjects, nodes: map[string]*node{}}
	for _, v := range doc.Members() {
		c.nested = c.nested || hasID(v, 0)
	}
	return c.compileNode(doc, "")
}

func draftOf(doc jsonv.Value) int {
	uri := doc.Lookup("$schema").Text()
	for name, draft := range map[string]int{"draft-04": 4, "draft-06": 6, "draft-07": 7, "2019-09": 2019} {
		if strings.Contains(uri, name) {
			return draft
		}
	}
	return 2020
}

func hasID(v jsonv.Value, depth int) bool {
	if depth > 100 || v.Lookup("$id").Kind() == jsonv.KindString {
		return true
	}
	for _, e := range v.Children() {
		if hasID(e, depth+1) {
			return true
		}
	}
	return false
}

// compileNode reads the schema at a pointer. A node exists before its keywords are
// read, so that references may lead back to it.
func (c *compiler) compileNode(v jsonv.Value, ptr string) *node {
	if n := c.nodes[ptr]; n != nil {
		return n
	}
	n := &node{id: c.s.newID()}
	c.nodes[ptr] = n
	if v.Kind() == jsonv.KindBool && !v.Bool() {
		n.atoms = []*atom{c.newAtom(opTypes, 0)}
	}
	if v.Kind() != jsonv.KindObject {
		return n
	}
	r := &reader{c: c, v: v, ptr: ptr, n: n}
	r.read()
	return n
}

func (c *compiler) newAtom(o op, on types) *atom {
	return &atom{id: c.s.newID(), op: o, on: on}
}

// reader reads the keywords of one schema object.
type reader struct {
	c   *compiler
	v   jsonv.Value
	ptr string
	n   *node
}

func (r *reader) add(o op, on types) *atom {
	a := r.c.newAtom(o, on)
	r.n.atoms = append(r.n.atoms, a)
	return a
}

// addOpaque adds an atom that is not supported. One of objects may declare any property.
func (r *reader) addOpaque(on types, text string) {
	r.add(opOpaque, on).text = text
	r.n.open = r.n.open || on&tObject != 0
}

// whole returns the text of an opaque atom that depends on its surroundings.
func (r *reader) whole(keyword string) string { return r.c.doc.String() + " " + r.ptr + " " + keyword }

func (r *reader) sub(keys ...string) *node {
	ptr := r.ptr
	for _, k := range keys {
		ptr = jsonv.AppendPointer(ptr, k)
	}
	v, _ := r.c.doc.Pointer(ptr)
	return r.c.compileNode(v, ptr)
}

func (r *reader) has(key string) bool { return !r.v.Lookup(key).IsAbsent() }

func (r *reader) list(key string) []*node {
	var out []*node
	for i := range r.v.Lookup(key).Elems() {
		out = append(out, r.sub(key, strconv.Itoa(i)))
	}
	return out
}

func (r *reader) read() {
	r.n.closes = r.c.close
	if r.c.draft == 4 {
		r.addOpaque(tAll, r.whole("draft 4"))
		return
	}
	if r.has("$ref") {
		r.readRef()
		if r.c.draft < 2019 {
			return // siblings of $ref are ignored
		}
	}
	if r.has("default") {
		r.n.hints = append(r.n.hints, r.v.Lookup("default"))
	}
	r.n.hints = append(r.n.hints, r.v.Lookup("examples").List()...)
	r.readScalars()
	r.readLogic()
	r.readArrays()
	r.readObjects()
	r.noteDeclared()
}

// readRef follows a reference within the document.
func (r *reader) readRef() {
	ref := r.v.Lookup("$ref").Text()
	if id := strings.TrimSuffix(r.c.doc.Lookup("$id").Text(), "#"); id != "" {
		ref = "#" + strings.TrimPrefix(strings.TrimPrefix(ref, id), "#")
		target := r.v.Lookup("$ref").Text()
		if !strings.HasPrefix(target, "#") && !strings.HasPrefix(target, id) {
			ref = "?"
		}
	}
	ptr, isLocal := strings.CutPrefix(ref, "#")
	target, ok := r.c.doc.Pointer(ptr)
	isAnchor := ptr != "" && ptr[0] != '/'
	isEscaped := strings.Contains(ptr, "%")
	if !isLocal || !ok || isAnchor || isEscaped || r.c.nested {
		r.addOpaque(tAll, r.whole("$ref"))
		return
	}
	r.add(opNode, tAll).rest = r.c.compileNode(target, ptr)
}

// maxExponent limits the numbers in computations.
const maxExponent = 400

// parseRat returns the exact value of a number, or nil if it is too long.
func parseRat(v jsonv.Value) *big.Rat {
	lit := v.Literal()
	if len(lit) > maxExponent {
		return nil
	}
	if i := strings.IndexAny(lit, "eE"); i >= 0 && len(strings.TrimLeft(lit[i+1:], "+-0")) > 2 {
		return nil
	}
	r, _ := new(big.Rat).SetString(lit)
	return r
}
