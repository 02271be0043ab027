package source_test

import (
	"testing"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
)

// A value that replaces a placeholder has the type that its position requires; a value in
// the file keeps its type.
func TestFilledValuesFitTheirPlace(t *testing.T) {
	type target struct {
		B bool     `yaml:"b"`
		I int      `yaml:"i"`
		U uint8    `yaml:"u"`
		F *float64 `yaml:"f"`
		S string   `yaml:"s"`
		E string   `yaml:"e" enum:"1|2"`
	}
	text := func(s string) *source.Node { return (&source.Node{Kind: source.KindString, Text: s}).Filled() }
	quoted := func(s string) *source.Node {
		return (&source.Node{Kind: source.KindString, Text: s, Quoted: true}).Filled()
	}
	number := (&source.Node{Kind: source.KindInt, Text: "1"}).Filled()
	for _, c := range []struct {
		key   string
		value *source.Node
		fails bool
	}{
		{"b", text("true"), false},
		{"b", text("yes"), true},
		{"b", quoted("true"), true},
		{"b", text(""), true},
		{"i", text("0x10"), false},
		{"i", text("1.5"), true},
		{"i", text("017"), true},
		{"i", quoted("1"), true},
		{"u", text("300"), true},
		{"u", text("3"), false},
		{"f", text(".5"), false},
		{"f", text("~"), true},
		{"f", text(""), true},
		{"f", text("half"), true},
		{"s", text("1"), false},
		{"s", number, false},
		{"e", number, false},
		{"s", &source.Node{Kind: source.KindInt, Text: "1"}, true},
		{"i", &source.Node{Kind: source.KindString, Text: "1"}, true},
	} {
		n := &source.Node{Kind: source.KindMap, Fields: []source.Field{{
			Key: &source.Node{Kind: source.KindString, Text: c.key}, Value: c.value,
		}}}
		var into target
		if ds := source.Decode(n, &into); ds.HasErrors() != c.fails {
			t.Errorf("%s: %q: %v", c.key, c.value.Text, ds)
		}
	}
}

func TestFilledKeepsItsJSON(t *testing.T) {
	n := (&source.Node{Kind: source.KindString, Text: "5"}).Filled()
	if !jsonv.Equal(n.JSON(), jsonv.String("5")) || n.Typed().Kind != source.KindInt {
		t.Errorf("%v, %v", n.JSON(), n.Typed().Kind)
	}
	list := &source.Node{Kind: source.KindList}
	if list.Filled() != list {
		t.Error("a list was copied")
	}
	if _, ok := list.AsText(); ok {
		t.Error("a list has a text")
	}
}

// A value that could not be resolved was reported once; later steps do not report it again,
// and the rest of the map is decoded.
func TestUnknownValuesAreNotReportedAgain(t *testing.T) {
	key := func(s string) *source.Node { return &source.Node{Kind: source.KindString, Text: s} }
	bad := (&source.Node{Kind: source.KindString, Text: "${X}"}).Unknown()
	n := &source.Node{Kind: source.KindMap, Fields: []source.Field{
		{Key: key("i"), Value: bad}, {Key: key("s"), Value: key("text")},
	}}
	var into struct {
		I int    `yaml:"i,required"`
		S string `yaml:"s"`
	}
	if ds := source.Decode(n, &into); len(ds) > 0 || into.S != "text" {
		t.Errorf("%v, %+v", ds, into)
	}
	var d source.Decoder
	d.Errorf(bad, "", "anything").Hint = "nothing"
	if len(d.Diagnostics()) > 0 {
		t.Errorf("%v", d.Diagnostics())
	}
}
