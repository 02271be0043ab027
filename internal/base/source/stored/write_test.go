package stored_test

import (
	"strings"
	"testing"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
	"mcptest/internal/base/source/stored"
)

// A written value reads as the same value, in both forms.
func FuzzWriter(f *testing.F) {
	for _, text := range []string{
		`{}`, `[]`, `null`, `1e400`, `-0`, `1.50`, `""`, `"a\nb"`, `"a\nb\n"`, `"\n"`, `"\n\n"`, `" a\nb"`, `"a\n b\n"`, `"a \nb"`, `"a\tb\nc"`, `"a\n\tb"`,
		`"x\r\ny\r\n"`, `"a\n\n\nb\n\n"`, `"\u001b[31mred\nb\u202e"`, `"--- a\n... b\n# c\n%d"`, `{"<<":1,"y":"no","a: b":["- x",{"k":[]}]}`, `["yes","0x1","1_000","~","=","!x","&a","*a"]`,
		`"trailing\\\nback\\"`, `"\"quoted\"\n'x'"`, `{"":{"":""}}`, `[[1,[2,{"a":[3]}]],[]]`, `"\u0085\u2028\ufeff"`, `"\ud83d\ude00\nz"`, `"a\n b "`, `"\ta\nb"`, `"a\n\t"`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, notes, err := jsonv.ParseWith([]byte(text), jsonv.Options{MaxDepth: 50, MaxNodes: 1000})
		if err != nil || len(notes) > 0 || len(text) > 2000 {
			t.Skip()
		}
		for _, compact := range []bool{false, true} {
			w := &stored.Writer{Compact: compact}
			w.Member(0, "key", v)
			root, diags := source.Parse(&source.File{Name: "x.yaml", Data: w.Bytes()})
			if diags.HasErrors() || root == nil {
				t.Fatalf("%q is written as\n%s\n%v", text, w.Bytes(), diags)
			}
			if got := root.Get("key").JSON(); !jsonv.Equal(got, v) {
				t.Errorf("%q is written as\n%s\nand reads as %s", text, w.Bytes(), got)
			}
		}
	})
}

// Lines of a text are lines of the file, for reviewers.
func TestCompact(t *testing.T) {
	for text, want := range map[string]string{
		"one\ntwo\n":          "t: |\n  one\n  two\n",
		"one\n":               "t: |\n  one\n",
		"one\ntwo":            "t: |-\n  one\n  two\n",
		"one\r\ntwo":          "t: \"one\\r\\n\\\n  two\"\n",
		"\x1b[31mred\n  in\n": "t: \"\\x1b[31mred\\n\\\n  \\  in\\n\"\n",
		"one":                 "t: one\n",
		"\n":                  "t: \"\\n\"\n",
	} {
		w := &stored.Writer{Compact: true}
		w.Member(0, "t", jsonv.String(text))
		if got := string(w.Bytes()); got != want {
			t.Errorf("%q is written as\n%s\nexpected\n%s", text, got, want)
		}
	}
}

func TestCompactLists(t *testing.T) {
	w := &stored.Writer{Compact: true}
	v, err := jsonv.Parse([]byte(`[{"a":1,"b":[2,[3,{"c":4}]]},[],"x\ny\n",{}]`))
	if err != nil {
		t.Fatal(err)
	}
	w.Member(0, "list", v)
	const want = "list:\n  - a: 1\n    b:\n      - 2\n      - - 3\n        - c: 4\n  - []\n  - |\n    x\n    y\n  - {}\n"
	if got := string(w.Bytes()); got != want {
		t.Errorf("got\n%s\nexpected\n%s", got, want)
	}
}

func TestConflict(t *testing.T) {
	for text, line := range map[string]int{
		"a: 1\n<<<<<<< HEAD\nb: 1\n=======\nb: 2\n>>>>>>> x\n": 2,
		"a: 1\r\n=======\r\n": 2,
		"a: |\n  =======\n":   0,
	} {
		d, found := stored.FindConflict(&source.File{Name: "x", Data: []byte(text)}, "mcptest lock")
		if found != (line > 0) || d.Pos.Line != line || found && !strings.Contains(d.Hint, "mcptest lock") {
			t.Errorf("%q: %v %+v", text, found, d)
		}
	}
}
