package snapshot

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"mcptest/internal/jsonv"
	"mcptest/internal/source"
	"mcptest/internal/source/stored"
)

// version is the version of the format of snapshot files.
const version = 1

// keyVersion is the key of a snapshot file that names its format.
const keyVersion = "mcptest_snapshots"

// keyEnd is the key of the last line of a snapshot file. Without it the file was
// cut off, and the rest would be stored again from what servers return now.
const keyEnd = "end"

// again is the command that writes snapshots.
const again = "mcptest run --update-snapshots"

// File is the snapshot file of a suite. It is not changed; see Run.
type File struct {
	Path string // absolute
	Name string // as shown
	// suite is the suite's file, without its folder.
	suite string
	tests map[string]map[string]entry // by test, then by name
}

// entry is a stored value.
type entry struct {
	value jsonv.Value
	line  int
}

// Read reads the snapshot file of the suite at path, which is shown as name. A
// file that does not exist has no snapshots.
func Read(path, name string) (*File, source.Diagnostics) {
	dir, base := filepath.Split(path)
	shown, _ := filepath.Split(name)
	snap := strings.TrimSuffix(base, ".yaml")
	if stem, ok := strings.CutSuffix(base, ".yml"); ok {
		if _, err := os.Stat(dir + stem + ".yaml"); err != nil { // otherwise that suite has the short name
			snap = stem
		}
	}
	snap += ".snap.yaml"
	f := &File{Path: filepath.Join(dir, "__snapshots__", snap), Name: shown + filepath.Join("__snapshots__", snap), suite: base}
	return f, f.read()
}

// read reads what the file has now.
func (f *File) read() source.Diagnostics {
	f.tests = map[string]map[string]entry{}
	if _, err := os.Lstat(f.Path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	src, diags := source.Read(f.Path, f.Name)
	if src == nil {
		return diags
	}
	if d, found := stored.Conflict(src, again); found {
		return source.Diagnostics{d}
	}
	root, diags := source.Parse(src)
	if root == nil || diags.HasErrors() {
		return diags
	}
	var d source.Decoder
	f.decode(&d, root)
	return d.Diagnostics()
}

func (f *File) decode(d *source.Decoder, root *source.Node) {
	v := root.Get(keyVersion)
	if v == nil {
		d.Errorf(root, "", "not a snapshot file of mcptest: it has no %s", keyVersion).Hint = "restore the file from version control, or remove it and run " + again
		return
	}
	switch n, err := strconv.Atoi(v.Text); {
	case err == nil && n > version:
		d.Errorf(v, keyVersion, "the file has format %d, this version of mcptest reads %d", n, version).Hint = "update mcptest"
		return
	case err != nil || n != version:
		d.Errorf(v, keyVersion, "unknown format, expected %d", version)
		return
	}
	if root.Get(keyEnd) == nil {
		d.Errorf(root, "", "the snapshot file is cut off: its last line must be %q", keyEnd+": true").Hint = "restore the file from version control"
		return
	}
	for _, field := range root.Fields {
		switch field.Key.Text {
		case keyVersion, keyEnd:
		case "tests":
			f.decodeTests(d, field.Value)
		default:
			d.UnknownKey(field.Key, "", []string{keyVersion, "tests", keyEnd})
		}
	}
}

func (f *File) decodeTests(d *source.Decoder, tests *source.Node) {
	if tests.Kind != source.KindMap {
		d.WrongType(tests, "tests", "a map of tests")
		return
	}
	for _, test := range tests.Fields {
		if test.Value.Kind != source.KindMap {
			d.WrongType(test.Value, source.PathKey("tests", test.Key.Text), "a map of snapshots")
			continue
		}
		of := map[string]entry{}
		for _, one := range test.Value.Fields {
			of[one.Key.Text] = entry{one.Value.JSON(), one.Key.Pos.Line}
		}
		f.tests[test.Key.Text] = of
	}
}

// bytes is the content of the file.
func (f *File) bytes() []byte {
	w := &stored.Writer{Compact: true}
	w.Raw("# Snapshots of " + jsonv.String(f.suite).String() + ". Review changes like code; " + again + " writes them.\n" +
		"# What differs from run to run is masked: <" + strings.Join(builtin(), ">, <") + ">; what the suite ignores: <" + ignored + ">.\n")
	w.Line(0, keyVersion+": "+strconv.Itoa(version))
	w.Line(0, "tests:")
	for _, test := range slices.Sorted(maps.Keys(f.tests)) {
		w.Line(1, stored.Text(test)+":")
		for _, name := range slices.Sorted(maps.Keys(f.tests[test])) {
			w.Member(2, name, f.tests[test][name].value)
		}
	}
	w.Line(0, keyEnd+": true")
	return w.Bytes()
}
