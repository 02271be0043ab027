package source_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mcptest/internal/base/source"
)

func TestSort(t *testing.T) {
	root, other := &source.File{Name: "root.yaml"}, &source.File{Name: "a-import.yaml"}
	at := func(f *source.File, line, col int) source.Pos { return source.Pos{File: f, Line: line, Col: col} }
	related := func(lines ...int) (out []source.Related) {
		for _, n := range lines {
			out = append(out, source.Related{Pos: at(root, n, 1), Msg: "used here"})
		}
		return out
	}
	ds := source.Diagnostics{
		{Pos: at(root, 9, 1), Msg: "last of root"},
		{Pos: at(other, 1, 1), Msg: "other"},
		{Pos: at(root, 2, 5), Msg: "b", Path: "one", Related: related(4)},
		{Pos: at(root, 2, 5), Msg: "warn", Severity: source.Warning},
		{Pos: at(root, 2, 5), Msg: "a second one"},
		{Pos: at(root, 2, 3), Msg: "left"},
		{Pos: at(root, 2, 5), Msg: "b", Path: "two", Related: related(5, 4)},
		{Msg: "nowhere", Path: "x"},
		{Msg: "nowhere", Path: "y"},
		{Msg: "nowhere", Path: "x"},
		{Pos: at(root, 2, 5), Msg: "b", Related: related(6, 7, 8, 9, 10, 11)},
	}
	ds.Sort()
	want := []string{
		"root.yaml:2:3: error: left",
		"root.yaml:2:5: error: one: b",
		"root.yaml:2:5: error: a second one",
		"root.yaml:2:5: warning: warn",
		"root.yaml:9:1: error: last of root",
		"a-import.yaml:1:1: error: other",
		"error: x: nowhere",
		"error: y: nowhere",
	}
	if diff := cmp.Diff(want, strings.Split(ds.Error(), "\n")); diff != "" {
		t.Error(diff)
	}
	var lines []int
	for _, r := range ds[1].Related {
		lines = append(lines, r.Pos.Line)
	}
	if diff := cmp.Diff([]int{4, 5, 6, 7, 8}, lines); diff != "" {
		t.Error(diff)
	}
}

func TestErr(t *testing.T) {
	var ds source.Diagnostics
	ds.Add(source.Warnf(source.Pos{}, "p", "only %s", "a warning"))
	if ds.HasErrors() || ds.Err() != nil || ds.Error() != "warning: p: only a warning" {
		t.Error(ds)
	}
	ds.Add(source.Errorf(source.Pos{Line: 3}, "", "an error"))
	if !ds.HasErrors() || ds.Err() == nil || ds[1].String() != "3: error: an error" {
		t.Error(ds)
	}
}

func TestFilePositions(t *testing.T) {
	f := file("\ufeffäb\r\nc\rd\n\nlast")
	for i, want := range []string{"", "äb", "c", "d", "", "last", ""} {
		if got := f.Line(i); got != want {
			t.Errorf("line %d: %q", i, got)
		}
	}
	if f.Lines() != 5 {
		t.Errorf("%d lines", f.Lines())
	}
	for offset, want := range map[int]string{-5: "1:1", 0: "1:1", 3: "1:1", 5: "1:2", 6: "1:3", 8: "2:1", 10: "3:1", 12: "4:1", 13: "5:1", 17: "5:5", 999: "5:5"} {
		if got := f.At(offset).String(); got != "suite.yaml:"+want {
			t.Errorf("offset %d: %s", offset, got)
		}
	}
	var none *source.File
	if none.Line(1) != "" || (source.Pos{}).String() != "" || (source.Pos{Line: 2, Col: 3}).String() != "2:3" || (source.Pos{File: f}).String() != "suite.yaml" {
		t.Error("positions that are not whole")
	}
}

func TestRead(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, size int64) string {
		path := filepath.Join(dir, name)
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := f.Truncate(size); err != nil {
			t.Fatal(err)
		}
		return path
	}
	tests := map[string]string{
		write("huge.yaml", 50<<20):                        "error: the file is too large: 50 MiB, the limit is 10 MiB",
		filepath.Join(dir, "none.yaml"):                   "error: no such file",
		filepath.Join(write("f", 1), "below-a-file.yaml"): "error: no such file",
		dir: "error: this is a directory, not a file",
	}
	if runtime.GOOS == "linux" {
		tests["/dev/zero"] = "error: this is not a regular file"
	}
	for path, want := range tests {
		f, ds := source.Read(path, "shown.yaml")
		if f != nil || ds.Error() != "shown.yaml: "+want {
			t.Errorf("%s: %v", path, ds)
		}
		if out := printed(t, ds, source.Style{}); out != "shown.yaml: "+want+"\n" && len(ds[0].Hint) == 0 {
			t.Errorf("%s: %s", path, out)
		}
	}
	f, ds := source.Read(write("fits.yaml", source.MaxSize), "shown.yaml")
	if len(ds) > 0 || len(f.Data) != source.MaxSize || f.Name != "shown.yaml" || f.Path != filepath.Join(dir, "fits.yaml") {
		t.Errorf("%v", ds)
	}
}
