package cli_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"mcptest/internal/base/testkit"
)

// The CI files for MCP-AQL adapters are run like the others: step by step, in an empty
// directory. The generator and the program that starts its adapter are scripts here; the
// adapter is the demo adapter, with a defect if one is named.

// adapterMachine returns an empty directory, and the environment of a machine on which the
// generator of the CI files is installed.
func adapterMachine(t *testing.T, defect string) (*machine, []string) {
	t.Helper()
	m := &machine{t, t.TempDir()}
	source, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	for name, script := range map[string]string{
		"mcpaql-generate": `test "$*" = "--schema adapter.yaml --target typescript --output ./adapter"
mkdir -p adapter/dist
echo "exec mcpaql-conformance demo-adapter ` + defect + `" > adapter/dist/server.js`,
		"node": `exec sh "$@"`,
	} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh -e\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return m, []string{"MCPTEST_SOURCE=" + source, "PATH=" + bin + string(filepath.ListSeparator) + os.Getenv("PATH")}
}

// variables returns the entries of a map as an environment, except for those in env.
func (n node) variables(env []string) []string {
	var out []string
	for name := range n.v.(map[string]any) {
		if name != "MCPTEST_SOURCE" {
			out = append(out, name+"="+n.at(name).text())
		}
	}
	return append(out, env...)
}

// adapters are the generated adapters with which the CI files are tested: the option of the
// demo adapter, and the exit code of the step that tests it.
var adapters = map[string]int{"": 0, "--defect create-drops": 1, "--defect tool-hints": 2, "--defect": 3}

func TestGitHubWorkflowForAdapters(t *testing.T) {
	t.Parallel()
	w := ciFile(t, "mcpaql-github.yml")[0]
	job := w.at("jobs", "conformance")
	steps := map[string]string{}
	var upload node
	for _, s := range job.at("steps").list() {
		if s.has("uses") {
			if !regexp.MustCompile(`^[a-z]+/[a-z-]+@v\d+$`).MatchString(s.at("uses").text()) {
				t.Errorf("uses %q", s.at("uses").text())
			}
			upload = s
			continue
		}
		steps[s.at("name").text()] = s.at("run").text()
	}
	for adapter, want := range adapters {
		t.Run(adapter, func(t *testing.T) {
			t.Parallel()
			m, env := adapterMachine(t, adapter)
			path := filepath.Join(t.TempDir(), "path")
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			env = append(w.at("env").variables(env), "GITHUB_PATH="+path)
			step := func(name string) (int, string) {
				return m.sh(`PATH="$(cat "$GITHUB_PATH"):$PATH"`+"\n"+steps[name], env...)
			}
			setup := []string{"Build mcpaql-conformance", "Generate the adapter"}
			if adapter != "" || !testkit.Deep() {
				setup = setup[1:] // one build is enough; the program is in the PATH anyway
			}
			for _, name := range setup {
				if code, out := step(name); code != 0 {
					t.Fatalf("%s: exit code %d\n%s", name, code, out)
				}
			}
			if code, out := step("Test the adapter"); code != want {
				t.Fatalf("exit code %d, want %d\n%s", code, want, out)
			}
			if want == 3 {
				return // there is no report, and the workflow leaves its step out
			}
			code, out := step("Report")
			if code != 0 || strings.Contains(out, "::error") != (want == 1) {
				t.Errorf("exit code %d\n%s", code, out)
			}
			m.files(strings.Fields(upload.at("with", "path").text())...)
		})
	}
}

func TestGitLabFileForAdapters(t *testing.T) {
	t.Parallel()
	w := ciFile(t, "mcpaql-gitlab.yml")[0]
	build, job := w.at("mcpaql-conformance"), w.at("conformance")
	script := func(n node) string { return strings.Join(n.texts(), "\n") }
	for adapter, want := range adapters {
		t.Run(adapter, func(t *testing.T) {
			t.Parallel()
			m, env := adapterMachine(t, adapter)
			env = w.at("variables").variables(env)
			if adapter == "" && testkit.Deep() {
				if code, out := m.sh(script(build.at("script")), append(env, "CGO_ENABLED=0")...); code != 0 {
					t.Fatalf("exit code %d\n%s", code, out)
				}
				m.files(filepath.Join(build.at("artifacts", "paths", 0).text(), "mcpaql-conformance"))
			} else if code, out := m.sh(`mkdir bin; ln -s "$(command -v mcpaql-conformance)" bin/`, env...); code != 0 {
				t.Fatal(out)
			}
			if code, out := m.sh(script(job.at("script")), env...); code != want {
				t.Fatalf("exit code %d, want %d\n%s", code, want, out)
			}
			if want == 3 {
				return
			}
			if code, out := m.sh(script(job.at("after_script")), env...); code != 0 {
				t.Errorf("exit code %d\n%s", code, out)
			}
			m.files(job.at("artifacts", "paths").texts()...)
			m.files(job.at("artifacts", "reports", "junit").text())
		})
	}
}

// The recipe of the guide does the same manually.
func TestRecipeForGeneratedAdapters(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("../../docs/guides/mcpaql.md")
	if err != nil {
		t.Fatal(err)
	}
	recipe := regexp.MustCompile("(?s)<!-- recipe: generated adapter -->\n[^\n]*\n```sh\n(.*?)```").FindSubmatch(guide)
	if recipe == nil {
		t.Fatal("the guide has no recipe")
	}
	for adapter, want := range adapters {
		m, env := adapterMachine(t, adapter)
		if code, out := m.sh(string(recipe[1]), env...); code != want {
			t.Errorf("%q: exit code %d, want %d\n%s", adapter, code, want, out)
		} else if want == 0 {
			m.files("adapter/conformance/reference.json", "results.json", "badge.svg")
		}
	}
}
