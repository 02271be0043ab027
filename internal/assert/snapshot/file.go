package snapshot

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/osfile"
	"mcptest/internal/base/source"
	"mcptest/internal/base/source/stored"
)

// version is the version of the format of snapshot files.
const version = 1

// keyVersion is the key of a snapshot file that names its format.
const keyVersion = "mcptest_snapshots"

// keyEnd is the key of the last line of a snapshot file. Without it the file was
// cut off, and the rest would be stored again from what servers return now.
const keyEnd = "end"

// updateCommand is the command that writes snapshots.
const updateCommand = "mcptest run --update-snapshots"

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
	f := &File{Path: filepath.Join(dir, "__snapshots__", snap), Name: filepath.ToSlash(shown) + "__snapshots__/" + snap, suite: base}
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
	if d, found := stored.FindConflict(src, updateCommand); found {
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
		d.Errorf(root, "", "not a snapshot file of mcptest: it has no %s", keyVersion).Hint = "restore the file from version control, or remove it and run " + updateCommand
		return
	}
	n, err := strconv.Atoi(v.Text)
	switch {
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
			d.ReportUnknownKey(field.Key, "", []string{keyVersion, "tests", keyEnd})
		}
	}
}

func (f *File) decodeTests(d *source.Decoder, tests *source.Node) {
	if tests.Kind != source.KindMap {
		d.ReportWrongType(tests, "tests", "a map of tests")
		return
	}
	for _, test := range tests.Fields {
		if test.Value.Kind != source.KindMap {
			d.ReportWrongType(test.Value, source.PathKey("tests", test.Key.Text), "a map of snapshots")
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
	w.Raw("# Snapshots of " + jsonv.String(f.suite).String() + ". Review changes like code; " + updateCommand + " writes them.\n" +
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

// Saved is the result of Save.
type Saved struct {
	New, Changed, Removed int
	// Withheld counts values that were not stored because their tests failed.
	Withheld int
	Stale    []Stale // what was not removed
}

// lockTime is how long another run may take to write the file.
const lockTime = 10 * time.Second

// Save writes the file if something changed. all has the names of all tests of
// the suite if all of them were selected, and is nil otherwise. clean says that
// the whole run passed; otherwise nothing is removed.
func (r *Run) Save(all map[string]bool, clean bool) (s Saved, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s.Withheld, s.Stale = r.withheld, r.stale(all)
	remove := r.mode == Update && clean && len(s.Stale) > 0
	if len(r.set) == 0 && !remove {
		return s, nil
	}
	unlock, err := r.file.lock()
	if err != nil {
		return s, err
	}
	defer unlock()
	// Another run may have changed it.
	next := *r.file
	if diags := next.read(); diags.HasErrors() {
		return s, fmt.Errorf("it has become unreadable: %s", diags[0].Msg)
	}
	for test, values := range r.set {
		for name, v := range values {
			if _, known := next.tests[test][name]; !known {
				s.New++
			} else if r.mode == Add {
				continue // the other run stored it
			} else {
				s.Changed++
			}
			next.put(test, name, v)
		}
	}
	if remove {
		s.Removed, s.Stale = len(s.Stale), nil
		for _, old := range r.stale(all) {
			next.drop(old.Test, old.Name)
		}
	}
	return s, next.write()
}

func (f *File) put(test, name string, v jsonv.Value) {
	if f.tests[test] == nil {
		f.tests[test] = map[string]entry{}
	}
	f.tests[test][name] = entry{value: v}
}

func (f *File) drop(test, name string) {
	delete(f.tests[test], name)
	if len(f.tests[test]) == 0 {
		delete(f.tests, test)
	}
}

// write replaces the file, or removes it if it has no snapshots any more.
func (f *File) write() error {
	if len(f.tests) == 0 {
		return os.Remove(f.Path)
	}
	data := f.bytes()
	if len(data) > source.MaxSize {
		return fmt.Errorf("it would have %d bytes, more than %d: use smaller targets or ignore", len(data), source.MaxSize)
	}
	had, err := os.ReadFile(f.Path)
	if err == nil && bytes.Equal(bytes.ReplaceAll(had, []byte("\r\n"), []byte("\n")), data) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(f.Path), 0o777); err != nil {
		return err
	}
	return osfile.Replace(f.Path, data, 0o666)
}

// lock waits until no other run writes the file. The lock is outside of the
// folder of snapshots, because that is in version control.
func (f *File) lock() (unlock func(), err error) {
	ctx, cancel := context.WithTimeout(context.Background(), lockTime)
	defer cancel()
	sum := sha256.Sum256([]byte(osfile.Place(f.Path)))
	name := fmt.Sprintf("mcptest-%d-%x.lock", os.Getuid(), sum[:8])
	unlock, err = osfile.Lock(ctx, filepath.Join(os.TempDir(), name))
	if errors.Is(err, os.ErrPermission) || errors.Is(err, os.ErrNotExist) {
		return func() {}, nil // a file of another user, or no such folder
	}
	return unlock, err
}

// Note describes the changes to the file called name; "" if there were none.
func (s Saved) Note(name string) string {
	var parts []string
	for _, p := range []struct {
		n    int
		word string
	}{{s.New, "new"}, {s.Changed, "updated"}, {s.Removed, "removed"}, {s.Withheld, "not written because the test did not pass"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.word))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "snapshots in " + name + ": " + strings.Join(parts, ", ")
}
