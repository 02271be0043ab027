package plan_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzSuite uses bytes as a suite file, with a CSV file next to it: any input results in a
// diagnostic or in a plan whose cases can be built, and the same input has the same result.
func FuzzSuite(f *testing.F) {
	for _, pattern := range []string{"testdata/diagnostics/*.yaml", "testdata/diagnostics/*/suite.yaml", "testdata/rich/suite.yaml", "../../../examples/*.yml"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, path := range files {
			data, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data, []byte("a,b\n1,\"x\"\n2,y\n"))
		}
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data, rows []byte) {
		dir := filepath.Join(dir, strings.ReplaceAll(t.Name(), "/", "_"))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		for name, b := range map[string][]byte{"suite.yaml": data, "rows.csv": rows, "rows.jsonl": rows, ".env": rows} {
			if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		p, diags := compile(dir)
		if !diags.HasErrors() {
			if err := checkPlan(p); err != nil {
				t.Fatal(err)
			}
		}
		_, again := compile(dir)
		diags.Sort()
		again.Sort()
		if a, b := diags.Error(), again.Error(); a != b {
			t.Fatalf("first\n%s\nthen\n%s", a, b)
		}
	})
}
