package jsonv_test

import (
	"strings"
	"testing"

	"mcptest/internal/base/jsonv"
)

// countTree counts the values of a tree.
func countTree(v jsonv.Value) int {
	n := 1
	for _, e := range v.Elems() {
		n += countTree(e)
	}
	for _, m := range v.Members() {
		n += countTree(m)
	}
	return n
}

func TestCountValues(t *testing.T) {
	for text, want := range map[string]int{
		`0`: 1, `[]`: 1, ` { } `: 1, `[ [ ] ,{ }]`: 3, `{"a":[1,2,{"b":"x,[{"}]}`: 6, `"a\\\"b,c"`: 1, `["\\\\","\\\",",[[]]]`: 5,
	} {
		v, err := jsonv.Parse([]byte(text))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if got := jsonv.CountValues([]byte(text)); got != want || countTree(v) != want {
			t.Errorf("%s: got %d, want %d; the tree has %d", text, got, want, countTree(v))
		}
	}
}

// TestLongLists: lists so long that the parser hands its stack over.
func TestLongLists(t *testing.T) {
	const n = 50_000
	list := "[" + strings.Repeat("7,", n-1) + "8]"
	text := `{"first":1,"a":` + list + `,"b":[2,` + list + `,` + list + `,3],"c":{"x":` + list + `},"last":4}`
	v, err := jsonv.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if got := v.String(); got != text {
		t.Errorf("%d bytes in, %d bytes out, different", len(text), len(got))
	}
	if got := jsonv.CountValues([]byte(text)); got != countTree(v) || got != 4*n+11 {
		t.Errorf("counted %d, the tree has %d", got, countTree(v))
	}
}
