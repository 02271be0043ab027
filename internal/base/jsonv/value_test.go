package jsonv_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	"mcptest/internal/base/jsonv"

	"github.com/google/go-cmp/cmp"
)

func TestAccessors(t *testing.T) {
	v := mustParse(t, `{"s":"héé\ud800😀","n":1.50,"b":true,"z":null,"a":[1,[2],{"k":3}],"a2":[]}`)
	if got := v.Lookup("s").Len(); got != 5 {
		t.Errorf("Len of a string with a lone surrogate = %d, want 5", got)
	}
	if got := v.Lookup("n").Literal(); got != "1.50" {
		t.Errorf("Literal = %q", got)
	}
	if !v.Lookup("b").Bool() || v.Lookup("n").Bool() {
		t.Error("Bool")
	}
	a := v.Lookup("a")
	for i, want := range map[int]string{0: "1", 2: `{"k":3}`, -1: `{"k":3}`, -3: "1"} {
		if got := a.At(i).String(); got != want {
			t.Errorf("At(%d) = %s, want %s", i, got, want)
		}
	}
	for _, absent := range []jsonv.Value{a.At(3), a.At(-4), v.At(0), v.Lookup("a", "k"), v.Lookup("x", "y"), {}} {
		if !absent.IsAbsent() || absent.Kind().String() != "absent" {
			t.Errorf("%s is not absent", absent)
		}
	}
	if v.Lookup("z").IsAbsent() {
		t.Error("null is absent")
	}
	if diff := cmp.Diff([]string{"s", "n", "b", "z", "a", "a2"}, v.Keys()); diff != "" {
		t.Error(diff)
	}
	if v.Len() != 6 || a.Len() != 3 || v.Lookup("a2").Len() != 0 || v.Lookup("n").Len() != 0 {
		t.Error("Len")
	}
	for range v.Members() {
		break
	}
	for i, e := range a.Elems() {
		if !jsonv.Equal(e, a.At(i)) {
			t.Error("Elems")
		}
	}
}

func TestWithAndWithout(t *testing.T) {
	v := mustParse(t, `{"a":1,"b":2,"a":3}`)
	for _, tt := range []struct {
		got  jsonv.Value
		want string
	}{
		{v.With("a", jsonv.Int(9)), `{"a":9,"b":2}`},
		{v.With("c", jsonv.Null()), `{"a":1,"b":2,"a":3,"c":null}`},
		{v.With("a", jsonv.Value{}), `{"b":2}`},
		{v.Without("a"), `{"b":2}`},
		{v.Without("x"), `{"a":1,"b":2,"a":3}`},
		{jsonv.Value{}.With("a", jsonv.Int(1)), `{"a":1}`},
		{jsonv.Int(1).Without("a"), `1`},
		{v, `{"a":1,"b":2,"a":3}`},
	} {
		if got := tt.got.String(); got != tt.want {
			t.Errorf("got %s, want %s", got, tt.want)
		}
	}
}

func TestDuplicatesLastWins(t *testing.T) {
	v := mustParse(t, `{"a":1,"b":2,"a":3}`)
	if got, _ := v.Get("a"); got.String() != "3" {
		t.Errorf("Get = %s", got)
	}
	if v.Len() != 3 || fmt.Sprint(v.Interface()) != "map[a:3 b:2]" {
		t.Errorf("Len %d, Interface %v", v.Len(), v.Interface())
	}
	if !jsonv.Equal(v, mustParse(t, `{"b":2,"a":3}`)) || jsonv.Equal(v, mustParse(t, `{"b":2,"a":1}`)) {
		t.Error("Equal does not take the last")
	}
}

func TestLargeObjectFromManyGoroutines(t *testing.T) {
	var b strings.Builder
	for i := range 500 {
		fmt.Fprintf(&b, `,"k%d":%d`, i, i)
	}
	v := mustParse(t, "{"+b.String()[1:]+"}")
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range 500 {
				if got := v.Lookup(fmt.Sprintf("k%d", i)).String(); got != fmt.Sprint(i) {
					t.Errorf("k%d = %s", i, got)
				}
			}
			if _, ok := v.Get("k500"); ok {
				t.Error("k500 is there")
			}
		})
	}
	wg.Wait()
}

func TestFrom(t *testing.T) {
	type named string
	type pair struct {
		A int    `json:"a"`
		B string `json:"b,omitempty"`
	}
	one := 1
	for _, tt := range []struct {
		in   any
		want string
	}{
		{nil, `null`},
		{true, `true`},
		{"x", `"x"`},
		{1, `1`},
		{int8(-1), `-1`},
		{uint64(math.MaxUint64), `18446744073709551615`},
		{1.5, `1.5`},
		{1e21, `1e+21`},
		{1e-7, `1e-7`},
		{float32(0.1), `0.1`},
		{math.NaN(), `null`},
		{math.Inf(1), `null`},
		{json.Number("1.0"), `1.0`},
		{[]any{1, "a"}, `[1,"a"]`},
		{[]int{1, 2}, `[1,2]`},
		{[2]bool{true}, `[true,false]`},
		{map[string]any{"b": 1, "a": nil}, `{"a":null,"b":1}`},
		{map[named]int{"z": 1, "y": 2}, `{"y":2,"z":1}`},
		{map[int]int{2: 1}, `{"2":1}`},
		{named("n"), `"n"`},
		{&one, `1`},
		{(*int)(nil), `null`},
		{[]string(nil), `null`},
		{pair{A: 1}, `{"a":1}`},
		{[]byte("hi"), `"aGk="`},
		{jsonv.Int(3), `3`},
		{map[string]jsonv.Value{"a": jsonv.Int(3)}, `{"a":3}`},
		{json.RawMessage(`{"z":1.0}`), `{"z":1.0}`},
	} {
		if got := jsonv.From(tt.in).String(); got != tt.want {
			t.Errorf("From(%#v) = %s, want %s", tt.in, got, tt.want)
		}
	}
	for _, in := range []any{make(chan int), func() {}, json.Number("x")} {
		if !jsonv.From(in).IsAbsent() {
			t.Errorf("From(%T) is not absent", in)
		}
	}
	if off := jsonv.From(pair{}).Lookup("a").Offset(); off != -1 {
		t.Errorf("offset %d into a text that is gone", off)
	}
}

func TestMarshal(t *testing.T) {
	var holder struct{ V jsonv.Value }
	if err := json.Unmarshal([]byte(`{"V":{"b":1.0,"a":[]}}`), &holder); err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(holder)
	if err != nil || string(got) != `{"V":{"b":1.0,"a":[]}}` {
		t.Errorf("%s, %v", got, err)
	}
}

func TestAbsentInsideContainers(t *testing.T) {
	got := jsonv.Array(jsonv.Value{}, jsonv.Object(jsonv.Member{Key: "a"}, jsonv.Member{Key: "b", Value: jsonv.Int(1)})).String()
	if got != `[null,{"b":1}]` {
		t.Error(got)
	}
}

func TestIndent(t *testing.T) {
	got := string(mustParse(t, `{"a":[1,{"b":[]}],"c":{}}`).Indent("", "  "))
	want := "{\n  \"a\": [\n    1,\n    {\n      \"b\": []\n    }\n  ],\n  \"c\": {}\n}"
	if got != want {
		t.Errorf("got\n%s", got)
	}
}

func TestShort(t *testing.T) {
	for _, tt := range []struct {
		in    string
		limit int
		want  string
	}{
		{`{"a":1}`, 10, `{"a":1}`},
		{`{"a":1}`, 7, `{"a":1}`},
		{`{"a":1}`, 6, `{"a":…`},
		{`"ééééé"`, 7, `"ééééé"`},
		{`"ééééé"`, 6, `"éééé…`},
		{`[]`, 1, `…`},
		{`[]`, 0, `…`},
		{`123456789`, 4, `123…`},
	} {
		if got := mustParse(t, tt.in).Short(tt.limit); got != tt.want {
			t.Errorf("Short(%s, %d) = %s, want %s", tt.in, tt.limit, got, tt.want)
		}
	}
	if got := (jsonv.Value{}).Short(10); got != "absent" {
		t.Error(got)
	}
	big := jsonv.Array(jsonv.String(strings.Repeat("x", 10_000_000)), jsonv.Int(1))
	if n := testing.AllocsPerRun(10, func() { big.Short(60) }); n > 20 {
		t.Errorf("%v allocations to show 60 characters", n)
	}
	if got := big.Short(5); got != `["xx…` {
		t.Error(got)
	}
}

func TestPointer(t *testing.T) {
	v := mustParse(t, `{"a":[1,{"x/y":{"~":2}}],"":3,"0":4}`)
	for ptr, want := range map[string]string{"/a/0": "1", "/a/1/x~1y/~0": "2", "/": "3", "/0": "4"} {
		if got, ok := v.Pointer(ptr); !ok || got.String() != want {
			t.Errorf("%s = %s %v, want %s", ptr, got, ok, want)
		}
	}
	if got, ok := v.Pointer(""); !ok || !jsonv.Equal(got, v) {
		t.Error("the empty pointer is not the whole")
	}
	for _, ptr := range []string{"a", "/b", "/a/2", "/a/-", "/a/00", "/a/-1", "/a/+1", "/a/9999999999", "/~2", "/~", "/a/0/x"} {
		if got, ok := v.Pointer(ptr); ok {
			t.Errorf("%s = %s", ptr, got)
		}
	}
	tokens, err := jsonv.ParsePointer("/a~1b/~01")
	if diff := cmp.Diff([]string{"a/b", "~1"}, tokens); diff != "" || err != nil {
		t.Error(err, diff)
	}
	if got := jsonv.AppendPointer("/x", "a/~b"); got != "/x/a~1~0b" {
		t.Error(got)
	}
}

func TestPosition(t *testing.T) {
	data := []byte("{\n  \"é\": x\n}")
	for _, tt := range [][3]int{{0, 1, 1}, {1, 1, 2}, {2, 2, 1}, {9, 2, 7}, {12, 3, 1}, {99, 3, 2}, {-1, 1, 1}} {
		if line, col := jsonv.FindPosition(data, tt[0]); line != tt[1] || col != tt[2] {
			t.Errorf("offset %d is %d:%d, want %d:%d", tt[0], line, col, tt[1], tt[2])
		}
	}
}

func TestJoin(t *testing.T) {
	path := jsonv.JoinKey(jsonv.JoinIndex(jsonv.JoinKey(jsonv.JoinKey("", "items"), "a b"), 3), "x-y_1")
	if path != `items["a b"][3].x-y_1` {
		t.Error(path)
	}
}

func TestMap(t *testing.T) {
	v, err := jsonv.Parse([]byte(`{"a":[1,{"b":2}],"c":3,"d":4}`))
	if err != nil {
		t.Fatal(err)
	}
	var twice func(v jsonv.Value) jsonv.Value
	twice = func(v jsonv.Value) jsonv.Value {
		if n, ok := v.Int64(); ok {
			return jsonv.Int(2 * n)
		}
		return v.Map(func(k string, e jsonv.Value) (string, jsonv.Value) {
			if k == "c" {
				return k, jsonv.Value{}
			}
			return strings.ToUpper(k), twice(e)
		})
	}
	if got := twice(v).String(); got != `{"A":[2,{"B":4}],"D":8}` {
		t.Errorf("%s", got)
	}
}

// Members without a value are left out, and those with one stay in their place.
func TestOptionalMembers(t *testing.T) {
	for _, c := range []struct {
		text, number jsonv.Value
		want         string
	}{
		{jsonv.Value{}, jsonv.Value{}, `{"last":[]}`},
		{jsonv.String("x"), jsonv.Int(2), `{"text":"x","number":2,"last":[]}`},
	} {
		v := jsonv.ObjectOf("text", c.text, "number", c.number, "last", jsonv.Array())
		if v.String() != c.want {
			t.Errorf("got %s, want %s", v, c.want)
		}
	}
}
