package jsonv_test

import (
	"strings"
	"testing"

	"mcptest/internal/base/jsonv"

	"pgregory.net/rapid"
)

func mustParse(t testing.TB, text string) jsonv.Value {
	t.Helper()
	v, err := jsonv.Parse([]byte(text))
	if err != nil {
		t.Fatalf("Parse(%s): %v", text, err)
	}
	return v
}

// numberLits are written in as many ways as JSON allows.
var numberLits = rapid.OneOf(
	rapid.SampledFrom([]string{"0", "-0", "0.0", "1", "1.0", "1e0", "10e-1", "100", "1e2", "-1", "0.1", "1e-1", "9007199254740993", "9007199254740992", "1e400000", "1e-400000", "12E+3"}),
	rapid.StringMatching(`-?(0|[1-9][0-9]{0,20})(\.[0-9]{1,6})?([eE][+-]?[0-9]{1,3})?`),
)

// texts include controls, quotes, astral characters and lone surrogates.
var texts = rapid.OneOf(
	rapid.String(),
	rapid.SampledFrom([]string{"", "a", "b", "id", `"`, `\`, "\n\x00\x1f\x7f", "é", "😀", "\u2028", "\xed\xa0\x80", "x\xed\xb0\x80y"}),
)

// values draws trees, with duplicate keys now and then.
func values(depth int) *rapid.Generator[jsonv.Value] {
	return rapid.Custom(func(t *rapid.T) jsonv.Value {
		kind := rapid.IntRange(0, 5).Draw(t, "kind")
		if depth == 0 {
			kind %= 4
		}
		switch kind {
		case 0:
			return jsonv.Null()
		case 1:
			return jsonv.Bool(rapid.Bool().Draw(t, "bool"))
		case 2:
			v, err := jsonv.Number(numberLits.Draw(t, "number"))
			if err != nil {
				t.Fatal(err)
			}
			return v
		case 3:
			return jsonv.String(texts.Draw(t, "text"))
		case 4:
			return jsonv.Array(rapid.SliceOfN(values(depth-1), 0, 6).Draw(t, "elems")...)
		}
		var members []jsonv.Member
		for range rapid.IntRange(0, 6).Draw(t, "size") {
			members = append(members, jsonv.Member{Key: texts.Draw(t, "key"), Value: values(depth-1).Draw(t, "value")})
		}
		return jsonv.Object(members...)
	})
}

// edits draws a value near v, so that equality and diffs see more than
// unrelated pairs.
func edits(v jsonv.Value) *rapid.Generator[jsonv.Value] {
	return rapid.Custom(func(t *rapid.T) jsonv.Value {
		keep := rapid.Bool().Draw(t, "keep")
		switch v.Kind() {
		case jsonv.KindArray:
			var out []jsonv.Value
			for _, e := range v.Elems() {
				switch rapid.IntRange(0, 7).Draw(t, "edit") {
				case 0:
				case 1:
					out = append(out, values(1).Draw(t, "new"), e)
				case 2:
					out = append(out, edits(e).Draw(t, "changed"))
				default:
					out = append(out, e)
				}
			}
			return jsonv.Array(out...)
		case jsonv.KindObject:
			out := v
			for _, k := range v.Keys() {
				old, _ := v.Get(k)
				switch rapid.IntRange(0, 7).Draw(t, "edit") {
				case 0:
					out = out.Without(k)
				case 1: // to the end: order must not matter
					out = out.Without(k).With(k, old)
				case 2:
					out = out.With(k, edits(old).Draw(t, "changed"))
				}
			}
			return out
		}
		if keep {
			return v
		}
		return values(1).Draw(t, "new")
	})
}

func nested(open, leaf, end string, n int) string {
	return strings.Repeat(open, n) + leaf + strings.Repeat(end, n)
}
