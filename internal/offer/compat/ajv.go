package compat

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"mcptest/internal/base/jsonschema"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lazy"
)

// ajv predicts which schemas Ajv 8 compiles with the options of the TypeScript SDK
// (strict: false, validateSchema: false, ajv-formats). Schemas are not validated, so
// only what stops the compiler counts: a keyword with a value of another type in a
// schema that is used, an unresolvable reference, an ambiguous or invalid name.
type ajv struct {
	words map[string]string // the types that a keyword's value may have: initials, or "" for any
	later bool              // 2019-09 and 2020-12
	meta  string            // the metaschema that references may name
	docs  map[string]*ajvDoc
	parts map[string]ajvPart // subschemas with an $id or $anchor, by URI
	done  map[ajvPlace]bool
	fault string
	root  ajvPart // of the schema that was compiled last
}

type ajvDoc struct {
	base   string
	schema jsonv.Value
}

// An ajvPart is a schema in a document, with the URI against which its references are
// resolved.
type ajvPart struct {
	ajvPlace
	schema jsonv.Value
}

type ajvPlace struct {
	doc           *ajvDoc
	pointer, base string
}

// The keywords of Ajv by the types that they accept: s(tring), n(umber), b(oolean),
// o(bject), a(rray).
const (
	ajvCommon = "$ref:s $comment: maximum:n minimum:n exclusiveMaximum:n exclusiveMinimum:n multipleOf:n maxLength:n minLength:n " +
		"maxProperties:n minProperties:n maxItems:n minItems:n pattern:s required:a uniqueItems:b type:sa nullable:b const: enum:a " +
		"not:ob anyOf:a oneOf:a allOf:a if:ob then:ob else:ob propertyNames:ob additionalProperties:ob dependencies:o properties:o " +
		"patternProperties:o contains:ob format:s formatMaximum:s formatMinimum:s formatExclusiveMaximum:s formatExclusiveMinimum:s id:"
	ajvTuples = " items:oab additionalItems:ob"
	ajvLater  = " dependentRequired:o dependentSchemas:o maxContains:n minContains:n unevaluatedProperties:ob unevaluatedItems:ob " +
		"$dynamicAnchor:s $dynamicRef:s $recursiveAnchor:b $recursiveRef:s"
)

// newAjv returns the compiler of a dialect: 7, 2019 or 2020.
func newAjv(dialect int) *ajv {
	a := &ajv{
		words: map[string]string{},
		docs:  map[string]*ajvDoc{},
		parts: map[string]ajvPart{},
		done:  map[ajvPlace]bool{},
	}
	text := ajvCommon
	switch dialect {
	case 7:
		text, a.meta = text+ajvTuples, "http://json-schema.org/draft-07/schema"
	case 2019:
		text, a.meta = text+ajvTuples+ajvLater, "https://json-schema.org/draft/2019-09/schema"
	default:
		text, a.meta = text+" items:ob prefixItems:a"+ajvLater, "https://json-schema.org/draft/2020-12/schema"
	}
	a.later = dialect != 7
	for word := range strings.FieldsSeq(text) {
		name, types, _ := strings.Cut(word, ":")
		a.words[name] = types
	}
	return a
}

// compile returns why the compiler rejects a schema, or "". It remembers the schemas
// that have an $id, as an instance of Ajv does.
func (a *ajv) compile(schema jsonv.Value) string {
	a.fault = ""
	id := schema.Lookup("$id")
	if isTruthy(id) && id.Kind() != jsonv.KindString {
		return "$id is " + id.Kind().WithArticle()
	}
	doc := &ajvDoc{strings.TrimSuffix(strings.TrimSuffix(id.Text(), "/"), "#"), schema}
	if !strings.HasSuffix(id.Text(), "#/") && !strings.HasSuffix(id.Text(), "#") {
		doc.base = id.Text()
	}
	known := a.docs[doc.base]
	switch {
	case isBadURN(doc.base):
		return "$id " + doc.base + " is not a valid URN"
	case known != nil && id.Kind() == jsonv.KindString, doc.base == a.meta:
		return "" // the validator of the earlier schema is used
	}
	root := ajvPart{ajvPlace{doc, "", doc.base}, schema}
	a.root = root
	names := map[string]bool{}
	for key, v := range schema.Effective {
		a.scanWord(key, v, root, names)
	}
	if !strings.HasPrefix(doc.base, "#") {
		a.docs[doc.base] = doc
	}
	a.use(root)
	return a.fault
}

func (a *ajv) fail(format string, args ...any) {
	a.fault = cmp.Or(a.fault, fmt.Sprintf(format, args...))
}

// isBadURN reports whether a URN has no namespace; the URI library of Ajv throws.
func isBadURN(uri string) bool {
	return len(uri) >= 4 && strings.EqualFold(uri[:4], "urn:") && !urnForm().MatchString(uri)
}

var (
	urnForm    = lazy.Regexp(`(?i)^urn:[\da-z][\da-z-]{0,31}:[^\s?#]+`)
	anchorForm = lazy.Regexp(`(?i)^[a-z_][-a-z0-9._]*$`)
)

// isTruthy reports whether JavaScript takes a value for true.
func isTruthy(v jsonv.Value) bool {
	switch v.Kind() {
	case jsonv.KindAbsent, jsonv.KindNull:
		return false
	case jsonv.KindBool:
		return v.Bool()
	case jsonv.KindNumber:
		return v.Float64() != 0
	case jsonv.KindString:
		return v.Text() != ""
	}
	return true
}

// The keywords whose values Ajv does not search for $id and $anchor.
var ajvSkipped = strings.Fields("default enum const required maximum minimum exclusiveMaximum exclusiveMinimum multipleOf maxLength minLength " +
	"pattern format maxItems minItems uniqueItems maxProperties minProperties")

// scan remembers the names of the subschemas, used or not.
func (a *ajv) scan(p ajvPart, names map[string]bool) {
	if p.schema.Kind() != jsonv.KindObject {
		return
	}
	name := func(ref string) {
		uri := a.join(p.base, ref)
		other, taken := a.docs[uri]
		if names[uri] || taken && !jsonv.Equal(other.schema, p.schema) {
			a.fail("%q names more than one schema", uri)
		}
		names[uri] = true
		if strings.HasPrefix(uri, "#") {
			uri = p.doc.base + "\x00" + uri // of this document only
		}
		a.parts[uri] = p
	}
	if id := p.schema.Lookup("$id"); id.Kind() == jsonv.KindString {
		p.base = a.join(p.base, id.Text())
		name("")
	}
	for _, word := range []string{"$anchor", "$dynamicAnchor"} {
		if anchor := p.schema.Lookup(word); anchor.Kind() == jsonv.KindString {
			if !anchorForm().MatchString(anchor.Text()) {
				a.fail("%s %s is invalid", word, anchor.Short(60))
			}
			name("#" + anchor.Text())
		}
	}
	for key, v := range p.schema.Effective {
		a.scanWord(key, v, p, names)
	}
}

func (a *ajv) scanWord(key string, v jsonv.Value, p ajvPart, names map[string]bool) {
	at := p.findChild(key)
	switch {
	case v.Kind() == jsonv.KindArray && slices.Contains([]string{"items", "allOf", "anyOf", "oneOf"}, key):
		for i := range v.Len() {
			a.scan(at.findChild(strconv.Itoa(i)), names)
		}
	case v.Kind() != jsonv.KindObject:
	case slices.Contains([]string{"$defs", "definitions", "properties", "patternProperties", "dependencies"}, key):
		for name := range v.Effective {
			a.scan(at.findChild(name), names)
		}
	case !slices.Contains(ajvSkipped, key):
		a.scan(at, names)
	}
}

// join resolves a reference.
func (a *ajv) join(base, ref string) string {
	ref = strings.TrimSuffix(ref, "#")
	base, _, _ = strings.Cut(base, "#")
	if base == "" || ref == "" || ref[0] == '#' {
		return strings.TrimPrefix(base+ref, "\x00")
	}
	b, err := url.Parse(base)
	r, err2 := url.Parse(ref)
	if err != nil || err2 != nil {
		a.fail("cannot resolve %q in %q", ref, base)
		return ref
	}
	out := b.ResolveReference(r)
	if b.Scheme == "" && b.Host == "" && !strings.HasPrefix(base, "/") {
		return strings.TrimPrefix(out.String(), "/")
	}
	return out.String()
}

// resolve finds the schema that a reference means.
func (a *ajv) resolve(from *ajvDoc, uri string, depth int) (ajvPart, bool) {
	if depth > 100 {
		a.fail("the references %s go in a circle", uri)
		return ajvPart{}, false
	}
	for _, known := range []string{uri, from.base + "\x00" + uri} {
		if p, ok := a.parts[known]; ok {
			return p, true
		}
	}
	base, fragment, _ := strings.Cut(strings.TrimSuffix(uri, "#/"), "#")
	if own, _, _ := strings.Cut(from.base, "#"); base == own && fragment != "" {
		return a.followPointer(ajvPart{ajvPlace{from, "", from.base}, from.schema}, fragment, depth)
	}
	part, ok := a.parts[base]
	if doc := a.docs[base]; doc != nil {
		part, ok = ajvPart{ajvPlace{doc, "", doc.base}, doc.schema}, true
	}
	switch {
	case ok && fragment != "":
		return a.followPointer(part, fragment, depth)
	case base == a.meta:
		return ajvPart{ajvPlace{&ajvDoc{base, jsonv.Bool(true)}, "", base}, jsonv.Bool(true)}, true
	}
	return part, ok
}

// followPointer follows a JSON Pointer, and the $ref of a schema that has nothing else.
func (a *ajv) followPointer(p ajvPart, fragment string, depth int) (ajvPart, bool) {
	if !strings.HasPrefix(fragment, "/") {
		return p, false
	}
	for step := range strings.SplitSeq(fragment[1:], "/") {
		plain, err := url.PathUnescape(step)
		if err != nil {
			a.fail("%q is not a JSON Pointer", fragment)
		}
		plain = strings.NewReplacer("~1", "/", "~0", "~").Replace(plain)
		if p = p.findChild(plain); p.schema.IsAbsent() {
			return p, false
		}
		id := p.schema.Lookup("$id")
		if isTruthy(id) && !slices.Contains([]string{"properties", "patternProperties", "enum", "dependencies", "definitions"}, plain) {
			p.base = a.join(p.base, a.checkURI("$id", id))
		}
	}
	if ref := p.schema.Lookup("$ref"); isTruthy(ref) && a.hasOnlyRef(p.schema) {
		if to, ok := a.resolve(p.doc, a.join(p.base, a.checkURI("$ref", ref)), depth+1); ok {
			return to, true
		}
	}
	return p, true
}

func (a *ajv) checkURI(word string, v jsonv.Value) string {
	if v.Kind() != jsonv.KindString {
		a.fail("%s is %s", word, v.Kind().WithArticle())
	}
	return v.Text()
}

func (a *ajv) hasRules(s jsonv.Value) bool {
	for key := range s.Effective {
		if _, ok := a.words[key]; ok {
			return true
		}
	}
	return false
}

func (a *ajv) hasOnlyRef(s jsonv.Value) bool { return !a.hasRules(s.Without("$ref")) }

// isTrivial reports whether every value is valid; such a schema is not compiled.
func (a *ajv) isTrivial(s jsonv.Value) bool {
	switch s.Kind() {
	case jsonv.KindBool:
		return s.Bool()
	case jsonv.KindNull:
		a.fail("a schema is null")
	case jsonv.KindObject:
		return !a.hasRules(s)
	}
	return true
}

// checkPattern reports an expression that is invalid in the Unicode mode of ECMAScript.
func (a *ajv) checkPattern(word, p string) {
	if fault := explainNotUnicode(p); fault != "" {
		a.fail("%s %s: %s", word, p, fault)
	} else if _, err := jsonschema.Compile(jsonv.ObjectOf("pattern", p), jsonschema.Options{}); err != nil {
		a.fail("%s %s: it is not a regular expression", word, p)
	}
}
