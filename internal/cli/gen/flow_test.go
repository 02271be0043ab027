package gen

import (
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
)

// TestFlowIsYAML: what is shown as YAML reads back as the same value.
func TestFlowIsYAML(t *testing.T) {
	text := rapid.OneOf(rapid.StringOf(rapid.RuneFrom(nil, unicode.L, unicode.N, unicode.P, unicode.Zs)), rapid.StringMatching(`[a-z0-9 .:/$\-{}#'"\[\]]{0,12}`),
		rapid.SampledFrom([]string{"", "null", "Yes", "on", "5", "1e3", "0x1f", "30s", "2025-06-18", "- a", "a: b", "a #b", "~", ".5", ".inf", "a b", "<<", "=", "!x", "1m30s"}))
	var value func(depth int) *rapid.Generator[jsonv.Value]
	value = func(depth int) *rapid.Generator[jsonv.Value] {
		return rapid.Custom(func(t *rapid.T) jsonv.Value {
			most := 5
			if depth == 0 {
				most = 3
			}
			switch rapid.IntRange(0, most).Draw(t, "kind") {
			case 0:
				return jsonv.Null()
			case 1:
				return jsonv.Bool(rapid.Bool().Draw(t, "bool"))
			case 2:
				return jsonv.Int(int64(rapid.Int32().Draw(t, "int")))
			case 3:
				return jsonv.String(text.Draw(t, "text"))
			case 4:
				return jsonv.Array(rapid.SliceOfN(value(depth-1), 0, 4).Draw(t, "items")...)
			}
			out := jsonv.Object()
			for _, key := range rapid.SliceOfN(rapid.StringMatching(`[A-Za-z_][A-Za-z0-9_-]{0,6}`), 0, 4).Draw(t, "keys") {
				out = out.With(key, value(depth-1).Draw(t, "member"))
			}
			return out
		})
	}
	rapid.Check(t, func(t *rapid.T) {
		v := jsonv.Object(jsonv.Member{Key: "v", Value: value(3).Draw(t, "value")})
		for _, doc := range []string{flow(v), formatBlock("v", v.Lookup("v"))} {
			n, diags := source.Parse(&source.File{Name: "flow", Data: []byte(doc)})
			if n == nil || diags.HasErrors() || !jsonv.Equal(n.JSON(), v) {
				t.Fatalf("%s\nreads as %s, want %s (%v)", doc, n.JSON(), v, diags)
			}
		}
	})
}

// TestLongText: a text too long for a line stays on it, whole.
func TestLongText(t *testing.T) {
	want := strings.Repeat("word: ", 40)
	n, diags := source.Parse(&source.File{Name: "long", Data: []byte(formatBlock("v", jsonv.String(want)))})
	if n == nil || diags.HasErrors() || n.JSON().Lookup("v").Text() != want {
		t.Errorf("reads as %s (%v)", n.JSON(), diags)
	}
}

// TestPretty: the written schema is the schema.
func TestPretty(t *testing.T) {
	v, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	back, err := jsonv.Parse(pretty(v))
	if err != nil || !jsonv.Equal(back, v) {
		t.Errorf("the written schema differs: %v", err)
	}
}
