package source

import (
	"os"
	"path/filepath"
	"testing"
)

// A path that only some systems find is named, with what to write; one that all find is not.
func TestPathsOfOtherSystems(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "Data", "rows"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"Data/rows/cities.csv", "shared.yaml"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for written, want := range map[string]string{
		"shared.yaml":                 "",
		"./Data/rows/cities.csv":      "",
		"Data/../shared.yaml":         "",
		"absent/cities.csv":           "",
		`Data\rows\cities.csv`:        `only Windows finds Data\rows\cities.csv: write Data/rows/cities.csv`,
		"data/rows/cities.csv":        `other systems do not find data/rows/cities.csv: the name is written "Data"`,
		"./Data/rows/Cities.csv":      `other systems do not find ./Data/rows/Cities.csv: the name is written "cities.csv"`,
		"Data/rows/../../SHARED.yaml": `other systems do not find Data/rows/../../SHARED.yaml: the name is written "shared.yaml"`,
	} {
		if got := explainNotElsewhere(dir, written); got != want {
			t.Errorf("%s: got %q, want %q", written, got, want)
		}
	}
	near := FindNearFile(filepath.Join(dir, `Data\rows\cities.csv`))
	if want := filepath.ToSlash(filepath.Join(dir, "Data/rows/cities.csv")); near != want {
		t.Errorf("near a path with backslashes is %q, want %q", near, want)
	}
}
