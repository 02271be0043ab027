package catalog

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"mcptest/internal/base/jsonschema"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/mcpaql/evidence"
)

// Requests are built only from the introspection. A value that would contradict it is
// not generated: the operation is then left out, with the reason.

const maxTypeDepth = 4

// MakeValue generates a value for a parameter. tag makes texts differ. The first source that
// has one decides: the values of the user, the examples, the default, the description, the type.
func (mk *Maker) MakeValue(op *Operation, p Parameter, tag string) (jsonv.Value, error) {
	if v := mk.findGiven(op, p); !v.IsAbsent() {
		return v, nil
	}
	if p.Rehearses() {
		return jsonv.Bool(false), nil
	}
	if v := mk.findExample(op, p); !v.IsAbsent() {
		return v, nil
	}
	if v, ok := p.Schema.Get("default"); ok && v.Kind() != jsonv.KindNull && mk.catalog.Fits(p, v) == "" {
		return v, nil
	}
	if p.linked != nil {
		return mk.makeNamed(p.linked, p, tag, 0)
	}
	if v := mk.findDescribed(p); !v.IsAbsent() {
		return v, nil
	}
	if err := refuseUnknowable(p, mk.catalog.FindJSONKind(p)); err != nil {
		return jsonv.Value{}, err
	}
	v, err := mk.make(ParseType(p.Type), p, tag, 0)
	if err != nil {
		return v, err
	}
	if why := mk.catalog.Fits(p, v); why != "" {
		return jsonv.Value{}, fmt.Errorf("no value found for %s: it requires %s", p.Name, why)
	}
	return v, nil
}

// findGiven returns the value of the user for a parameter, absent if there is none.
func (mk *Maker) findGiven(op *Operation, p Parameter) jsonv.Value {
	for _, name := range []string{op.Name, "*"} {
		if v, ok := mk.values.Lookup(name).Get(p.Name); ok {
			return v
		}
	}
	return jsonv.Value{}
}

// findExample returns the value of a parameter in an example of a reading operation.
func (mk *Maker) findExample(op *Operation, p Parameter) jsonv.Value {
	if op.Category != "READ" {
		return jsonv.Value{}
	}
	for _, ex := range op.Detail.Lookup("examples").Elems() {
		v, ok := ex.Lookup("request", "params").Get(p.Name)
		if ok && !isPlaceholder(v) && mk.catalog.Fits(p, v) == "" {
			return v
		}
	}
	return jsonv.Value{}
}

// findDescribed returns a word that the description lists, if the parameter takes it.
func (mk *Maker) findDescribed(p Parameter) jsonv.Value {
	word := findDescribedWord(p)
	kind := mk.catalog.FindJSONKind(p)
	if word == "" || kind != "string" && kind != "any" {
		return jsonv.Value{}
	}
	if mk.catalog.Fits(p, jsonv.String(word)) != "" {
		return jsonv.Value{}
	}
	return jsonv.String(word)
}

// isPlaceholder reports whether an example's value is a placeholder.
func isPlaceholder(v jsonv.Value) bool {
	if v.Kind() != jsonv.KindString {
		return false
	}
	s := strings.TrimSpace(v.Text())
	if s == "" || strings.Contains(s, "…") || strings.Contains(s, "...") {
		return true
	}
	return strings.ContainsRune("<[{", rune(s[0]))
}

func (mk *Maker) make(t typeExpr, p Parameter, tag string, depth int) (jsonv.Value, error) {
	if depth > maxTypeDepth {
		return jsonv.Value{}, errors.New("its type nests too deep")
	}
	if list := p.Schema.Lookup("enum"); list.Len() > 0 && depth == 0 && !t.list {
		return list.At(0), nil
	}
	switch {
	case len(t.union) > 0:
		return mk.makeMember(t, p, tag, depth)
	case t.list:
		return mk.makeList(t, p, tag, depth)
	}
	switch kind := basicKinds[t.name]; kind {
	case "string":
		return mk.makeText(t.name, p, tag)
	case "integer":
		return makeWhole(p)
	case "number":
		return makeNumber(p)
	case "boolean":
		return jsonv.Bool(false), nil
	case "object":
		return mk.makeDescribedObject(p, tag, depth)
	case "any":
		return jsonv.String(MakeMarker(mk.runID) + tag), nil
	}
	n := mk.catalog.Types[t.name]
	if n == nil {
		return jsonv.Value{}, fmt.Errorf("the type %s of %s is not known", evidence.QuoteStart(t.name, 40), p.Name)
	}
	return mk.makeNamed(n, p, tag, depth)
}

// makeMember generates a value of the first member of a union that fits.
func (mk *Maker) makeMember(t typeExpr, p Parameter, tag string, depth int) (jsonv.Value, error) {
	var last error
	for _, m := range t.union {
		v, err := mk.make(m, p, tag, depth+1)
		if err == nil && mk.catalog.Fits(p, v) == "" {
			return v, nil
		}
		last = err
	}
	if last == nil {
		last = errors.New("no member of its type fits")
	}
	return jsonv.Value{}, last
}

// makeList generates a list with one element, or none if the type of the elements is not
// documented.
func (mk *Maker) makeList(t typeExpr, p Parameter, tag string, depth int) (jsonv.Value, error) {
	elem := t.elem
	if items := p.Schema.Lookup("items"); elem == nil && items.Lookup("type").Kind() == jsonv.KindString {
		e := ParseType(items.Lookup("type").Text())
		elem, p = &e, Parameter{Name: p.Name, Type: items.Lookup("type").Text(), Schema: items}
	}
	if elem == nil {
		return jsonv.Array(), nil
	}
	v, err := mk.make(*elem, Parameter{Name: p.Name, Schema: p.Schema.Without("enum")}, tag, depth+1)
	if err != nil {
		return v, err
	}
	return jsonv.Array(v), nil
}

func (mk *Maker) makeNamed(n *NamedType, p Parameter, tag string, depth int) (jsonv.Value, error) {
	switch n.Kind {
	case "enum":
		if v := readEnumValue(n.Detail.Lookup("values").At(0)); !v.IsAbsent() {
			return v, nil
		}
		return jsonv.Value{}, fmt.Errorf("the enum %s has no values", n.Name)
	case "union":
		return mk.makeNamedMember(n, p, tag, depth)
	case "object":
		return mk.makeNamedObject(n, tag, depth)
	}
	return mk.makeText("string", p, tag)
}

// makeNamedMember generates a value of the first member of a named union that can be built.
func (mk *Maker) makeNamedMember(n *NamedType, p Parameter, tag string, depth int) (jsonv.Value, error) {
	for _, m := range n.Detail.Lookup("members").Elems() {
		for _, name := range listMemberTypes(m) {
			if v, err := mk.make(ParseType(name), p, tag, depth+1); err == nil {
				return v, nil
			}
		}
	}
	return jsonv.Value{}, fmt.Errorf("no member of the union %s can be built", n.Name)
}

// listMemberTypes returns the types that a member of a union may mean: a text is one, an object
// has it as its type or as its name. What is named so need not exist, as in
// {"name": "Color", "type": "enum"}.
func listMemberTypes(member jsonv.Value) []string {
	if member.Kind() != jsonv.KindObject {
		return []string{member.Text()}
	}
	var out []string
	for _, key := range []string{"type", "name"} {
		if text := member.Lookup(key).Text(); text != "" {
			out = append(out, text)
		}
	}
	return out
}

// makeNamedObject generates an object of a named type with its required fields.
func (mk *Maker) makeNamedObject(n *NamedType, tag string, depth int) (jsonv.Value, error) {
	var out []jsonv.Member
	for _, f := range n.Detail.Lookup("fields").Elems() {
		if !f.Lookup("required").Bool() {
			continue
		}
		field := Parameter{Name: f.Lookup("name").Text(), Schema: f}
		v, err := mk.make(ParseType(f.Lookup("type").Text()), field, tag, depth+1)
		if err != nil {
			return v, err
		}
		out = append(out, jsonv.Member{Key: field.Name, Value: v})
	}
	return jsonv.Object(out...), nil
}

// makeNumber returns 1 or the number next to it that fits. It is whole if possible, because
// pages and counts are called numbers too.
func makeNumber(p Parameter) (jsonv.Value, error) {
	low, high := ReadBounds(p)
	return checkNumber(p, max(low, min(high, 1)))
}

// makeWhole is like makeNumber for whole numbers.
func makeWhole(p Parameter) (jsonv.Value, error) {
	low, high := ReadBounds(p)
	return checkNumber(p, math.Ceil(max(low, min(high, 1))))
}

// checkNumber returns a number as a value, or an error if it is outside the range of the parameter.
func checkNumber(p Parameter, n float64) (jsonv.Value, error) {
	low, high := ReadBounds(p)
	if n < low || n > high {
		return jsonv.Value{}, fmt.Errorf("no whole number fits the range of %s", p.Name)
	}
	if n == math.Trunc(n) && math.Abs(n) < 1<<53 {
		return jsonv.Int(int64(n)), nil
	}
	return jsonv.Float(n), nil
}

var formatted = map[string]string{
	"date": "2026-01-31", "date-time": "2026-01-31T12:00:00Z", "datetime": "2026-01-31T12:00:00Z", "time": "12:00:00Z",
	"email": "conf@example.invalid", "uri": "https://example.invalid/conf", "url": "https://example.invalid/conf",
	"uuid": "00000000-0000-4000-8000-000000000000", "hostname": "example.invalid", "ipv4": "192.0.2.1", "ipv6": "2001:db8::1",
	"byte": "Y29uZg==", "json": "{}",
}

func (mk *Maker) makeText(typ string, p Parameter, tag string) (jsonv.Value, error) {
	format := cmp.Or(strings.ToLower(p.Schema.Lookup("format").Text()), typ)
	once := onceKey().MatchString(p.Name)
	if once {
		mk.keys++
		tag += strconv.Itoa(mk.keys)
	}
	known, ok := formatted[format]
	switch {
	case ok && once && format == "uuid":
		return jsonv.String(fmt.Sprintf("00000000-0000-4000-8000-%012d", mk.keys)), nil
	case ok:
		return jsonv.String(known), nil
	}
	s := MakeMarker(mk.runID) + tag
	if pattern := p.Schema.Lookup("pattern").Text(); pattern != "" {
		return mk.makeMatching(pattern, p, s)
	}
	low, high := readLengths(p)
	if n := utf8.RuneCountInString(s); n < low {
		s += strings.Repeat("x", min(low-n, 1<<20))
	}
	if r := []rune(s); len(r) > high {
		s = string(r[:high])
	}
	return jsonv.String(s), nil
}

// makeMatching returns a spelling of a marked text that fits a parameter with a pattern, or
// else a text without the mark.
func (mk *Maker) makeMatching(pattern string, p Parameter, marked string) (jsonv.Value, error) {
	for _, spelled := range markSpellings(marked) {
		if mk.catalog.Fits(p, jsonv.String(spelled)) == "" {
			return jsonv.String(spelled), nil
		}
	}
	s, err := jsonschema.MakeMatching(pattern)
	if err != nil {
		return jsonv.Value{}, fmt.Errorf("the pattern of %s: %w", p.Name, err)
	}
	return jsonv.String(s), nil
}

// markSpellings returns the spellings of a marked text that patterns of names may
// allow, the plainest first; carries knows all of them.
func markSpellings(s string) []string {
	bare := strings.ReplaceAll(s, "_", "")
	return []string{s, strings.ReplaceAll(s, "_", "-"), bare, strings.ToUpper(s), strings.ToUpper(bare)}
}

// MakeFilled generates a value with visible content: an object gets members, a list an
// element, so that there is something to store.
func (mk *Maker) MakeFilled(op *Operation, p Parameter) (jsonv.Value, error) {
	v, err := mk.MakeValue(op, p, "cycle_"+p.Name)
	if err != nil || !mk.values.Lookup(op.Name, p.Name).IsAbsent() {
		return v, err
	}
	if v.Kind() == jsonv.KindObject && v.Len() == 0 && mk.catalog.isFreeObject(p) {
		return jsonv.From(map[string]any{
			"zz_one":  map[string]any{"a": 1, "b": 2},
			"zz_list": []any{1, 2},
			"zz_text": "x",
		}), nil
	}
	return v, nil
}

// Complete adds the required parameters that a call lacks.
func (mk *Maker) Complete(op *Operation, params jsonv.Value) jsonv.Value {
	for _, p := range op.Params {
		if _, given := params.Get(p.Name); given || !p.Required {
			continue
		}
		if v, err := mk.MakeValue(op, p, p.Name); err == nil {
			params = params.With(p.Name, v)
		}
	}
	return params
}

// makeDescribedObject returns an object with the members that a parameter documents.
func (mk *Maker) makeDescribedObject(p Parameter, tag string, depth int) (jsonv.Value, error) {
	out, required := jsonv.Object(), p.Schema.Lookup("required")
	for name, v := range p.Schema.Lookup("properties").Members() {
		needed := slices.Contains(required.Texts(), name)
		if !needed && !v.Lookup("required").Bool() && required.Kind() == jsonv.KindArray {
			continue
		}
		m, err := mk.make(ParseType(v.Lookup("type").Text()), Parameter{
			Name:   name,
			Schema: v,
			Doc:    v.Lookup("description").Text(),
		}, tag, depth+1)
		if err != nil {
			return m, err
		}
		out = out.With(name, m)
	}
	return out, nil
}
