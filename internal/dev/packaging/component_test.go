package main

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

// The component of GitLab: inputs are replaced in the text, then the scripts of
// the job run in one shell. A job that fails has its reports too.
func TestComponentRuns(t *testing.T) {
	slowTest(t)
	program, err := compile(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	path, err := filepath.Abs(program.path)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		inputs map[string]string
		want   int
	}{
		{map[string]string{"suite": "tests", "args": "--filter answers", "job": "mcp"}, 0},
		{map[string]string{"suite": "'my tests' tests", "job": "mcp"}, 1},
	} {
		job := componentJobs(t, test.inputs)["mcp"]
		work, bin := t.TempDir(), t.TempDir()
		put(t, filepath.Join(work, "tests", "mcptest.yaml"), suiteWithFailure)
		put(t, filepath.Join(work, "my tests", "mcptest.yaml"), suiteWithFailure)
		put(t, filepath.Join(bin, "npm"), `#!/bin/sh
[ "$*" = "install --global --prefix $CI_PROJECT_DIR/.mcptest/npm --no-audit --no-fund mcptest@latest" ] || exit 9
mkdir -p "$CI_PROJECT_DIR/.mcptest/npm/bin"
ln -s "$PROGRAM" "$CI_PROJECT_DIR/.mcptest/npm/bin/mcptest"
`)
		if err := os.Chmod(filepath.Join(bin, "npm"), 0o755); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("sh", "-ec", strings.Join(append(job.Before, job.Script...), "\n"))
		cmd.Dir = work
		cmd.Env = append(os.Environ(), "CI=true", "CI_PROJECT_DIR="+work, "PROGRAM="+path, "PATH="+bin+":"+os.Getenv("PATH"))
		if text, err := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != test.want {
			t.Fatalf("%v, expected exit code %d\n%s", err, test.want, text)
		}
		for _, name := range job.Artifacts.Reports {
			job.Artifacts.Paths = append(job.Artifacts.Paths, name)
		}
		if len(job.Artifacts.Paths) != 4 || job.Artifacts.When != "always" {
			t.Errorf("artifacts %+v", job.Artifacts)
		}
		for _, name := range job.Artifacts.Paths {
			if info, err := os.Stat(filepath.Join(work, name)); err != nil || info.Size() == 0 {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// gitlabJob is the part of a job that a runner executes.
type gitlabJob struct {
	Before    []string `yaml:"before_script"`
	Script    []string
	Artifacts struct {
		When    string
		Paths   []string
		Reports map[string]string
	}
}

// componentJobs are the jobs of the component with these inputs and the defaults
// of the others.
func componentJobs(t *testing.T, inputs map[string]string) (jobs map[string]gitlabJob) {
	t.Helper()
	text, err := os.ReadFile("templates/mcptest.yml")
	if err != nil {
		t.Fatal(err)
	}
	header, body, found := strings.Cut(string(text), "\n---\n")
	var spec struct {
		Spec struct {
			Inputs map[string]struct{ Default string }
		}
	}
	if err := yaml.Unmarshal([]byte(header), &spec); err != nil || !found {
		t.Fatal(err)
	}
	values := map[string]string{}
	for name, input := range spec.Spec.Inputs {
		values[name] = input.Default
	}
	maps.Copy(values, inputs)
	used := map[string]bool{}
	body = regexp.MustCompile(`\$\[\[ inputs\.([a-z]+) \]\]`).ReplaceAllStringFunc(body, func(m string) string {
		name := strings.TrimSuffix(strings.TrimPrefix(m, "$[[ inputs."), " ]]")
		if _, ok := values[name]; !ok {
			t.Errorf("there is no input %s", name)
		}
		used[name] = true
		return values[name]
	})
	if len(used) != len(values) {
		t.Errorf("the job uses the inputs %v of %v", used, values)
	}
	if err := yaml.Unmarshal([]byte(body), &jobs); err != nil {
		t.Fatal(err)
	}
	return jobs
}
