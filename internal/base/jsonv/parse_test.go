package jsonv_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"mcptest/internal/base/jsonv"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestParseKeepsWhatWasWritten(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{` null `, `null`},
		{"\t[ 1 , 1.0,1e0, -0 ,12E+3]\r\n", `[1,1.0,1e0,-0,12E+3]`},
		{`{"z":1,"a":{"y":[],"b":{}}}`, `{"z":1,"a":{"y":[],"b":{}}}`},
		{`{"a":1,"b":2,"a":3}`, `{"a":1,"b":2,"a":3}`},
		{`9007199254740993`, `9007199254740993`},
		{`"\u0041\/\b\f\n\r\t\"\\\u001f"`, `"A/\b\f\n\r\t\"\\\u001f"`},
		{`"\ud83d\ude00é"`, `"😀é"`},
		{`"\ud83d"`, `"\ud83d"`},
		{`"\ude00\ud83d"`, `"\ude00\ud83d"`},
		{`"\ud83d\ud83d\ude00"`, `"\ud83d😀"`},
		{`"\ud83dx\\"`, `"\ud83dx\\"`},
		{`"\u2028<&>"`, "\"\u2028<&>\""},
		{"\"a\xffb\xe2\x82\"", `"a\ufffdb\ufffd\ufffd"`},
		{`{"\u0061":1}`, `{"a":1}`},
	} {
		if got := mustParse(t, tt.in).String(); got != tt.want {
			t.Errorf("Parse(%q) = %s, want %s", tt.in, got, tt.want)
		}
	}
}

var syntaxErrors = []struct {
	in     string
	offset int
	msg    string
}{
	{``, 0, "the text is empty, expected a value"},
	{" \n", 2, "the text is empty, expected a value"},
	{`INFO starting`, 0, "unexpected 'INFO', expected a value"},
	{`I`, 0, "unexpected 'I', expected a value"},
	{`NaN`, 0, "unexpected 'NaN', expected a value"},
	{`[tru]`, 1, "unexpected 'tru', expected a value"},
	{`nul`, 3, "the text ended inside null"},
	{"\xef\xbb\xbf{}", 0, "the text begins with a byte order mark, which JSON does not allow"},
	{`"abc`, 4, "the text ended inside a string that began at byte 0"},
	{`"abc\`, 5, "the text ended inside a string that began at byte 0"},
	{`["\u00`, 6, "the text ended inside a string that began at byte 1"},
	{`"\x"`, 2, "unexpected 'x' after a backslash in a string"},
	{`"\u00g0"`, 5, `unexpected 'g', expected four hexadecimal digits after \u`},
	{"\"a\nb\"", 2, "control character 0x0A inside a string must be escaped"},
	{"\"abcdefghijkl\x01\"", 13, "control character 0x01 inside a string must be escaped"},
	{`'a'`, 0, `unexpected '\'', strings are written in double quotes`},
	{`01`, 1, "a number must not have leading zeros"},
	{`-`, 1, "the text ended, expected a digit"},
	{`-a`, 1, "unexpected 'a', expected a digit"},
	{`1.`, 2, "the text ended, expected a digit after the decimal point"},
	{`1.e1`, 2, "unexpected 'e', expected a digit after the decimal point"},
	{`1e+`, 3, "the text ended, expected a digit in the exponent"},
	{`.5`, 0, "unexpected '.', expected a value"},
	{`+1`, 0, "unexpected '+', expected a value"},
	{`[1,]`, 3, "unexpected ']' after a comma, expected another value"},
	{`[1 2]`, 3, "unexpected '2', expected ',' or ']'"},
	{`[,1]`, 1, "unexpected ',', expected a value"},
	{`[1`, 2, "the text ended, expected ',' or ']'"},
	{`[`, 1, "the text ended, expected a value"},
	{`{`, 1, "the text ended, expected a key in double quotes"},
	{`{a:1}`, 1, "unexpected 'a', expected a key in double quotes"},
	{`{"a":1,}`, 7, "unexpected '}' after a comma, expected another key"},
	{`{"a" 1}`, 5, "unexpected '1', expected ':' after the key"},
	{`{"a":}`, 5, "unexpected '}', expected a value"},
	{`{"a":1 "b":2}`, 7, `unexpected '"', expected ',' or '}'`},
	{`{"a":1`, 6, "the text ended, expected ',' or '}'"},
	{`{} {}`, 3, "unexpected '{' after the value"},
	{"1\x00", 1, "unexpected control character 0x00 after the value"},
	{"[\xff]", 1, "unexpected byte 0xFF, expected a value"},
	{`[1}`, 2, "unexpected '}', expected ',' or ']'"},
}

// TestSyntaxErrors checks that the parser and the validator, which do not share
// their loops, say the same.
func TestSyntaxErrors(t *testing.T) {
	for _, tt := range syntaxErrors {
		want := &jsonv.SyntaxError{Offset: tt.offset, Msg: tt.msg}
		_, err := jsonv.Parse([]byte(tt.in))
		if diff := cmp.Diff(error(want), err); diff != "" {
			t.Errorf("Parse(%q) (-want +got):\n%s", tt.in, diff)
		}
		if diff := cmp.Diff(error(want), jsonv.Valid([]byte(tt.in))); diff != "" {
			t.Errorf("Valid(%q) (-want +got):\n%s", tt.in, diff)
		}
	}
}

func TestLimits(t *testing.T) {
	deep := []byte(nested(`[`, `1`, `]`, 1000))
	if _, err := jsonv.Parse(deep); err != nil {
		t.Errorf("depth 1000: %v", err)
	}
	for _, in := range []string{nested(`[`, `1`, `]`, 1001), nested(`{"a":`, `1`, `}`, 1001), strings.Repeat(`[`, 100_000)} {
		_, err := jsonv.Parse([]byte(in))
		if err == nil || !strings.Contains(err.Error(), "nested more than 1000 levels deep") {
			t.Errorf("depth 1001: %v", err)
		}
		if verr := jsonv.Valid([]byte(in)); verr == nil || verr.Error() != err.Error() {
			t.Errorf("Valid says %v, Parse says %v", verr, err)
		}
	}
	if _, _, err := jsonv.ParseWith([]byte(`[[1]]`), jsonv.Options{MaxDepth: 1}); err == nil {
		t.Error("MaxDepth 1 allows two levels")
	}
	if _, _, err := jsonv.ParseWith([]byte(`[1,2]`), jsonv.Options{MaxNodes: 3}); err != nil {
		t.Errorf("MaxNodes 3: %v", err)
	}
	_, _, err := jsonv.ParseWith([]byte(`[1,2,3]`), jsonv.Options{MaxNodes: 3})
	var syntax *jsonv.SyntaxError
	if !errors.As(err, &syntax) || syntax.Offset != 5 || syntax.Msg != "more than 3 values in one text" {
		t.Errorf("MaxNodes 3 with 4 nodes: %v", err)
	}
}

func TestNotes(t *testing.T) {
	many := "{"
	for i := range 30 {
		many += fmt.Sprintf(`"k%d":0,`, i)
	}
	many += `"k7":1}`
	for _, tt := range []struct {
		in   string
		want []jsonv.Note
	}{
		{`{"a":[1,{"b":2}],"c":"\ud83d\ude00"}`, nil},
		{`{"a":1,"b":2,"a":3}`, []jsonv.Note{{Kind: jsonv.DuplicateKey, Offset: 13, Pointer: "/a"}}},
		{`[0,{"x":{"a/b":{ }, "a\/b" : [1]}}]`, []jsonv.Note{{Kind: jsonv.DuplicateKey, Offset: 20, Pointer: "/1/x/a~1b"}}},
		{`{"a":1,"a":2,"a":3}`, []jsonv.Note{
			{Kind: jsonv.DuplicateKey, Offset: 7, Pointer: "/a"},
			{Kind: jsonv.DuplicateKey, Offset: 13, Pointer: "/a"},
		}},
		{`["ok","x\ud800"]`, []jsonv.Note{{Kind: jsonv.LoneSurrogate, Offset: 8, Pointer: "/1"}}},
		{"{\"a\":[\"\xff\"]}", []jsonv.Note{{Kind: jsonv.InvalidUTF8, Offset: 7, Pointer: "/a/0"}}},
		{"{\"k\":{\"\xff\":[],\"\\udc00\":\"\\udc00\"}}", []jsonv.Note{
			{Kind: jsonv.InvalidUTF8, Offset: 7, Pointer: "/k/\xff"},
			{Kind: jsonv.LoneSurrogate, Offset: 14, Pointer: "/k/\xed\xb0\x80"},
			{Kind: jsonv.LoneSurrogate, Offset: 23, Pointer: "/k/\xed\xb0\x80"},
		}},
		{many, []jsonv.Note{{Kind: jsonv.DuplicateKey, Offset: len(many) - 7, Pointer: "/k7"}}},
	} {
		_, notes, err := jsonv.ParseWith([]byte(tt.in), jsonv.Options{})
		if err != nil {
			t.Errorf("%s: %v", tt.in, err)
		}
		if diff := cmp.Diff(tt.want, notes); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.in, diff)
		}
	}
}

func TestNotesAreBounded(t *testing.T) {
	in := "[" + strings.Repeat(`"\ud800",`, 5000) + "0]"
	_, notes, err := jsonv.ParseWith([]byte(in), jsonv.Options{})
	if err != nil || len(notes) != 1000 {
		t.Errorf("%d notes, %v", len(notes), err)
	}
}

func TestOffsets(t *testing.T) {
	in := ` {"a": [10, "b"], "c": {"d": null}}`
	v := mustParse(t, in)
	for ptr, want := range map[string]string{"": "{", "/a": "[", "/a/0": "10", "/a/1": `"b"`, "/c/d": "null"} {
		got, ok := v.Pointer(ptr)
		if !ok || !strings.HasPrefix(in[got.Offset():], want) {
			t.Errorf("%s: offset %d, want that of %s", ptr, got.Offset(), want)
		}
	}
	if got := jsonv.Int(1).Offset(); got != -1 {
		t.Errorf("a value made in Go has offset %d", got)
	}
	if got := v.With("x", jsonv.Null()).Offset(); got != 1 {
		t.Errorf("a changed copy has offset %d", got)
	}
}

func TestParseDoesNotAliasTheInput(t *testing.T) {
	data := []byte(`{"key":"value","n":12}`)
	v, err := jsonv.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	clear(data)
	if got := v.String(); got != `{"key":"value","n":12}` {
		t.Errorf("the value changed with the input: %s", got)
	}
}

func TestPrintParseIsIdentity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := values(3).Draw(t, "value")
		text := v.Append(nil)
		back, err := jsonv.Parse(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if got := back.Append(nil); string(got) != string(text) {
			t.Fatalf("%s became %s", text, got)
		}
		if !jsonv.Equal(v, back) {
			t.Fatalf("%s is not equal to itself read back", text)
		}
		if err := jsonv.Valid(text); err != nil {
			t.Fatalf("Valid(%s): %v", text, err)
		}
		pretty := v.Indent("> ", "\t")
		if back, err := jsonv.Parse([]byte(strings.ReplaceAll(string(pretty), "\n> ", "\n"))); err != nil || !jsonv.Equal(v, back) {
			t.Fatalf("indented: %v\n%s", err, pretty)
		}
	})
}

func TestEachMember(t *testing.T) {
	type member struct{ Key, Val string }
	for _, tt := range []struct {
		in   string
		want []member
		err  string
	}{
		{in: ` { } `},
		{in: `{"a": [1, 2] , "b\u0041\ud800":"x"}`, want: []member{{"a", "[1, 2]"}, {"bA\xed\xa0\x80", `"x"`}}},
		{in: `{"a":1,"a":2}`, want: []member{{"a", "1"}, {"a", "2"}}},
		{in: `[1]`, err: "expected an object, got an array (at byte 0)"},
		{in: `"x"`, err: "expected an object, got a string (at byte 0)"},
		{in: `oops`, err: "unexpected 'oops', expected a value (at byte 0)"},
		{in: ``, err: "the text is empty, expected a value (at byte 0)"},
		{in: `{"a":1,}`, want: []member{{"a", "1"}}, err: "unexpected '}' after a comma, expected another key (at byte 7)"},
		{in: `{"a":1}x`, want: []member{{"a", "1"}}, err: "unexpected 'x' after the value (at byte 7)"},
		{in: `{"a":[}`, err: "unexpected '}', expected a value (at byte 6)"},
		{in: `{"a"}`, err: "unexpected '}', expected ':' after the key (at byte 4)"},
		{in: `{"a":1 2}`, want: []member{{"a", "1"}}, err: "unexpected '2', expected ',' or '}' (at byte 7)"},
	} {
		var got []member
		err := jsonv.VisitMembers([]byte(tt.in), func(key string, val []byte) error {
			got = append(got, member{key, string(val)})
			return nil
		})
		msg := ""
		if err != nil {
			msg = strings.TrimPrefix(err.Error(), "not JSON: ")
		}
		if diff := cmp.Diff(tt.want, got); diff != "" || msg != tt.err {
			t.Errorf("%s: error %q, want %q (-want +got):\n%s", tt.in, msg, tt.err, diff)
		}
	}
	stop := errors.New("stop")
	if err := jsonv.VisitMembers([]byte(`{"a":1,"b":2}`), func(string, []byte) error { return stop }); err != stop {
		t.Errorf("the callback's error came back as %v", err)
	}
}
