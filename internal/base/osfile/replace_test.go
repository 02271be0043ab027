package osfile_test

import (
	"os"
	"path/filepath"
	"testing"

	"mcptest/internal/base/osfile"
)

func TestReplace(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "data.json")
	for _, text := range []string{"first", "second"} {
		if err := osfile.Replace(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(name); string(got) != text || err != nil {
			t.Fatalf("got %q, %v", got, err)
		}
	}
	info, err := os.Stat(name)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if err := osfile.Replace(dir, nil, 0o600); err == nil {
		t.Error("a folder was replaced")
	}
	if err := osfile.Replace(filepath.Join(dir, "none", "x"), nil, 0o600); err == nil {
		t.Error("a file in a missing folder was written")
	}
	only(t, dir, "data.json")
}

// An aborted file leaves the old content and nothing else.
func TestAbort(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "data")
	if err := os.WriteFile(name, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	next, err := osfile.Create(name, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := next.WriteString("new"); err != nil {
		t.Fatal(err)
	}
	next.Abort()
	if got, _ := os.ReadFile(name); string(got) != "old" {
		t.Errorf("got %q", got)
	}
	only(t, dir, "data")
}

func TestTryLock(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lock")
	first, second := open(t, name), open(t, name)
	if held, err := osfile.TryLock(first); !held || err != nil {
		t.Fatalf("the first lock: %v, %v", held, err)
	}
	if held, err := osfile.TryLock(second); held || err != nil {
		t.Fatalf("the second lock: %v, %v", held, err)
	}
	first.Close()
	if held, err := osfile.TryLock(second); !held || err != nil {
		t.Fatalf("after the first was closed: %v, %v", held, err)
	}
}

func open(t *testing.T, name string) *os.File {
	t.Helper()
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func only(t *testing.T, dir, name string) {
	t.Helper()
	all, err := os.ReadDir(dir)
	if err != nil || len(all) != 1 || all[0].Name() != name {
		t.Errorf("the folder has %v, %v", all, err)
	}
}
