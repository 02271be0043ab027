package evidence

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"mcptest/internal/aql/reference"
	"mcptest/internal/aql/rule"
	"mcptest/internal/display"
	"mcptest/internal/jsonv"
	"mcptest/internal/source"
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
	r.known(root, "", keysOf(membersOf(reflect.TypeFor[Evidence]()), ""))
	r.Object(root, "", e)
	e.Live = r.live(root)
	if sets := rule.Sets(); e.ExpectedRules != "" && !slices.Contains(sets, string(e.ExpectedRules)) {
		r.Errorf(root.Lookup("expected_rules"), "/expected_rules", "expected one of %s, got %s", strings.Join(sets, ", "), Quoted(display.Truncate(string(e.ExpectedRules), 40)))
	}
	for _, n := range notes {
		if n.Kind != jsonv.LoneSurrogate {
			r.Problems.Add(source.Warnf(r.Places.At(n.Offset), n.Pointer, "%s", n.Kind))
		}
	}
	r.Problems.Sort()
	return e, r.Problems
}

// withoutBOM returns the file without a UTF-8 byte order mark.
func withoutBOM(f *source.File) *source.File {
	data, found := bytes.CutPrefix(f.Data, []byte("\xef\xbb\xbf"))
	if !found {
		return f
	}
	return &source.File{Name: f.Name, Path: f.Path, Data: data}
}

// Reader reads a bundle and collects its problems with their positions.
type Reader struct {
	File     *source.File
	Places   Locator
	Problems source.Diagnostics
}

// NewReader returns a reader of a file, without its byte order mark.
func NewReader(f *source.File) *Reader {
	f = withoutBOM(f)
	return &Reader{File: f, Places: Locator{File: f}}
}

// Parse reads the file's JSON text; it returns false if there is none.
func (r *Reader) Parse() (jsonv.Value, []jsonv.Note, bool) {
	v, notes, err := jsonv.ParseWith(r.File.Data, jsonv.Options{MaxDepth: maxBundleDepth})
	if err == nil {
		return v, notes, true
	}
	pos, msg := source.Pos{File: r.File}, err.Error()
	var syntax *jsonv.SyntaxError
	if errors.As(err, &syntax) {
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

// Member returns a member of the skeleton and checks its kind; null counts as
// omitted. The value is absent if there is no usable one.
func (r *Reader) Member(o jsonv.Value, at, key string, kind jsonv.Kind, need bool) (jsonv.Value, string) {
	v, _ := o.Get(key)
	path := jsonv.AppendPointer(at, key)
	switch v.Kind() {
	case kind:
		return v, path
	case jsonv.KindAbsent:
		if need {
			r.Errorf(o, at, "missing key %q", key)
		}
	case jsonv.KindNull:
		if need {
			r.Errorf(v, path, "expected %s, got null", kindWord(kind))
		}
	default:
		r.Errorf(v, path, "expected %s, got %s", kindWord(kind), Describe(v))
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

// Text reads a text, or returns "". A missing one is a problem if need is set.
func (r *Reader) Text(o jsonv.Value, at, key string, need bool) string {
	v, _ := r.Member(o, at, key, jsonv.KindString, need)
	return v.Text()
}

// Flag reads a boolean, or returns false.
func (r *Reader) Flag(o jsonv.Value, at, key string) bool {
	v, _ := r.Member(o, at, key, jsonv.KindBool, false)
	return v.Bool()
}

// Integer reads a whole number, or returns def.
func (r *Reader) Integer(o jsonv.Value, at, key string, def int, need bool) int {
	v, path := r.Member(o, at, key, jsonv.KindNumber, need)
	if v.IsAbsent() {
		return def
	}
	n := reference.Number(v)
	if n != math.Trunc(n) || math.Abs(n) > math.MaxInt32 {
		r.Errorf(v, path, "expected a whole number, got %s", Describe(v))
		return def
	}
	return int(n)
}

// List reads a list of the skeleton; each element must have the kind.
func (r *Reader) List(o jsonv.Value, at, key string, kind jsonv.Kind, use func(v jsonv.Value, at string)) {
	v, path := r.Member(o, at, key, jsonv.KindArray, false)
	r.Elements(v, path, kind, use)
}

// Elements calls use for each element of a kind and reports the others.
func (r *Reader) Elements(v jsonv.Value, at string, kind jsonv.Kind, use func(v jsonv.Value, at string)) {
	for i, e := range v.Elems() {
		p := at + "/" + strconv.Itoa(i)
		if e.Kind() != kind {
			r.Errorf(e, p, "expected %s, got %s", kindWord(kind), Describe(e))
			continue
		}
		use(e, p)
	}
}

// Texts reads a list of texts.
func (r *Reader) Texts(o jsonv.Value, at, key string) []string {
	var out []string
	r.List(o, at, key, jsonv.KindString, func(v jsonv.Value, _ string) { out = append(out, v.Text()) })
	return out
}

// known warns about a key that looks like a misspelled one, because its value would
// silently be ignored.
func (r *Reader) known(o jsonv.Value, at string, keys []string) {
	for _, m := range reference.Members(o) {
		if near := source.Nearest(m.Key, keys); near != "" && near != m.Key {
			if _, there := o.Get(near); !there {
				r.Problems.Add(source.Warnf(r.Pos(m.Value), jsonv.AppendPointer(at, m.Key), "unknown key %q%s", m.Key, source.Aside(source.Suggest(near))))
			}
		}
	}
}
