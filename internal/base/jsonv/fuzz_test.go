package jsonv_test

import (
	"bytes"
	"encoding/json"
	"io"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"mcptest/internal/base/jsonv"
)

func seeds(f *testing.F) {
	for _, tt := range syntaxErrors {
		f.Add([]byte(tt.in))
	}
	for _, s := range []string{
		`{"a":[1,2.5e-3,{"b":null}],"c":"\ud83d\ude00\ud800","d":true,"a":false}`,
		"{\"a\":[{\"\xb7\":null}],\"a\":false}", nested("[", "", "]", 131),
		"[\"\xff\",\"\xed\xa0\x80\",\"é\"]", `-0.0E+10`, ` [ ] `, `{"":{}}`, nested("[", "", "]", 1001),
		`"\u0000\u001f\u007f\u2028"`, `{"k1":1,"k2":2,"k3":3,"k4":4,"k5":5,"k6":6,"k7":7,"k8":8,"k9":9,"k10":1,"k11":1,"k12":1,"k13":1,"k1":9}`,
	} {
		f.Add([]byte(s))
	}
}

// decodeStd reads one JSON text with encoding/json, numbers kept.
func decodeStd(data []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var x any
	if err := d.Decode(&x); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, io.ErrUnexpectedEOF
	}
	return x, nil
}

// FuzzParse holds the parser against encoding/json and against itself.
func FuzzParse(f *testing.F) {
	seeds(f)
	f.Add([]byte("\"\\\"\xff\"")) // reaches code that no other seed does
	f.Add([]byte("A\x000\x00"))   // UTF-16
	f.Fuzz(func(t *testing.T, data []byte) {
		v, notes, err := jsonv.ParseWith(data, jsonv.Options{})
		if verr := jsonv.Valid(data); (verr == nil) != (err == nil) || err != nil && verr.Error() != err.Error() {
			t.Fatalf("Parse says %v, Valid says %v", err, verr)
		}
		tooDeep := err != nil && strings.Contains(err.Error(), "levels deep")
		if std := json.Valid(data); std != (err == nil) && !tooDeep {
			t.Fatalf("encoding/json accepts: %v, we say %v", std, err)
		}
		if err != nil {
			if syntax := err.(*jsonv.SyntaxError); syntax.Offset < 0 || syntax.Offset > len(data) || !utf8.ValidString(syntax.Msg) {
				t.Fatalf("bad error %#v", syntax)
			}
			return
		}
		checkNotes(t, v, notes, data)
		text := v.Append(nil)
		if !utf8.Valid(text) || !json.Valid(text) {
			t.Fatalf("Append wrote %q", text)
		}
		back, err := jsonv.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		odd := false
		for _, n := range notes {
			odd = odd || n.Kind != jsonv.DuplicateKey
		}
		if odd { // encoding/json replaces what we keep
			return
		}
		if again := back.Append(nil); !bytes.Equal(text, again) || !jsonv.Equal(v, back) {
			t.Fatalf("%s became %s", text, again)
		}
		if len(notes) > 0 { // encoding/json merges duplicates
			return
		}
		want, err := decodeStd(data)
		if err != nil {
			t.Fatal(err)
		}
		// cmp.Diff takes exponential time on deeply nested lists.
		if got := v.Interface(); !reflect.DeepEqual(want, got) {
			t.Fatalf("encoding/json has %v, we have %v", want, got)
		}
	})
}

func checkNotes(t *testing.T, v jsonv.Value, notes []jsonv.Note, data []byte) {
	if utf8.Valid(data) == hasKind(notes, jsonv.InvalidUTF8) {
		t.Fatalf("notes %v", notes)
	}
	for _, n := range notes {
		if n.Offset < 0 || n.Offset >= len(data) {
			t.Fatalf("note %v outside the text", n)
		}
		// Behind a duplicate key a pointer finds the last member only.
		if _, ok := v.Pointer(n.Pointer); !ok && !hasKind(notes, jsonv.DuplicateKey) {
			t.Fatalf("note %v points to nothing", n)
		}
	}
}

func hasKind(notes []jsonv.Note, kind jsonv.NoteKind) bool {
	for _, n := range notes {
		if n.Kind == kind {
			return true
		}
	}
	return false
}

// FuzzEachMember holds the walk over members against the tree.
func FuzzEachMember(f *testing.F) {
	seeds(f)
	// Each reaches code that no other seed does.
	for _, seed := range []string{
		"{\"\\\\\\\\\\\\\\\\\\\\\\\\\xbc\":1}",
		"{\"\":[1,{\"\"\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\x1c",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var members []jsonv.Member
		err := jsonv.VisitMembers(data, func(key string, raw []byte) error {
			v, err := jsonv.Parse(raw)
			if err != nil {
				t.Fatalf("member %q has the text %q: %v", key, raw, err)
			}
			members = append(members, jsonv.Member{Key: key, Value: v})
			return nil
		})
		v, perr := jsonv.Parse(data)
		if object := perr == nil && v.Kind() == jsonv.KindObject; object != (err == nil) {
			t.Fatalf("Parse: %v, %v; EachMember: %v", v.Kind(), perr, err)
		}
		if err == nil && jsonv.Object(members...).String() != v.String() {
			t.Fatalf("members %v of %s", members, v)
		}
	})
}

// FuzzElements holds the elements of an array against the tree.
func FuzzElements(f *testing.F) {
	seeds(f)
	f.Add([]byte(` [ {"a":[1,2]} , "x,]\"" , [3,4] ] `))
	f.Fuzz(func(t *testing.T, data []byte) {
		texts, err := jsonv.Elements(data)
		v, perr := jsonv.Parse(data)
		if array := perr == nil && v.Kind() == jsonv.KindArray; array != (err == nil) {
			t.Fatalf("Parse: %v, %v; Elements: %v", v.Kind(), perr, err)
		}
		var elems []jsonv.Value
		for _, text := range texts {
			e, err := jsonv.Parse(text)
			if err != nil {
				t.Fatalf("element %q: %v", text, err)
			}
			elems = append(elems, e)
		}
		if err == nil && jsonv.Array(elems...).String() != v.String() {
			t.Fatalf("elements %q of %s", texts, v)
		}
	})
}

// FuzzDiff checks that a diff is empty exactly for equal values, and symmetric
// in that.
func FuzzDiff(f *testing.F) {
	f.Add([]byte(`[1,2,{"a":3}]`), []byte(`[0,1,2,{"a":4}]`))
	f.Add([]byte(`{"a":1,"a":2}`), []byte(`{"a":2.0}`))
	f.Add([]byte(`1e99999999999999999999`), []byte(`10e99999999999999999998`))
	// Each reaches code that no other seed does.
	f.Add([]byte("{\"\":1,\"Ұү\xd2\xd2\xd2\":22}"), []byte("{\"\":1,\"\xd2ү\xd2\xd2\xd2\xd2\xd2\xd2\":22}"))
	f.Add([]byte("0"), []byte("LLLLLLL49OOOOOOOO999L"))
	f.Add([]byte("{\"\xe4\x90\xef\":1,\"\":2}"), []byte("{\r\r\r\r\r}"))
	f.Add([]byte("6666666666666666666666666666666666666666666666666666666666667666"), []byte("6666666666666666666666666666666666666666666666666666666666667666\xb3\r\x1a:\xec\xf1\xbfA\xd14\xf3\xb5\x0fl|666666"))
	f.Add([]byte("{\"adn\x81\""), []byte("{\"adn\xba\x81\":1,\"\""))
	f.Add([]byte("\"\""), []byte("\"}zzz**8.***********>**j\x8cz\xff2\xder\""))
	f.Add([]byte("0"), []byte("\r\r\r[0\r\r\r\r"))
	f.Add([]byte("{\"\":1,\r\r\r\r\"\xd2\xd2\xd2\xd2\xd2\xd2\":2}"), []byte("{\"\":1,\r\r\r\r\"\xd2\xd2\xc5\xd2\xd2\xd2\xd2\xd2\xd2\":2}:2}"))
	f.Fuzz(func(t *testing.T, x, y []byte) {
		a, err := jsonv.Parse(x)
		if err != nil {
			return
		}
		b, err := jsonv.Parse(y)
		if err != nil {
			return
		}
		equal := jsonv.Equal(a, b)
		if equal != jsonv.Equal(b, a) || equal != (len(jsonv.Diff(a, b)) == 0) || equal != (len(jsonv.Diff(b, a)) == 0) {
			t.Fatalf("%s and %s: equal %v, diff %v", a, b, equal, jsonv.Diff(a, b))
		}
		if len(jsonv.Diff(a, a)) != 0 {
			t.Fatalf("%s differs from itself", a)
		}
	})
}
