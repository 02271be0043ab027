package source_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mcptest/internal/base/source"
)

// FuzzLoad: for any bytes, parsing, decoding and printing end soon,
// never panic, and print nothing a terminal would act on.
func FuzzLoad(f *testing.F) {
	files, err := filepath.Glob("testdata/diagnostics/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	for _, s := range []string{"", "a: &a [*a]", "<<: [*x, {}]", "\xff\xfe", "? [a\n: b", "a: \"\\x", "a: |5\n x", "[[[[", "a:\n\t- b", "%TAG ! !\n--- !a b", aliasBomb(5, 5), "?"} {
		f.Add([]byte(s))
	}
	// Each seed reaches code that no other seed does.
	for _, seed := range []string{
		" # want \"unbnown key\"\n--- # want \"^1: er2or: a second docu\x00\x80nt: \xc8|XY~\\\xab\xa3\x04\x9e\x83\t0\xa1\xcd\xf0\x9e\x1cIn\t",
		"|\n ",
		":  yoevmean \\\"namD\\!\\\\\"\\?$\\)\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t_\nservers:\n \t\t\t\t\t\t\t\t  timout:_\t\t\t\t\t\t",
		">1\n>1\n  ",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		hang := time.AfterFunc(20*time.Second, func() { panic(fmt.Sprintf("hangs: %q", data)) })
		defer hang.Stop()
		file := &source.File{Name: "suite.yaml", Data: data}
		n, ds := source.Parse(file)
		if n == nil && !ds.HasErrors() {
			t.Fatal("no document, and no reason")
		}
		if n != nil {
			checkTree(t, file, n)
			var s sample
			ds.Add(source.Decode(n, &s)...)
			n.MapScalars(func(n *source.Node) *source.Node { return n.WithText("x") })
		}
		ds.Sort()
		var b strings.Builder
		if err := ds.Print(&b, source.Style{Width: 40}); err != nil {
			t.Fatal(err)
		}
		checkHarmless(t, b.String())
		checkHarmless(t, ds.Error())
		for _, d := range ds {
			checkPlace(t, file, d)
		}
	})
}

// checkPlace: every diagnostic of a file has a message and a position in it.
func checkPlace(t *testing.T, f *source.File, d source.Diagnostic) {
	t.Helper()
	if d.Pos.File != f || d.Msg == "" || d.Code == "" {
		t.Fatalf("incomplete: %#v", d)
	}
	if d.Pos.Line > f.Lines() || d.Pos.Line > 0 && d.Pos.Col > len(f.Line(d.Pos.Line))+1 {
		t.Fatalf("outside the file: %v", d)
	}
}

func checkTree(t *testing.T, f *source.File, n *source.Node) {
	t.Helper()
	budget := 10_000
	var visit func(n *source.Node)
	visit = func(n *source.Node) {
		if budget--; budget < 0 {
			return
		}
		if p := n.Pos; p.File != f || p.Line < 1 || p.Line > f.Lines() || p.Col < 1 || p.Col > len(f.Line(p.Line))+1 {
			t.Fatalf("%v %q is outside the file", p, n.Text)
		}
		for _, offset := range []int{0, len(n.Text) / 2, len(n.Text)} {
			if p := n.In(offset); p.Line < n.Pos.Line {
				t.Fatalf("%q: byte %d is at %v, before %v", n.Text, offset, p, n.Pos)
			}
		}
		seen := map[string]bool{}
		for _, field := range n.Fields {
			if seen[field.Key.Text] {
				t.Fatalf("key %q twice", field.Key.Text)
			}
			seen[field.Key.Text] = true
			visit(field.Key)
			visit(field.Value)
		}
		for _, item := range n.Items {
			visit(item)
		}
	}
	visit(n)
	if n.JSON().IsAbsent() {
		t.Fatal("no JSON")
	}
}
