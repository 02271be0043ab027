package gen_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"mcptest/internal/base/jsonschema"
	"mcptest/internal/base/source"
	"mcptest/internal/cli/gen"
	"mcptest/internal/server/manifest"
)

// TestMockSchema: the manifests that the program comes with fit the schema, and every struct
// of keys is in it.
func TestMockSchema(t *testing.T) {
	v, err := gen.MockSchema()
	if err != nil {
		t.Fatal(err)
	}
	s, err := jsonschema.Compile(v, jsonschema.Options{})
	if err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob("../../server/manifest/presets/*.yaml")
	if err != nil || len(names) == 0 {
		t.Fatalf("no presets: %v", err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		n, ds := source.Parse(&source.File{Name: name, Data: data})
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		if bad, err := s.Validate(t.Context(), n.JSON()); err != nil || len(bad) > 0 {
			t.Errorf("%s: %v, %v", name, bad, err)
		}
	}
	var listed []string
	for _, k := range gen.Keys(v) {
		listed = append(listed, k.Section)
	}
	for name := range manifest.KeyTypes() {
		if name != "" && !slices.Contains(listed, name) {
			t.Errorf("no key leads to the keys of %s", name)
		}
	}
}
