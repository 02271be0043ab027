package gen_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"mcptest/internal/base/jsonschema"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
	"mcptest/internal/cli/gen"
	"mcptest/internal/spec/plan"
	"mcptest/internal/spec/suite"
)

// environment is what the suites of these tests may read.
var environment = []string{"API_TOKEN=0123456789abcdef", "CLIENT_SECRET=0123456789abcdef", "PATH=/bin"}

// publishedNodes is the limit for the published schema, which is larger than what
// servers may send.
const publishedNodes = 4000

var makeSchema = sync.OnceValues(func() (jsonv.Value, error) {
	return gen.Schema()
})

func schemaDoc(t testing.TB) jsonv.Value {
	t.Helper()
	v, err := makeSchema()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func compiled(t testing.TB) *jsonschema.Schema {
	t.Helper()
	s, err := jsonschema.Compile(schemaDoc(t), jsonschema.Options{Nodes: publishedNodes})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// checker judges suites twice: by the schema, and by loading and compiling
// them.
type checker struct {
	schema *jsonschema.Schema
	dir    string
}

func newChecker(t testing.TB) *checker { return &checker{schema: compiled(t), dir: t.TempDir()} }

// bySchema returns what the schema says against a suite.
func (c *checker) bySchema(t testing.TB, v jsonv.Value) []jsonschema.Violation {
	t.Helper()
	violations, err := c.schema.Validate(t.Context(), v)
	if err != nil {
		t.Fatal(err)
	}
	return violations
}

// byProgram returns what the program says against a suite.
func (c *checker) byProgram(t testing.TB, text []byte) source.Diagnostics {
	t.Helper()
	path := filepath.Join(c.dir, "suite.yaml")
	if err := os.WriteFile(path, text, 0o666); err != nil {
		t.Fatal(err)
	}
	s, diags := suite.Load(path, suite.Options{Env: environment, BaseDir: c.dir})
	if s == nil {
		return diags
	}
	set := plan.Settings{Env: environment}
	for _, k := range gen.Violations() {
		set.ViolationKinds = append(set.ViolationKinds, k.Name)
	}
	_, more := plan.Compile([]*suite.Suite{s}, set)
	return append(diags, more...)
}

// parse reads YAML that must be well-formed.
func parse(t testing.TB, name string, text []byte) jsonv.Value {
	t.Helper()
	n, diags := source.Parse(&source.File{Name: name, Data: text})
	if n == nil || diags.HasErrors() {
		t.Fatalf("%s: %v\n%s", name, diags, text)
	}
	return n.JSON()
}

func read(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func errorsOf(diags source.Diagnostics) source.Diagnostics {
	var out source.Diagnostics
	for _, d := range diags {
		if d.Severity == source.Error {
			out = append(out, d)
		}
	}
	return out
}
