package snapshot

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"mcptest/internal/base/jsonv"
)

// read reads the snapshots of a suite in the folder, whose file gets this text
// unless it is "".
func read(t *testing.T, folder, text string) *File {
	t.Helper()
	if text != "" {
		if err := os.MkdirAll(filepath.Join(folder, "__snapshots__"), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "__snapshots__", "a.snap.yaml"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	f, diags := Read(filepath.Join(folder, "a.yaml"), "tests/a.yaml")
	if diags != nil {
		t.Fatal(diags)
	}
	return f
}

// attempt makes one attempt of a test with one snapshot and returns the
// comparison.
func attempt(test *Test, name, value string, pass bool) Comparison {
	test.Attempt()
	c := test.Compare(name, jsonv.String(value), "FIX")
	if c.Pass && pass {
		test.AttemptPassed()
	}
	return c
}

func save(t *testing.T, r *Run, all map[string]bool, clean bool) Saved {
	t.Helper()
	s, err := r.Save(all, clean)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const head = "mcptest_snapshots: 1\ntests:\n"

// A value is stored only from an attempt that passed, and only if the test
// passed in the end.
func TestOnlyPassingTestsAreStored(t *testing.T) {
	folder := t.TempDir()
	r := read(t, folder, "").Begin(Add)
	failed := r.Test("failed")
	attempt(failed, "text", "x", false)
	failed.Done(false)
	retried := r.Test("retried")
	attempt(retried, "text", "first", false)
	attempt(retried, "text", "second", true)
	retried.Done(true)
	if s := save(t, r, nil, false); s.New != 1 || s.Withheld != 1 {
		t.Errorf("%+v", s)
	}
	f := read(t, folder, "")
	if len(f.tests) != 1 || f.tests["retried"]["text"].value.Text() != "second" {
		t.Errorf("stored %v", f.tests)
	}
}

// Runs of a repeated test that differ are a failure, also before anything is
// stored.
func TestRepeatsMustAgree(t *testing.T) {
	for _, mode := range []Mode{Add, Update} {
		test := read(t, t.TempDir(), head+"  test: {text: old}\nend: true\n").Begin(mode).Test("test")
		name := map[Mode]string{Add: "new", Update: "text"}[mode]
		if c := attempt(test, name, "one", true); !c.Pass {
			t.Errorf("%+v", c)
		}
		c := attempt(test, name, "two", true)
		if c.Pass || c.Want.Text() != "one" || !strings.Contains(strings.Join(c.Notes, ""), "differs between runs") {
			t.Errorf("%+v", c)
		}
		if c := attempt(test, name, "one", true); !c.Pass || c.Notes != nil {
			t.Errorf("%+v", c)
		}
	}
}

func TestModes(t *testing.T) {
	for _, c := range []struct {
		mode               Mode
		name, value        string
		pass               bool
		problem, note, has string
	}{
		{Add, "text", "old", true, "", "", "old"},
		{Add, "text", "new", false, "", "FIX", "old"},
		{Add, "other", "new", true, "", "", "new"},
		{Check, "text", "old", true, "", "", "old"},
		{Check, "text", "new", false, "", "FIX", "old"},
		{Check, "other", "new", false, `no snapshot called "other" is stored in tests/__snapshots__/a.snap.yaml, and none is written in CI`, "FIX", ""},
		{Update, "text", "new", true, "", "", "new"},
		{Update, "other", "new", true, "", "", "new"},
	} {
		folder := t.TempDir()
		r := read(t, folder, head+"  test: {text: old}\nend: true\n").Begin(c.mode)
		test := r.Test("test")
		got := attempt(test, c.name, c.value, true)
		if got.Pass != c.pass || got.Problem != c.problem || !strings.Contains(strings.Join(got.Notes, ""), c.note) {
			t.Errorf("%+v: %+v", c, got)
		}
		test.Done(got.Pass)
		save(t, r, nil, got.Pass)
		if v := read(t, folder, "").tests["test"][c.name].value; v.Text() != c.has {
			t.Errorf("%+v: the file has %s", c, v)
		}
	}
}

// Two snapshots of one name in one attempt can't both be stored.
func TestNameTwice(t *testing.T) {
	test := read(t, t.TempDir(), "").Begin(Update).Test("test")
	attempt(test, "text", "x", true)
	if c := test.Compare("text", jsonv.String("x"), ""); c.Pass || !strings.Contains(c.Problem, "two snapshots") {
		t.Errorf("%+v", c)
	}
}

// Runs that write at the same time lose nothing of each other.
func TestConcurrentRuns(t *testing.T) {
	folder := t.TempDir()
	const n = 20
	var wg sync.WaitGroup
	for i := range n {
		r := read(t, folder, "").Begin(Add)
		wg.Go(func() {
			test := r.Test(fmt.Sprint("test ", i))
			attempt(test, "text", "x", true)
			test.Done(true)
			if _, err := r.Save(nil, true); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if f := read(t, folder, ""); len(f.tests) != n {
		t.Errorf("%d of %d tests are stored", len(f.tests), n)
	}
	if list, _ := os.ReadDir(filepath.Join(folder, "__snapshots__")); len(list) != 1 {
		t.Errorf("the folder has %v", list)
	}
}

// A file with Windows line ends is the same file, and is not rewritten for them.
func TestWindowsLines(t *testing.T) {
	folder := t.TempDir()
	r := read(t, folder, "").Begin(Add)
	test := r.Test("test")
	attempt(test, "text", "one\ntwo\n", true)
	test.Done(true)
	save(t, r, nil, true)
	path := filepath.Join(folder, "__snapshots__", "a.snap.yaml")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	windows := strings.ReplaceAll(string(data), "\n", "\r\n")
	r = read(t, folder, windows).Begin(Check)
	if c := attempt(r.Test("test"), "text", "one\ntwo\n", true); !c.Pass {
		t.Errorf("%+v", c)
	}
	f := read(t, folder, "")
	if err := f.write(); err != nil {
		t.Fatal(err)
	}
	if now, _ := os.ReadFile(path); string(now) != windows {
		t.Errorf("rewritten as\n%q", now)
	}
}

func TestBrokenFiles(t *testing.T) {
	for text, want := range map[string]string{
		"":                           "", // no file
		" ":                          "it has no mcptest_snapshots|is empty",
		"a: 1\n":                     "1:1: error: not a snapshot file of mcptest: it has no mcptest_snapshots",
		"mcptest_snapshots: 2\n":     "1:20: error: mcptest_snapshots: the file has format 2, this version of mcptest reads 1",
		"mcptest_snapshots: x\n":     "1:20: error: mcptest_snapshots: unknown format, expected 1",
		head + "  a: {b: 1}\n":       `1:1: error: the snapshot file is cut off: its last line must be "end: true"`,
		head + "  a: x\nend: true\n": "3:6: error: tests.a: expected a map of snapshots, got text",
		"mcptest_snapshots: 1\ntests: [a]\nend: true\n":                          "2:8: error: tests: expected a map of tests, got a list",
		head + "  a:\n<<<<<<< HEAD\n    b: 1\n=======\n    b: 2\n>>>>>>> main\n": "4:1: error: the file has an unresolved merge conflict",
		head + "  a: {b: 1, b: 2}\n":                                             "3:13: error: duplicate key",
		head + "  a: {b: 1\n":                                                    "error",
	} {
		folder := t.TempDir()
		if text != "" {
			_ = os.Mkdir(filepath.Join(folder, "__snapshots__"), 0o777)
			_ = os.WriteFile(filepath.Join(folder, "__snapshots__", "a.snap.yaml"), []byte(text), 0o666)
		}
		_, diags := Read(filepath.Join(folder, "a.yaml"), "a.yaml")
		got := fmt.Sprint(diags)
		ok := false
		for w := range strings.SplitSeq(want, "|") {
			ok = ok || strings.Contains(got, w)
		}
		if diags.HasErrors() != (want != "") || !ok {
			t.Errorf("%q: %s", text, got)
		}
	}
}

// Two suites that differ only in the ending of their names have a file each.
func TestPath(t *testing.T) {
	folder := t.TempDir()
	path := func(name string) string {
		f, _ := Read(filepath.Join(folder, name), name)
		return filepath.Base(f.Path)
	}
	if got := path("a.yml"); got != "a.snap.yaml" {
		t.Error(got)
	}
	if err := os.WriteFile(filepath.Join(folder, "a.yaml"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if a, b, c := path("a.yaml"), path("a.yml"), path("a.mcptest.yaml"); a != "a.snap.yaml" || b != "a.yml.snap.yaml" || c != "a.mcptest.snap.yaml" {
		t.Error(a, b, c)
	}
}
