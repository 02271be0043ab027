package evidence

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
	"mcptest/internal/mcpaql/reference"
	"mcptest/internal/mcpaql/rule"
)

// maxBundleDepth limits the nesting of a bundle. It is far beyond any answer of an
// adapter, and far below the limit of the stack.
const maxBundleDepth = 10_000

// Read reads a bundle. Every mistake of the bundle's author is an error diagnostic
// with its position and with the JSON pointer as its Path; if there is one, the
// evidence must not be judged. Warnings concern content that is allowed but probably
// not intended. Read never returns a nil Evidence.
func Read(f *source.File) (*Evidence, source.Diagnostics) {
	r := NewReader(f)
	e := &Evidence{File: r.File, ExpectedLevel: 1}
	root, notes, ok := r.Parse()
	if !ok {
		return e, r.Problems
	}
	if root.Kind() != jsonv.KindObject {
		r.Errorf(root, "", "a bundle is a JSON object, this is %s", Describe(root))
		return e, r.Problems
	}
	if isReport(root) {
		d := source.Errorf(r.Pos(root), "", "this is a report, not a bundle of evidence: it has verdicts, and nothing to judge")
		d.Hint = "report converts it, badge and diff read it; a bundle is what live --bundle FILE writes"
		r.Problems.Add(d)
		return e, r.Problems
	}
	r.warnMisspelled(root, "", listKeys(listMembers(reflect.TypeFor[Evidence]()), ""))
	r.ReadObject(root, "", e)
	e.Live = r.readLive(root)
	sets := rule.Sets()
	if e.ExpectedRules != "" && !slices.Contains(sets, string(e.ExpectedRules)) {
		r.Errorf(root.Lookup("expected_rules"), "/expected_rules", "expected one of %s, got %s",
			strings.Join(sets, ", "), QuoteStart(string(e.ExpectedRules), 40))
	}
	for _, n := range notes {
		if n.Kind != jsonv.LoneSurrogate {
			r.Problems.Add(source.Warnf(r.Places.At(n.Offset), n.Pointer, "%s", n.Kind))
		}
	}
	r.Problems.Sort()
	return e, r.Problems
}

// isReport reports whether an object has the form of a report.
func isReport(root jsonv.Value) bool {
	rated := root.Lookup("categories").Kind() == jsonv.KindArray
	summed := root.Lookup("summary").Kind() == jsonv.KindObject
	return rated && summed && root.Lookup("introspection").IsAbsent()
}

// Reader reads a bundle and collects its problems with their positions.
type Reader struct {
	File     *source.File
	Places   Locator
	Problems source.Diagnostics
}

// NewReader returns a reader of a file, without its byte order mark.
func NewReader(f *source.File) *Reader {
	if data, found := bytes.CutPrefix(f.Data, []byte("\xef\xbb\xbf")); found {
		f = &source.File{Name: f.Name, Path: f.Path, Data: data}
	}
	return &Reader{File: f, Places: Locator{File: f}}
}

// Parse reads the file's JSON text; it returns false if there is none.
func (r *Reader) Parse() (jsonv.Value, []jsonv.Note, bool) {
	v, notes, err := jsonv.ParseWith(r.File.Data, jsonv.Options{MaxDepth: maxBundleDepth})
	if err == nil {
		return v, notes, true
	}
	pos, msg := source.Pos{File: r.File}, err.Error()
	if syntax, ok := errors.AsType[*jsonv.SyntaxError](err); ok {
		pos, msg = r.File.At(syntax.Offset), syntax.Msg
	}
	d := source.Errorf(pos, "", "not JSON: %s", msg)
	if len(bytes.TrimSpace(r.File.Data)) == 0 {
		d.Msg = "not JSON: the file is empty"
	}
	r.Problems.Add(d)
	return v, nil, false
}

// Pos returns the position of a value in the file.
func (r *Reader) Pos(v jsonv.Value) source.Pos {
	if v.Offset() < 0 {
		return source.Pos{File: r.File}
	}
	return r.Places.At(v.Offset())
}

// Errorf reports a problem with a value; at is its path.
func (r *Reader) Errorf(v jsonv.Value, at, format string, args ...any) {
	r.Problems.Add(source.Errorf(r.Pos(v), at, format, args...))
}

// presence says whether a member may be missing.
type presence bool

const (
	optional presence = false
	required presence = true
)

// ReadMember returns a member of the skeleton and checks its kind; null counts as
// omitted. The value is absent if there is no usable one.
func (r *Reader) ReadMember(o jsonv.Value, at, key string, kind jsonv.Kind, need presence) (jsonv.Value, string) {
	v, _ := o.Get(key)
	path := jsonv.AppendPointer(at, key)
	switch v.Kind() {
	case kind:
		return v, path
	case jsonv.KindAbsent:
		if need == required {
			r.Errorf(o, at, "missing key %q", key)
		}
	case jsonv.KindNull:
		if need == required {
			r.Errorf(v, path, "expected %s, got null", KindWords[kind])
		}
	default:
		r.Errorf(v, path, "expected %s, got %s", KindWords[kind], Describe(v))
	}
	return jsonv.Value{}, path
}

// KindWords holds the names of kinds in messages.
var KindWords = map[jsonv.Kind]string{
	jsonv.KindBool:   "true or false",
	jsonv.KindNumber: "a number",
	jsonv.KindString: "a string",
	jsonv.KindArray:  "a list",
	jsonv.KindObject: "an object",
}

// ReadText reads a text, or returns "".
func (r *Reader) ReadText(o jsonv.Value, at, key string, need presence) string {
	v, _ := r.ReadMember(o, at, key, jsonv.KindString, need)
	return v.Text()
}

// ReadInteger reads a whole number, or returns def.
func (r *Reader) ReadInteger(o jsonv.Value, at, key string, def int, need presence) int {
	v, path := r.ReadMember(o, at, key, jsonv.KindNumber, need)
	if v.IsAbsent() {
		return def
	}
	n := v.Float64()
	if n != math.Trunc(n) || math.Abs(n) > math.MaxInt32 {
		r.Errorf(v, path, "expected a whole number, got %s", Describe(v))
		return def
	}
	return int(n)
}

// List reads a list of the skeleton; each element must have the kind.
func (r *Reader) List(o jsonv.Value, at, key string, kind jsonv.Kind, use func(v jsonv.Value, at string)) {
	v, path := r.ReadMember(o, at, key, jsonv.KindArray, optional)
	r.VisitElements(v, path, kind, use)
}

// VisitElements calls use for each element of a kind and reports the others.
func (r *Reader) VisitElements(v jsonv.Value, at string, kind jsonv.Kind, use func(v jsonv.Value, at string)) {
	for i, e := range v.Elems() {
		p := at + "/" + strconv.Itoa(i)
		if e.Kind() != kind {
			r.Errorf(e, p, "expected %s, got %s", KindWords[kind], Describe(e))
			continue
		}
		use(e, p)
	}
}

// warnMisspelled warns about a key that looks like a misspelled one, because its value would
// silently be ignored.
func (r *Reader) warnMisspelled(o jsonv.Value, at string, keys []string) {
	for _, m := range reference.ListMembers(o) {
		near := source.FindNearest(m.Key, keys)
		if near == "" || near == m.Key {
			continue
		}
		if _, there := o.Get(near); !there {
			path, hint := jsonv.AppendPointer(at, m.Key), source.Parenthesis(source.Suggest(near))
			r.Problems.Add(source.Warnf(r.Pos(m.Value), path, "unknown key %q%s", m.Key, hint))
		}
	}
}

// readLive reads x_live, a live run's record of itself. It is part of the skeleton: rows
// are built from it, so a wrong type in it is a mistake and is not silently ignored.
// Unknown members are ignored.
func (r *Reader) readLive(o jsonv.Value) jsonv.Value {
	live, at := r.ReadMember(o, "", "x_live", jsonv.KindObject, optional)
	for _, key := range []string{"tool", "started", "finished", "target", "repeat", "run", "ended"} {
		r.ReadMember(live, at, key, jsonv.KindString, optional)
	}
	for _, key := range []string{"mcp", "model", "judge"} {
		r.ReadMember(live, at, key, jsonv.KindObject, optional)
	}
	r.ReadMember(live, at, "partial", jsonv.KindBool, optional)
	for _, key := range []string{"tools", "dialect", "modes", "notices", "volatile_paths", "unchecked"} {
		r.List(live, at, key, jsonv.KindString, func(jsonv.Value, string) {})
	}
	for _, key := range []string{"calls", "batch_sent"} {
		r.ReadInteger(live, at, key, 0, optional)
	}
	if p := live.Lookup("policy"); p.Kind() != jsonv.KindString { // the mode alone is sufficient
		p, path := r.ReadMember(live, at, "policy", jsonv.KindObject, optional)
		r.ReadText(p, path, "mode", optional)
	}
	short, path := r.ReadMember(live, at, "cut_short", jsonv.KindObject, optional)
	for key := range short.Members() {
		r.ReadText(short, path, key, optional)
	}
	r.readRecords(live, at, "skipped", "operation", "reason", "detail")
	r.readRecords(live, at, "untested", "test", "operation", "parameter", "reason")
	r.readRecords(live, at, "unasked", "name", "reason")
	r.readRecords(live, at, "cleanup", "operation")
	r.readRecords(live, at, "leftovers", "operation", "reason")
	r.readRecords(live, at, "changed", "operation", "says")
	r.List(live, at, "transcript", jsonv.KindObject, func(c jsonv.Value, at string) {
		r.ReadText(c, at, "tool", optional)
	})
	r.List(live, at, "tests", jsonv.KindObject, r.readLiveTest)
	return live
}

// readRecords reads a list of objects with some texts.
func (r *Reader) readRecords(o jsonv.Value, at, key string, texts ...string) {
	r.List(o, at, key, jsonv.KindObject, func(v jsonv.Value, at string) {
		for _, t := range texts {
			r.ReadText(v, at, t, optional)
		}
	})
}

// readLiveTest reads the evidence of one live row.
func (r *Reader) readLiveTest(t jsonv.Value, at string) {
	id := r.ReadText(t, at, "id", required)
	test, known := rule.TestByID()[id]
	if id != "" && !(known && test.Live) {
		r.Problems.Add(source.Warnf(r.Pos(t.Lookup("id")), at+"/id",
			"no row of a live report is called %q: the entry is ignored", display.Truncate(id, 40)))
	}
	r.ReadInteger(t, at, "cases", 0, optional)
	for _, key := range []string{"lacking", "moot", "observed"} {
		r.ReadText(t, at, key, optional)
	}
	r.List(t, at, "findings", jsonv.KindObject, func(f jsonv.Value, at string) {
		name := r.ReadText(f, at, "rule", required)
		r.ReadText(f, at, "says", required)
		r.ReadInteger(f, at, "call", 0, optional)
		rule := rule.ByID()[name]
		if name != "" && (rule == nil || rule.Test != id) {
			r.Problems.Add(source.Warnf(r.Pos(f.Lookup("rule")), at+"/rule",
				"%q is not a rule of this row: the entry is ignored", display.Truncate(name, 40)))
		}
	})
}

// Locator converts byte offsets to positions. A minified bundle is one line of many
// megabytes, where counting columns from the line's start for each of thousands of
// findings would take minutes; with ascending offsets, it reads the text once.
type Locator struct {
	File *source.File
	last source.Pos
	from int // offset of last
}

// At returns the position of a byte offset. Offsets that increase are cheap.
func (l *Locator) At(offset int) source.Pos {
	isAhead := offset >= l.from && l.last.Line != 0 && offset <= len(l.File.Data)
	if !isAhead || bytes.ContainsAny(l.File.Data[l.from:offset], "\r\n") {
		l.last = l.File.At(offset)
	} else {
		l.last.Col += utf8.RuneCount(l.File.Data[l.from:offset])
	}
	l.from = offset
	return l.last
}
