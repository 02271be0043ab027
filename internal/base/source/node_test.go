package source_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
)

func upper(n *source.Node) *source.Node {
	if n.Kind != source.KindString || strings.ToUpper(n.Text) == n.Text {
		return n
	}
	return n.WithText(strings.ToUpper(n.Text))
}

func TestMapScalars(t *testing.T) {
	n, ds := parse("a: x\nb: [1, {c: y, d: 2}]\nE: [F, 5]\n")
	if len(ds) > 0 {
		t.Fatal(ds.Error())
	}
	before := n.JSON().String()
	m := n.MapScalars(upper)
	if got := m.JSON().String(); got != `{"a":"X","b":[1,{"c":"Y","d":2}],"E":["F",5]}` {
		t.Error(got)
	}
	if n.JSON().String() != before {
		t.Error("the original has changed")
	}
	if m.Get("E") != n.Get("E") || m.Get("b") == n.Get("b") || m.Get("b").Items[0] != n.Get("b").Items[0] {
		t.Error("only what changed is copied")
	}
	if m.Get("a").Pos != n.Get("a").Pos || m.Get("b").Pos != n.Get("b").Pos {
		t.Error("positions are lost")
	}
	if m.MapScalars(upper) != m {
		t.Error("nothing to change, and yet a copy")
	}
	var none *source.Node
	if none.MapScalars(upper) != nil {
		t.Error("nil is nil")
	}
}

// TestMapScalarsKeepsSharing: values shared by aliases are mapped once, so that they do not
// multiply in memory.
func TestMapScalarsKeepsSharing(t *testing.T) {
	n, ds := parse("base: &b {k: v, l: [w]}\nuses: [*b, *b, {<<: *b}, *b]\n")
	if len(ds) > 0 {
		t.Fatal(ds.Error())
	}
	calls := 0
	m := n.MapScalars(func(n *source.Node) *source.Node { calls++; return upper(n) })
	if got := m.JSON().String(); got != `{"base":{"k":"V","l":["W"]},"uses":[{"k":"V","l":["W"]},{"k":"V","l":["W"]},{"k":"V","l":["W"]},{"k":"V","l":["W"]}]}` {
		t.Error(got)
	}
	if uses := m.Get("uses"); uses.Items[0].Get("l") != uses.Items[3].Get("l") {
		t.Error("two uses of one anchor have become two values")
	}
	if calls > 6 {
		t.Errorf("%d calls for 2 scalars", calls)
	}
	// The position of use is kept for diagnostics.
	type use struct {
		K int `yaml:"k"`
	}
	var into struct {
		Base *source.Node `yaml:"base"`
		Uses []use        `yaml:"uses"`
	}
	text := source.Decode(m, &into).Error()
	if !strings.Contains(text, `uses[0].k: expected a whole number, got text "V"`) {
		t.Error(text)
	}
}

// genJSON draws values of every kind, with awkward texts.
func genJSON(depth int) *rapid.Generator[jsonv.Value] {
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "~", "yes", "017", "- a", "a: b", "#", "\x00", "\u2028", "\ud7ff", "日本", "1", "null"}))
	leaves := []*rapid.Generator[jsonv.Value]{
		rapid.Just(jsonv.Null()),
		rapid.Map(rapid.Bool(), jsonv.Bool),
		rapid.Map(rapid.Int64(), jsonv.Int),
		rapid.Map(rapid.Float64Range(-1e300, 1e300), jsonv.Float),
		rapid.Map(rapid.StringMatching(`-?(0|[1-9][0-9]{0,40})(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?`), func(s string) jsonv.Value {
			v, err := jsonv.Number(s)
			if err != nil {
				panic(err)
			}
			return v
		}),
		rapid.Map(text, jsonv.String),
	}
	if depth == 0 {
		return rapid.OneOf(leaves...)
	}
	below := rapid.Deferred(func() *rapid.Generator[jsonv.Value] { return genJSON(depth - 1) })
	list := rapid.Map(rapid.SliceOfN(below, 0, 5), func(vs []jsonv.Value) jsonv.Value { return jsonv.Array(vs...) })
	object := rapid.Map(rapid.MapOfN(text, below, 0, 5), func(m map[string]jsonv.Value) jsonv.Value { return jsonv.From(m) })
	return rapid.OneOf(append(leaves, list, object)...)
}

// TestJSONRoundTrip: JSON → nodes → JSON keeps every digit and the order, and
// JSON text is YAML that reads as the same value.
func TestJSONRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := genJSON(3).Draw(t, "value")
		want := v.String()
		if got := source.FromJSON(v, source.Pos{}).JSON().String(); got != want {
			t.Fatalf("through nodes: %s became %s", want, got)
		}
		f := file(want)
		n, ds := source.Parse(f)
		if n == nil {
			if !strings.ContainsAny(want, "\u2028\u2029\u0085\ufeff\x7f\ufffe\uffff") && !hasC1(want) {
				t.Fatalf("JSON is not read as YAML: %s: %v", want, ds)
			}
			return
		}
		if !jsonv.Equal(n.JSON(), v) {
			t.Fatalf("as YAML: %s became %s (%v)", want, n.JSON(), ds)
		}
		again := source.FromJSON(n.JSON(), source.Pos{})
		if again.JSON().String() != n.JSON().String() {
			t.Fatalf("node → JSON → node: %s became %s", n.JSON(), again.JSON())
		}
	})
}

func hasC1(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r >= 0x7f && r < 0xa0 })
}

func TestJSONOfNothing(t *testing.T) {
	var none *source.Node
	if !none.JSON().IsAbsent() || source.FromJSON(jsonv.Value{}, source.Pos{}) != nil || none.Get("x") != nil {
		t.Error("absent is nil and back")
	}
	v, _, err := jsonv.ParseWith([]byte(`{"a":1,"b":2,"a":3}`), jsonv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := source.FromJSON(v, source.Pos{}); got.Get("a").Text != "3" || len(got.Fields) != 2 {
		t.Error("of a repeated key the last one counts")
	}
}
