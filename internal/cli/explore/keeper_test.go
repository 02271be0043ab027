package explore

import (
	"os"
	"path/filepath"
	"testing"
)

// Paths of this folder are written so that they hold in every checkout.
func TestPortablePaths(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	for _, name := range []string{"data", "a b"} {
		if err := os.Mkdir(name, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for word, want := range map[string]string{
		filepath.Join(dir, "data"):             "./data",
		filepath.Join(dir, "a b"):              "./a b",
		dir:                                    ".",
		filepath.Join(dir, "none"):             filepath.Join(dir, "none"), // maybe no path, or made later
		filepath.Dir(dir):                      filepath.Dir(dir),
		dir + "-other":                         dir + "-other",
		"--root=" + filepath.Join(dir, "data"): "--root=./data",
		"NAME=" + filepath.Join(dir, "data"):   "NAME=" + filepath.Join(dir, "data"), // an argument of its own kind
		"data":                                 "data",
		"--root":                               "--root",
		"/":                                    "/",
	} {
		if got := makePortable(word); got != want {
			t.Errorf("%s is written as %s, want %s", word, got, want)
		}
	}
}
