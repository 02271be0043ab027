package aql

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"

	"mcptest/internal/display"
	"mcptest/internal/jsonv"
	"mcptest/internal/source"
)

// maxBundleDepth is how deep a bundle may nest. It is far beyond anything an
// adapter answers, and far below what the stack can take.
const maxBundleDepth = 10_000

// ReadEvidence reads a bundle. Every mistake in what the bundle's author
// wrote is an error diagnostic at its place, with the JSON pointer as its
// Path; when there is one, the evidence is not to be judged. Warnings are
// about things that are allowed but probably meant otherwise. It never
// returns a nil Evidence.
func ReadEvidence(f *source.File) (*Evidence, source.Diagnostics) {
	r := newReader(f)
	e := &Evidence{File: r.file, ExpectedLevel: 1}
	root, notes, ok := r.parse()
	if !ok {
		return e, r.problems
	}
	if root.Kind() != jsonv.KindObject {
		r.errorf(root, "", "a bundle is a JSON object, this is %s", describe(root))
		return e, r.problems
	}
	r.top(root, e)
	for _, n := range notes {
		if n.Kind != jsonv.LoneSurrogate {
			r.problems.Add(source.Warnf(r.places.at(n.Offset), n.Pointer, "%s", n.Kind))
		}
	}
	r.problems.Sort()
	return e, r.problems
}

// withoutBOM returns the file without a UTF-8 byte order mark.
func withoutBOM(f *source.File) *source.File {
	data, found := bytes.CutPrefix(f.Data, []byte("\xef\xbb\xbf"))
	if !found {
		return f
	}
	return &source.File{Name: f.Name, Path: f.Path, Data: data}
}

type reader struct {
	file     *source.File
	places   locator
	problems source.Diagnostics
}

func newReader(f *source.File) *reader {
	f = withoutBOM(f)
	return &reader{file: f, places: locator{file: f}}
}

// parse reads the file's JSON text; false when it has none.
func (r *reader) parse() (jsonv.Value, []jsonv.Note, bool) {
	v, notes, err := jsonv.ParseWith(r.file.Data, jsonv.Options{MaxDepth: maxBundleDepth})
	if err == nil {
		return v, notes, true
	}
	pos, msg := source.Pos{File: r.file}, err.Error()
	var syntax *jsonv.SyntaxError
	if errors.As(err, &syntax) {
		pos, msg = r.file.At(syntax.Offset), syntax.Msg
	}
	d := source.Errorf(pos, "", "not JSON: %s", msg)
	if len(bytes.TrimSpace(r.file.Data)) == 0 {
		d.Msg = "not JSON: the file is empty"
	}
	r.problems.Add(d)
	return v, nil, false
}

func (r *reader) pos(v jsonv.Value) source.Pos {
	if v.Offset() < 0 {
		return source.Pos{File: r.file}
	}
	return r.places.at(v.Offset())
}

func (r *reader) errorf(v jsonv.Value, at, format string, args ...any) {
	r.problems.Add(source.Errorf(r.pos(v), at, format, args...))
}

// describe names what a value is, for messages: `a number (42)`.
func describe(v jsonv.Value) string {
	switch v.Kind() {
	case jsonv.KindAbsent:
		return "nothing"
	case jsonv.KindNull:
		return "null"
	case jsonv.KindBool:
		return strconv.FormatBool(v.Bool())
	case jsonv.KindNumber:
		return "a number (" + display.Truncate(v.Literal(), 24) + ")"
	case jsonv.KindString:
		return "a string (" + quoted(display.Truncate(v.Text(), 40)) + ")"
	case jsonv.KindArray:
		return fmt.Sprintf("a list of %d", v.Len())
	}
	return fmt.Sprintf("an object of %d", v.Len())
}

func quoted(s string) string { return string(jsonv.AppendString(nil, s)) }

// member finds a member of the skeleton and checks its kind; null counts as
// left out. The value is absent when there is nothing to use.
func (r *reader) member(o jsonv.Value, at, key string, kind jsonv.Kind, need bool) (jsonv.Value, string) {
	v, _ := o.Get(key)
	path := jsonv.AppendPointer(at, key)
	switch v.Kind() {
	case kind:
		return v, path
	case jsonv.KindAbsent:
		if need {
			r.errorf(o, at, "missing key %q", key)
		}
	case jsonv.KindNull:
		if need {
			r.errorf(v, path, "expected %s, got null", kindWord(kind))
		}
	default:
		r.errorf(v, path, "expected %s, got %s", kindWord(kind), describe(v))
	}
	return jsonv.Value{}, path
}

func kindWord(k jsonv.Kind) string {
	switch k {
	case jsonv.KindBool:
		return "true or false"
	case jsonv.KindNumber:
		return "a number"
	case jsonv.KindString:
		return "a string"
	case jsonv.KindArray:
		return "a list"
	}
	return "an object"
}

func (r *reader) text(o jsonv.Value, at, key string, need bool) string {
	v, _ := r.member(o, at, key, jsonv.KindString, need)
	return v.Text()
}

func (r *reader) flag(o jsonv.Value, at, key string) bool {
	v, _ := r.member(o, at, key, jsonv.KindBool, false)
	return v.Bool()
}

// integer reads a whole number, or returns def.
func (r *reader) integer(o jsonv.Value, at, key string, def int) int {
	v, path := r.member(o, at, key, jsonv.KindNumber, false)
	if v.IsAbsent() {
		return def
	}
	n := number(v)
	if n != math.Trunc(n) || math.Abs(n) > math.MaxInt32 {
		r.errorf(v, path, "expected a whole number, got %s", describe(v))
		return def
	}
	return int(n)
}

// list reads a list of the skeleton; each element must have the kind.
func (r *reader) list(o jsonv.Value, at, key string, kind jsonv.Kind, use func(v jsonv.Value, at string)) {
	v, path := r.member(o, at, key, jsonv.KindArray, false)
	r.elements(v, path, kind, use)
}

func (r *reader) elements(v jsonv.Value, at string, kind jsonv.Kind, use func(v jsonv.Value, at string)) {
	for i, e := range v.Elems() {
		p := at + "/" + strconv.Itoa(i)
		if e.Kind() != kind {
			r.errorf(e, p, "expected %s, got %s", kindWord(kind), describe(e))
			continue
		}
		use(e, p)
	}
}

func (r *reader) texts(o jsonv.Value, at, key string) []string {
	var out []string
	r.list(o, at, key, jsonv.KindString, func(v jsonv.Value, _ string) { out = append(out, v.Text()) })
	return out
}

// known warns of a key that looks like a misspelt one: what is written under
// it would silently not count.
func (r *reader) known(o jsonv.Value, at string, keys ...string) {
	for _, m := range members(o) {
		if near := source.Nearest(m.Key, keys); near != "" && near != m.Key {
			if _, there := o.Get(near); !there {
				r.problems.Add(source.Warnf(r.pos(m.Value), jsonv.AppendPointer(at, m.Key), "unknown key %q%s", m.Key, source.Aside(source.Suggest(near))))
			}
		}
	}
}
