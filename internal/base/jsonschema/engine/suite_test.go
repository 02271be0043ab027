package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mcptest/internal/base/jsonschema/engine"
	"mcptest/internal/base/jsonv"
)

// The modules that contain the official JSON Schema test suite. They are in the go.mod of
// the tools, so that a program that uses this project does not need them.
const (
	suiteOfGoogle = "github.com/google/jsonschema-go"
	suiteOfQri    = "github.com/qri-io/jsonschema"
)

// moduleFolder returns where the sources of a module are, after downloading them if
// needed.
func moduleFolder(t *testing.T, module string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", "-modfile=tools/go.mod", module)
	cmd.Dir = filepath.Join("..", "..", "..", "..")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	var found struct{ Dir, Error string }
	if uerr := json.Unmarshal(out, &found); uerr != nil || found.Dir == "" {
		t.Fatalf("go mod download %s: %v %s %s", module, err, found.Error, stderr.String())
	}
	return found.Dir
}

// suite is the folder of the official suite for one draft.
type suite struct {
	draft          engine.Draft
	tests, remotes string
	atLeast        int // how many cases there are: fewer are not all
}

// run runs all cases of a suite and returns how many there were.
func (s suite) run(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(s.tests, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no tests in %s: %v", s.tests, err)
	}
	cases := 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		groups, err := jsonv.Parse(data)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, group := range groups.Elems() {
			cases += s.group(t, filepath.Base(file), group)
		}
	}
	if cases < s.atLeast {
		t.Errorf("%d cases, want at least %d", cases, s.atLeast)
	}
	t.Logf("%d cases", cases)
}

func (s suite) group(t *testing.T, file string, group jsonv.Value) int {
	cases := group.Lookup("tests")
	about := file + ": " + group.Lookup("description").Text()
	o := engine.Options{Draft: s.draft, BaseURI: "http://example.com/schema.json", Load: s.load}
	schema, err := engine.Compile(group.Lookup("schema"), o)
	if err != nil {
		t.Errorf("%s: %v", about, err)
		return cases.Len()
	}
	for _, c := range cases.Elems() {
		name := about + ": " + c.Lookup("description").Text()
		failures, err := schema.Check(context.Background(), c.Lookup("data"))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		fits, err := schema.Fits(context.Background(), []jsonv.Value{c.Lookup("data")})
		want := c.Lookup("valid").Bool()
		if (len(failures) == 0) != want || err != nil || fits[0] != want {
			t.Errorf("%s: %v, %v, want %v (%v)", name, failures, fits, want, err)
		}
	}
	return cases.Len()
}

// load returns a document that the suite's server would have.
func (s suite) load(uri string) (jsonv.Value, error) {
	path, ok := strings.CutPrefix(uri, "http://localhost:1234/")
	if !ok {
		return jsonv.Value{}, errors.New("not in the suite: " + uri)
	}
	data, err := os.ReadFile(filepath.Join(s.remotes, filepath.FromSlash(path)))
	if err != nil {
		return jsonv.Value{}, fmt.Errorf("load: %w", err)
	}
	return jsonv.Parse(data)
}

// TestSuite runs the required tests of the official suite.
func TestSuite(t *testing.T) {
	t.Parallel()
	google := filepath.Join(moduleFolder(t, suiteOfGoogle), "jsonschema", "testdata")
	qri := filepath.Join(moduleFolder(t, suiteOfQri), "testdata")
	for _, in := range []struct {
		folder, name string
		draft        engine.Draft
		atLeast      int
	}{
		{qri, "draft4", engine.Draft4, 473},
		{qri, "draft6", engine.Draft6, 602},
		{google, "draft7", engine.Draft7, 913},
		{qri, "draft2019-09", engine.Draft2019, 725},
		{google, "draft2020-12", engine.Draft2020, 1099},
	} {
		t.Run(in.name, func(t *testing.T) {
			suite{in.draft, filepath.Join(in.folder, in.name), filepath.Join(in.folder, "remotes"), in.atLeast}.run(t)
		})
	}
}

// TestNewestSuite runs a checkout of the official suite.
func TestNewestSuite(t *testing.T) {
	folder := os.Getenv("JSON_SCHEMA_TEST_SUITE")
	if folder == "" {
		t.Skip("JSON_SCHEMA_TEST_SUITE is not set to a checkout of the suite")
	}
	for name, draft := range map[string]engine.Draft{
		"draft4": engine.Draft4, "draft6": engine.Draft6, "draft7": engine.Draft7,
		"draft2019-09": engine.Draft2019, "draft2020-12": engine.Draft2020,
	} {
		t.Run(name, func(t *testing.T) {
			suite{draft, filepath.Join(folder, "tests", name), filepath.Join(folder, "remotes"), 600}.run(t)
		})
	}
}
