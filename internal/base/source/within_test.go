package source_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"mcptest/internal/base/source"
)

// TestIn: "^" in the text of a scalar is found at the "^" in the file.
func TestIn(t *testing.T) {
	tests := map[string]string{
		"plain":            "v: abc^def\n",
		"plain start":      "v: abc\n",
		"wide":             "v: 日本é^\n",
		"anchor":           "v: &x !!str ab^c\n",
		"single":           "v: 'it''s ^'\n",
		"double":           `v: "a\"b\\c\td\x41\u00e9\U0001F600^"` + "\n",
		"double plain":     `v: "regex [a-z^"` + "\n",
		"two lines":        "v: one\n  two ^\n",
		"blank line":       "v: one\n\n\n  two ^\n",
		"single lines":     "v: 'one \n   two ^'\n",
		"double continued": "v: \"one\\\n   two ^\"\n",
		"literal":          "v: |\n  first\n  second ^\n",
		"literal indented": "v: |-\n  first\n\n    second ^\n  x\n",
		"literal CRLF":     "v: |\r\n  first\r\n  sec^ond\r\n",
		"in a list":        "- x\n- v: {v: a^}\n",
		"flow":             "v: {v: [x, 'a ^']}\n",
	}
	for name, text := range tests {
		f := file(text)
		n, ds := source.Parse(f)
		if len(ds) > 0 {
			t.Errorf("%s: %v", name, ds)
			continue
		}
		want := "1:4"
		if at := strings.Index(text, "^"); at >= 0 {
			p := f.At(at)
			want = fmt.Sprintf("%d:%d", p.Line, p.Col)
		}
		found := false
		walk(n, func(n *source.Node) {
			at := strings.Index(n.Text, "^")
			if at < 0 && n.Text == "abc" {
				at = 0
			}
			if at < 0 || !n.IsScalar() {
				return
			}
			found = true
			if p := n.In(at); fmt.Sprintf("%d:%d", p.Line, p.Col) != want {
				t.Errorf("%s: got %v, want %s", name, p, want)
			}
		})
		if !found {
			t.Errorf("%s: no text", name)
		}
	}
}

// TestInFallsBack: if an offset cannot be mapped, the scalar's position is used.
func TestInFallsBack(t *testing.T) {
	for _, text := range []string{"v: >\n  folded\n  text\n", "v: |2\n  text\n"} {
		n, ds := parse(text)
		if len(ds) > 0 {
			t.Fatal(ds)
		}
		if v := n.Get("v"); v.In(3) != v.Pos {
			t.Errorf("%q: %v", text, v.In(3))
		}
	}
	n, _ := parse("v: abc\n")
	v := n.Get("v")
	for _, offset := range []int{-1, 4, 1 << 40} {
		if v.In(offset) != v.Pos {
			t.Errorf("%d: %v", offset, v.In(offset))
		}
	}
	if w := v.WithText("something else"); w.In(5) != v.Pos {
		t.Errorf("replaced: %v", w.In(5))
	}
	other := *v
	other.Text = "xyz longer"
	if other.In(5) != v.Pos {
		t.Errorf("copied: %v", other.In(5))
	}
	var none *source.Node
	if !none.In(0).IsZero() || (&source.Node{Text: "x"}).In(0) != (source.Pos{}) {
		t.Error("no file, no place")
	}
}

// TestInAgreesWithTheText: the character at In(i) is the one in the text,
// whenever both are ordinary letters.
func TestInAgreesWithTheText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.StringMatching(`[a-z]{1,5}`), 1, 6).Draw(t, "words")
		sep := rapid.SampledFrom([]string{" ", "  ", "\n  ", " \n\n  "}).Draw(t, "sep")
		quote := rapid.SampledFrom([]string{"", "'", `"`}).Draw(t, "quote")
		f := file("v: " + quote + strings.Join(words, sep) + quote + "\n")
		n, ds := source.Parse(f)
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		v := n.Get("v")
		if v.Kind != source.KindString {
			return
		}
		for i := range v.Text {
			c := v.Text[i]
			if c < 'a' || c > 'z' {
				continue
			}
			p := v.In(i)
			if line := f.Line(p.Line); p.Col > len(line) || line[p.Col-1] != c {
				t.Fatalf("%q[%d]: %v in %q", v.Text, i, p, f.Data)
			}
		}
	})
}
