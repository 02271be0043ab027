package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"mcptest/internal/base/testkit"
)

// fixtureExamples are the examples that need a directory, and what must be installed for
// them.
var fixtureExamples = []struct {
	file  string
	needs []string
	ports []string // variables that name a port
	tests int
	// A program that needs minutes to compile is left to `make deep`; its suite is only
	// validated otherwise.
	compiles bool
}{
	{"hooks-context/sh.yml", []string{"sh"}, nil, 2, false},
	{"hooks-context/node.yml", []string{"node"}, nil, 2, false},
	{"hooks-context/python.yml", []string{"python3"}, nil, 2, false},
	{"fixtures-reset/mcptest.yaml", []string{"node"}, nil, 4, false},
	{"fixtures-stub/mcptest.yaml", []string{"node"}, []string{"STUB_PORT"}, 2, false},
	{"boundary/mcptest.yaml", []string{"node"}, []string{"BOUNDARY_PORT"}, 13, false},
	{"authorization/mcptest.yaml", []string{"node"}, []string{"AUTHZ_PORT"}, 14, false},
	{"fixtures-postgres/mcptest.yaml", []string{"go", "sh"}, []string{"ISSUES_PORT"}, 5, true},
}

// The examples of hooks and fixtures are run as a user would run them. In CI, all their
// requirements must be installed.
func TestFixtureExamples(t *testing.T) {
	t.Parallel()
	ci := os.Getenv("CI") == "true"
	for _, ex := range fixtureExamples {
		t.Run(filepath.Dir(ex.file)+"/"+filepath.Base(ex.file), func(t *testing.T) {
			t.Parallel()
			if ex.compiles && !testkit.Deep() {
				validates(t, ex.file)
				return
			}
			for _, tool := range ex.needs {
				if _, err := exec.LookPath(tool); err != nil {
					if ci {
						t.Fatalf("%s is missing, and this is CI", tool)
					}
					t.Skipf("SKIPPED: %s is not installed, so %s was not run", tool, ex.file)
				}
			}
			var env []string
			if ci && filepath.Dir(ex.file) == "fixtures-postgres" {
				env = append(env, "ISSUES_REQUIRE_POSTGRES=1")
			}
			for _, name := range ex.ports {
				env = append(env, name+"="+strconv.Itoa(testkit.FindFreePort()))
			}
			dir, err := filepath.Abs("../../examples")
			if err != nil {
				t.Fatal(err)
			}
			rec, code, out := runExample(t, dir, ex.file, env...)
			if code != 0 || len(rec.Tests) != ex.tests {
				t.Fatalf("exit %d, %d tests\n%s", code, len(rec.Tests), out)
			}
			for _, c := range rec.Tests {
				if !slices.Contains([]string{"pass", "skip"}, c.Status) {
					t.Errorf("%s: %s", c.Name, c.Status)
				}
				if c.Status == "skip" {
					t.Logf("%s: skipped", c.Name)
				}
			}
		})
	}
}

// The matrix of roles and tools is red if the server forgets one check, and says of whom.
func TestAuthorizationExampleFindsAHole(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("node is needed for the server")
	}
	dir, err := filepath.Abs("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	port := strconv.Itoa(testkit.FindFreePort())
	rec, code, out := runExample(t, dir, "authorization/mcptest.yaml", "AUTHZ_PORT="+port, "HOLE=add_note")
	if code != 1 {
		t.Fatalf("exit %d\n%s", code, out)
	}
	for _, c := range rec.Tests {
		leaks := c.Name == "viewers are refused add_note @notes@viewer"
		if leaks != (c.Status == "fail") {
			t.Errorf("%s: %s", c.Name, c.Status)
		}
	}
}

// The database example runs without PostgreSQL too.
func TestDatabaseExampleOnSQLite(t *testing.T) {
	t.Parallel()
	if !testkit.Deep() {
		t.Skip("only in make deep: it compiles SQLite")
	}
	dir, err := filepath.Abs("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	rec, code, out := runExample(t, dir, "fixtures-postgres/mcptest.yaml", "ISSUES_SQLITE=1", "ISSUES_PORT="+strconv.Itoa(testkit.FindFreePort()))
	if code != 0 || len(rec.Tests) != 5 || rec.Tests[4].Status != "skip" {
		t.Fatalf("exit %d\n%s", code, out)
	}
}

// validates checks the suite of an example without a run.
func validates(t *testing.T, file string) {
	t.Helper()
	cmd := exec.Command("mcptest", "validate", filepath.Join("../../examples", file))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
