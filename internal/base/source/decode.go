package source

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lists"
)

// Decode strictly decodes a node into the struct that into points to and returns
// every mistake it found, sorted. Valid parts are decoded even if others have
// mistakes.
//
// Fields are selected by a tag; fields without a tag are not changed:
//
//	Pos     source.Pos                          // the node's position; embedded or not
//	Name    string        `yaml:"name,required"`
//	Mode    string        `yaml:"mode" enum:"fast|slow"`
//	Timeout time.Duration `yaml:"timeout"`      // "30s", "1m30s"
//	Weight  *float64      `yaml:"weight"`       // nil: not given, or null
//	Retries int           `yaml:"retries" range:"0-100"` // of a duration: range:">0"
//	Env     source.Map[string] `yaml:"env"`     // in written order, with positions
//	Args    jsonv.Value   `yaml:"args"`         // any value
//	Raw     *source.Node  `yaml:"raw"`          // any value, with its positions
//	Common                `yaml:",inline"`      // a struct whose keys are among these
//
// Other supported types: bool, the int and uint types, float64, structs, pointers,
// slices, map[string]T, and types with DecodeNode. null is a mistake except for
// pointers, *Node, jsonv.Value and DecodeNode.
func Decode(n *Node, into any) Diagnostics {
	var d Decoder
	d.Decode(n, "", into)
	ds := d.Diagnostics()
	ds.Sort()
	return ds
}

// An Unmarshaler decodes itself, for example a key that is a string or a list. It
// reports mistakes to d and decodes parts of itself with d.Decode.
type Unmarshaler interface {
	DecodeNode(n *Node, path string, d *Decoder)
}

// A Decoder collects the mistakes of one decoding. The zero value is ready to use.
type Decoder struct {
	found  collector
	layout map[reflect.Type]*layout
	uses   []*use // aliases that lead to the current node
	depth  int
}

// Diagnostics returns the diagnostics so far, in the order in which they were
// reported.
func (d *Decoder) Diagnostics() Diagnostics { return d.found.listAll() }

// Count returns the number of reported mistakes and warnings, including those over
// the limit. It is cheap.
func (d *Decoder) Count() int { return len(d.found.diags) + d.found.dropped }

// Errorf reports a mistake at a node. The caller may set Hint, Code or Related of the
// result until the next report.
func (d *Decoder) Errorf(n *Node, path, format string, args ...any) *Diagnostic {
	return d.report(n, path, Error, format, args)
}

// Warnf is Errorf for valid values that are probably not intended.
func (d *Decoder) Warnf(n *Node, path, format string, args ...any) *Diagnostic {
	return d.report(n, path, Warning, format, args)
}

func (d *Decoder) report(n *Node, path string, sev Severity, format string, args []any) *Diagnostic {
	if n != nil && n.isBroken() {
		return new(Diagnostic)
	}
	var pos Pos
	if n != nil {
		pos = n.Pos
	}
	if d.found.full() {
		return d.found.drop(pos, sev)
	}
	diag := Diagnostic{Pos: pos, Path: path, Msg: fmt.Sprintf(format, args...), Severity: sev}
	uses := d.uses
	if n != nil && n.via != nil && (len(uses) == 0 || uses[len(uses)-1] != n.via) {
		uses = append(slices.Clip(uses), n.via)
	}
	for i := len(uses) - 1; i >= 0 && len(diag.Related) < maxRelated; i-- {
		diag.Related = append(diag.Related, Related{Pos: uses[i].pos, Msg: "used through the alias here"})
	}
	return d.found.add(diag)
}

// Add reports complete diagnostics.
func (d *Decoder) Add(ds ...Diagnostic) {
	for _, diag := range ds {
		d.found.add(diag)
	}
}

// ErrorAt reports a mistake at a position, which need not be that of a whole node.
func (d *Decoder) ErrorAt(pos Pos, path, msg, hint string) {
	d.Add(Diagnostic{Pos: pos, Path: path, Msg: msg, Hint: hint})
}

// AddNew reports the diagnostics whose message was not reported at the same position
// before.
func (d *Decoder) AddNew(ds ...Diagnostic) {
	known := func(n Diagnostic) bool {
		return slices.ContainsFunc(d.found.diags, func(o Diagnostic) bool { return o.Pos == n.Pos && o.Msg == n.Msg })
	}
	d.Add(slices.DeleteFunc(ds, known)...)
}

// Decode decodes a node into the value that into points to and reports mistakes to d.
// path is the position of the node in the document. A nil node changes nothing.
func (d *Decoder) Decode(n *Node, path string, into any) {
	v := reflect.ValueOf(into)
	if v.Kind() != reflect.Pointer || v.IsNil() {
		d.reportUnsupported(n, path, reflect.TypeOf(into))
		return
	}
	d.decodeValue(n, path, v.Elem())
}

// DecodeOneOrMany decodes a list, or one of its elements, and reports whether it is a list. empty
// is the mistake of an empty list; "" if that is none.
func (d *Decoder) DecodeOneOrMany(n *Node, path string, list, one any, empty string) (many bool) {
	if n.Kind != KindList {
		d.Decode(n, path, one)
		return false
	}
	d.Decode(n, path, list)
	if len(n.Items) == 0 && empty != "" {
		d.Errorf(n, path, "%s", empty)
	}
	return true
}

var (
	durationType    = reflect.TypeFor[time.Duration]()
	jsonType        = reflect.TypeFor[jsonv.Value]()
	nodeType        = reflect.TypeFor[Node]()
	posType         = reflect.TypeFor[Pos]()
	unmarshalerType = reflect.TypeFor[Unmarshaler]()
)

// maxDecodeDepth stops an Unmarshaler that decodes itself without end.
const maxDecodeDepth = 4 * MaxDepth

func (d *Decoder) decodeValue(n *Node, path string, v reflect.Value) {
	if n == nil || n.isBroken() || d.depth > maxDecodeDepth {
		return
	}
	d.depth++
	defer func() { d.depth-- }()
	if n.via != nil && (len(d.uses) == 0 || d.uses[len(d.uses)-1] != n.via) {
		d.uses = append(d.uses, n.via)
		defer func() { d.uses = d.uses[:len(d.uses)-1] }()
	}
	t := v.Type()
	if t.Kind() != reflect.Pointer && v.CanAddr() && reflect.PointerTo(t).Implements(unmarshalerType) {
		v.Addr().Interface().(Unmarshaler).DecodeNode(n, path, d)
		return
	}
	switch t {
	case durationType:
		d.decodeDuration(n, path, v)
		return
	case jsonType:
		v.Set(reflect.ValueOf(n.JSON()))
		return
	}
	switch t.Kind() {
	case reflect.Pointer:
		d.decodePointer(n, path, v)
	case reflect.Struct:
		d.decodeStruct(n, path, v)
	case reflect.Slice:
		d.decodeSlice(n, path, v)
	case reflect.Map:
		d.decodeMap(n, path, v)
	default:
		d.decodeScalar(n, path, v)
	}
}

func (d *Decoder) decodePointer(n *Node, path string, v reflect.Value) {
	t := v.Type()
	switch {
	case t.Elem() == nodeType:
		v.Set(reflect.ValueOf(n))
	case n.Kind == KindNull && !t.Implements(unmarshalerType):
		v.SetZero()
	default:
		into := reflect.New(t.Elem())
		d.decodeValue(n, path, into.Elem())
		v.Set(into)
	}
}

func (d *Decoder) decodeSlice(n *Node, path string, v reflect.Value) {
	if n.Kind != KindList {
		diag := d.ReportWrongType(n, path, "a list")
		if n.Kind != KindNull && n.Kind != KindMap {
			diag.Hint = "write a list: [" + listText(n) + "]"
		}
		return
	}
	out := reflect.MakeSlice(v.Type(), len(n.Items), len(n.Items))
	for i, item := range n.Items {
		d.decodeValue(item, PathIndex(path, i), out.Index(i))
	}
	v.Set(out)
}

func (d *Decoder) decodeMap(n *Node, path string, v reflect.Value) {
	t := v.Type()
	if t.Key().Kind() != reflect.String {
		d.reportUnsupported(n, path, t)
		return
	}
	if n.Kind != KindMap {
		d.ReportWrongType(n, path, "a map")
		return
	}
	out := reflect.MakeMapWithSize(t, len(n.Fields))
	for _, f := range n.Fields {
		val := reflect.New(t.Elem()).Elem()
		d.decodeValue(f.Value, PathKey(path, f.Key.Text), val)
		out.SetMapIndex(reflect.ValueOf(f.Key.Text).Convert(t.Key()), val)
	}
	v.Set(out)
}

func (d *Decoder) decodeStruct(n *Node, path string, v reflect.Value) {
	l := d.findLayout(v.Type())
	for _, index := range l.pos {
		v.FieldByIndex(index).Set(reflect.ValueOf(n.Pos))
	}
	if n.Kind != KindMap {
		d.explainNoMap(n, path, v, l.names)
		return
	}
	var given keySet
	var meant []string // names similar to unknown keys
	for _, f := range n.Fields {
		at, ok := l.byName[f.Key.Text]
		if !ok {
			meant = append(meant, d.explainUnknownKey(f, path, v, l.names))
			continue
		}
		given.add(at)
		key := &l.fields[at]
		into := v.FieldByIndex(key.index)
		if key.text && key.Enum == nil && f.Value.Kind == KindString && f.Value.via == nil {
			into.SetString(f.Value.Text) // most fields are strings: don't build a path
			continue
		}
		d.decodeMember(f.Value, PathKey(path, f.Key.Text), into, key)
	}
	for at := range l.fields {
		f := &l.fields[at]
		if !f.Required || given.has(at) {
			continue
		}
		if !slices.Contains(meant, f.Name) { // otherwise the misspelled key was reported
			d.Errorf(n, path, "missing key %q", f.Name).Code = "missing-key"
		}
	}
}

// keySet is a set of indexes of fields, without an allocation for the first 64.
type keySet struct {
	bits uint64
	more []int
}

func (s *keySet) add(at int) {
	if at < 64 {
		s.bits |= 1 << at
	} else {
		s.more = append(s.more, at)
	}
}

func (s *keySet) has(at int) bool {
	if at < 64 {
		return s.bits&(1<<at) != 0
	}
	return slices.Contains(s.more, at)
}

// explainUnknownKey reports an unknown key of a struct. It returns the key that is probably
// meant, or "".
func (d *Decoder) explainUnknownKey(f Field, path string, v reflect.Value, names []string) string {
	near, hint := GuessKey(f.Key, f.Value, names)
	if near != "" {
		d.reportUnknownKey(f.Key, path, names, hint)
		return near
	}
	return d.reportUnknownKey(f.Key, path, names, findAdvice(v, f.Key.Text))
}

// explainNoMap reports that a node must be a map, with a hint of what it may contain.
func (d *Decoder) explainNoMap(n *Node, path string, v reflect.Value, names []string) {
	diag := d.ReportWrongType(n, path, "a map")
	if diag.Hint == "" {
		diag.Hint = findAdvice(v, "")
	}
	if diag.Hint == "" && len(names) > 0 && len(names) <= 10 {
		diag.Hint = mapHint + strings.Join(names, ", ")
	}
}

// mapHint begins a hint that shows no value.
const mapHint = "write a map with "

// decodeMember decodes the value of a known key, and checks what the key permits.
func (d *Decoder) decodeMember(n *Node, path string, into reflect.Value, key *layoutField) {
	before := len(d.found.diags)
	d.decodeValue(n, path, into)
	found := d.found.diags[before:]
	isType := len(found) == 1 && found[0].Code == "type" && found[0].Pos == n.Pos
	if isType && key.example != "" {
		addExample(&found[0], key)
	}
	if key.Enum != nil && len(d.found.diags) == before {
		d.checkEnum(n, path, into, key.Enum)
	}
	if key.limits != "" && len(d.found.diags) == before {
		d.checkWithin(n, path, into, key.limits)
	}
}

// addExample shows how a key is written, unless the hint of a mistake shows a value.
func addExample(found *Diagnostic, key *layoutField) {
	example := "for example " + key.Name + ": " + key.example
	switch {
	case found.Hint == "":
		found.Hint = example
	case strings.HasPrefix(found.Hint, mapHint):
		found.Hint += ", " + example
	}
}

// KeyAdviser is implemented by types that know common mistakes: AdviseKey returns the
// key to use instead of an unknown one, or a hint of several words, or "". The empty key
// stands for a value that is not a map.
type KeyAdviser interface{ AdviseKey(key string) string }

func findAdvice(v reflect.Value, key string) string {
	if v.CanAddr() {
		if a, ok := v.Addr().Interface().(KeyAdviser); ok {
			return a.AdviseKey(key)
		}
	}
	return ""
}

// reportUnknownKey reports an unknown key, with the adviser's key or hint, the most similar name, or
// all names if there are few. It returns the similar name, or "".
func (d *Decoder) reportUnknownKey(key *Node, path string, names []string, hint string) string {
	diag := d.Errorf(key, path, "unknown key %s", quote(display.Truncate(key.Text, shownText)))
	diag.Code = "unknown-key"
	if d.found.full() {
		return "" // searching for similar names is expensive
	}
	if strings.Contains(hint, " ") {
		diag.Hint = hint
		return ""
	}
	near := hint
	if !slices.Contains(names, near) {
		near = FindNearest(key.Text, names)
	}
	if near != "" {
		diag.Msg += Parenthesis(Suggest(near))
		return near
	}
	const readable = 30
	if len(names) > 0 && len(names) <= readable {
		diag.Hint = "known keys: " + strings.Join(names, ", ")
	}
	return ""
}

// ReportUnknownKey reports a key of a map that is not among names, with the same message as
// Decode. It is for Unmarshalers that decode maps themselves.
func (d *Decoder) ReportUnknownKey(key *Node, path string, names []string) {
	d.reportUnknownKey(key, path, names, "")
}

func (d *Decoder) checkEnum(n *Node, path string, v reflect.Value, allowed []string) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			d.checkEnum(n, path, v.Elem(), allowed)
		}
	case reflect.Slice:
		for i := range min(v.Len(), len(n.Items)) {
			d.checkEnum(n.Items[i], PathIndex(path, i), v.Index(i), allowed)
		}
	case reflect.String:
		got := v.String()
		if slices.Contains(allowed, got) {
			return
		}
		quoted := lists.Map(allowed, quote)
		want := display.Alternatives(quoted, "or")
		near := Parenthesis(DidYouMean(got, allowed))
		d.Errorf(n, path, "expected %s, got %s%s", want, quote(display.Truncate(got, shownText)), near).Code = "enum"
	}
}

// checkWithin reports a number outside its limits, or a duration that is not positive.
func (d *Decoder) checkWithin(n *Node, path string, v reflect.Value, limits string) {
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if !v.IsValid() { // null
		return
	}
	got := v.Convert(reflect.TypeFor[float64]()).Float()
	low, high, ok := strings.Cut(limits, "-")
	least, _ := strconv.ParseFloat(low, 64)
	most, _ := strconv.ParseFloat(high, 64)
	switch {
	case !ok && got <= 0:
		d.Errorf(n, path, "must be greater than zero").Code = "range"
	case ok && (got < least || got > most):
		d.Errorf(n, path, "expected a number from %s to %s, got %v", low, high, v.Interface()).Code = "range"
	}
}

// reportUnsupported reports a programming error: the decoded types are fixed, so every test
// that decodes one finds it.
func (d *Decoder) reportUnsupported(n *Node, path string, t reflect.Type) {
	d.Errorf(n, path, "internal error: can't decode into %v", t).Code = "internal"
}
