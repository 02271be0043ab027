package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

// action is the part of action.yml that a runner executes.
type action struct {
	Inputs map[string]struct {
		Default string
	}
	Runs struct{ Steps []step }
}

type step struct {
	ID, Name, If, Run, Uses, Shell string
	Env, With                      map[string]string
	Dir                            string `yaml:"working-directory"`
}

// runner executes the steps of the action as GitHub's runner does: one bash
// per step, with the files through which steps talk to the runner.
type runner struct {
	t      *testing.T
	work   string            // the repository that uses the action
	values map[string]string // of expressions: inputs.suite, steps.run.outputs.exit-code
	env    map[string]string
	used   map[string]map[string]string // actions that a step used, with their inputs
	log    bytes.Buffer
}

const suiteWithFailure = `servers:
  echo: {command: [mcptest, mock, --preset, echo]}
tools:
  - name: answers
    tool: echo
    args: {message: hello}
    expect: [{target: text, matcher: {contains: hello}}]
  - name: fails
    tool: echo
    args: {message: hello}
    expect: [{target: text, matcher: {contains: farewell}}]
`

func newRunner(t *testing.T, inputs map[string]string) *runner {
	t.Helper()
	root := slowTest(t)
	temp := t.TempDir()
	r := &runner{
		t: t, work: t.TempDir(), values: map[string]string{"github.token": "t0ken"}, used: map[string]map[string]string{},
		env: map[string]string{
			"GITHUB_ACTION_PATH": root, "RUNNER_TEMP": filepath.Join(temp, "runner temp"), "GITHUB_PATH": filepath.Join(temp, "path"),
			"GITHUB_STEP_SUMMARY": filepath.Join(temp, "summary"), "GITHUB_REPOSITORY": "ada/weather", "GITHUB_WORKFLOW": "test",
			"GITHUB_JOB": "mcp", "CI": "true", "GOFLAGS": "-buildvcs=false",
		},
	}
	r.env["GITHUB_WORKSPACE"] = r.work
	put(t, filepath.Join(r.work, "mcptest.yaml"), suiteWithFailure)
	for name, value := range inputs {
		r.values["inputs."+name] = value
	}
	return r
}

func (r *runner) steps() []step {
	r.t.Helper()
	text, err := os.ReadFile("action.yml")
	if err != nil {
		r.t.Fatal(err)
	}
	var a action
	if err := yaml.Unmarshal(text, &a); err != nil {
		r.t.Fatal(err)
	}
	for name, input := range a.Inputs {
		if _, ok := r.values["inputs."+name]; !ok {
			r.values["inputs."+name] = r.fill(input.Default)
		}
	}
	return a.Runs.Steps
}

// run executes all steps and returns the exit code of the one that failed.
func (r *runner) run() int {
	r.t.Helper()
	for _, s := range r.steps() {
		if !r.holds(s.If) {
			continue
		}
		if s.Uses != "" {
			with := map[string]string{}
			for name, value := range s.With {
				with[name] = r.fill(value)
			}
			r.used[s.Uses] = with
			continue
		}
		if code := r.script(s); code != 0 {
			return code
		}
	}
	return 0
}

func (r *runner) script(s step) int {
	r.t.Helper()
	if s.Shell != "bash" {
		r.t.Fatalf("step %s: shell %q", s.Name, s.Shell)
	}
	output := filepath.Join(r.t.TempDir(), "output")
	cmd := exec.Command("bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", s.Run)
	cmd.Dir = filepath.Join(r.work, r.fill(s.Dir))
	cmd.Env = append(os.Environ(), "GITHUB_OUTPUT="+output)
	for name, value := range r.env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	for name, value := range s.Env {
		cmd.Env = append(cmd.Env, name+"="+r.fill(value))
	}
	path := os.Getenv("PATH")
	for _, dir := range lines(r.t, r.env["GITHUB_PATH"]) {
		path = dir + ":" + path
	}
	cmd.Env = append(cmd.Env, "PATH="+path)
	cmd.Stdout, cmd.Stderr = &r.log, &r.log
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		r.t.Fatal(err)
	}
	for _, line := range lines(r.t, output) {
		name, value, _ := strings.Cut(line, "=")
		r.values["steps."+s.ID+".outputs."+name] = value
	}
	return cmd.ProcessState.ExitCode()
}

var expression = regexp.MustCompile(`\$\{\{ ([a-z0-9_.-]+) \}\}`)

func (r *runner) fill(text string) string {
	return expression.ReplaceAllStringFunc(text, func(m string) string { return r.values[expression.FindStringSubmatch(m)[1]] })
}

// holds evaluates the condition of a step: comparisons joined by &&.
func (r *runner) holds(condition string) bool {
	for term := range strings.SplitSeq(condition, " && ") {
		ok := true
		if name, want, found := strings.Cut(term, " == "); found {
			ok = r.values[name] == strings.Trim(want, "'")
		} else if name, want, found := strings.Cut(term, " != "); found {
			ok = r.values[name] != strings.Trim(want, "'")
		} else if term != "" {
			ok = r.values[term] != ""
		}
		if !ok {
			return false
		}
	}
	return true
}

func lines(t *testing.T, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

// comments is GitHub's interface for the comments of one pull request, with
// more of them than fit on a page.
type comments struct {
	bodies  map[int]string
	refuses bool
	calls   []string
}

func (c *comments) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	c.calls = append(c.calls, q.Method)
	if c.refuses || q.Header.Get("Authorization") != "Bearer t0ken" {
		http.Error(w, `{"message": "Resource not accessible by integration"}`, http.StatusForbidden)
		return
	}
	if q.Method == http.MethodGet && q.URL.Path == "/repos/ada/weather/issues/7/comments" {
		type comment struct {
			ID   int    `json:"id"`
			Body string `json:"body"`
		}
		page := []comment{}
		from := 0
		if q.FormValue("page") == "2" {
			from = 100
		}
		for id := from + 1; id <= min(from+100, len(c.bodies)); id++ {
			page = append(page, comment{id, c.bodies[id]})
		}
		_ = json.NewEncoder(w).Encode(page)
		return
	}
	var in struct{ Body string }
	if err := json.NewDecoder(q.Body).Decode(&in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	id := len(c.bodies) + 1
	if q.Method == http.MethodPatch {
		if _, err := fmt.Sscanf(q.URL.Path, "/repos/ada/weather/issues/comments/%d", &id); err != nil {
			http.NotFound(w, q)
			return
		}
	}
	c.bodies[id] = in.Body
}

func TestActionReports(t *testing.T) {
	r := newRunner(t, map[string]string{
		"suite": "mcptest.yaml", "coverage": "true", "sarif": "true", "comment": "true", "reporters": "junit=junit.xml\ntap=out.tap",
		"args": "--skip-tag 'not this'", "diff": "'old list.json' -- mcptest mock --preset echo",
	})
	put(t, filepath.Join(r.work, "old list.json"), `{"tools": [{"name": "gone", "inputSchema": {"type": "object"}}]}`)
	api := &comments{bodies: map[int]string{}}
	for id := range 101 {
		api.bodies[id+1] = "looks good"
	}
	server := httptest.NewServer(api)
	defer server.Close()
	r.env["GITHUB_API_URL"] = server.URL
	r.values["github.event.pull_request.number"] = "7"

	for range 2 {
		if code := r.run(); code != 1 {
			t.Fatalf("exit code %d\n%s", code, r.log.String())
		}
	}
	if n := strings.Count(r.log.String(), "::error file=mcptest.yaml,line="); n != 2 {
		t.Errorf("%d annotations in two runs\n%s", n, r.log.String())
	}
	summary, err := os.ReadFile(r.env["GITHUB_STEP_SUMMARY"])
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{string(summary), api.bodies[102]} {
		for _, want := range []string{"fails", "overage", "gone"} {
			if !strings.Contains(text, want) {
				t.Errorf("%q is missing in the summary or the comment:\n%s", want, text)
			}
		}
	}
	if len(api.bodies) != 102 || strings.Join(api.calls, " ") != "GET GET POST GET GET PATCH" {
		t.Errorf("%d comments after the requests %v", len(api.bodies), api.calls)
	}
	for _, path := range []string{
		filepath.Join(r.work, "junit.xml"), filepath.Join(r.work, "out.tap"), r.values["steps.run.outputs.record"],
		r.used["github/codeql-action/upload-sarif@v3"]["sarif_file"],
	} {
		if info, err := os.Stat(path); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// Names with spaces and characters of the shell reach the program as they are,
// what a server prints is no command, and each job of a matrix has a comment.
func TestActionWithOddNames(t *testing.T) {
	r := newRunner(t, map[string]string{
		"suite": "my tests/a $(touch x) 'b'.yaml\n\nother tests\n", "reporters": "junit=my $HOME.xml\n\n", "args": "--skip-tag \"not 'this'\"\n--no-progress",
		"working-directory": "sub folder", "comment": "true",
	})
	work := filepath.Join(r.work, "sub folder")
	put(t, filepath.Join(work, "my tests", "a $(touch x) 'b'.yaml"), suiteWithFailure)
	put(t, filepath.Join(work, "other tests", "mcptest.yaml"), `servers:
  s: {command: [sh, -c, 'printf "\n  ::error file=forged::\n  ::add-mask::PASSED\n" >&2']}
tools:
  - {name: never, tool: echo}
`)
	api := &comments{bodies: map[int]string{}}
	server := httptest.NewServer(api)
	defer server.Close()
	r.env["GITHUB_API_URL"] = server.URL
	r.values["github.event.pull_request.number"] = "7"
	for _, index := range []string{"0", "1", "1"} {
		r.values["strategy.job-index"] = index
		if code := r.run(); code != 1 {
			t.Fatalf("exit code %d\n%s", code, r.log.String())
		}
	}
	if log := r.log.String(); strings.Contains(log, "::error file=forged") || strings.Contains(log, "::add-mask::") || !strings.Contains(log, ":error file=forged") {
		t.Errorf("the runner obeys the server, or the log lacks what it printed:\n%s", log)
	}
	if len(api.bodies) != 2 {
		t.Errorf("%d comments for two jobs", len(api.bodies))
	}
	if _, err := os.Stat(filepath.Join(work, "my $HOME.xml")); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(work, "x")); err == nil {
		t.Error("a name was executed")
	}
}

func TestActionExitCodes(t *testing.T) {
	passing := regexp.MustCompile(`(?s)  - name: fails.*`).ReplaceAllString(suiteWithFailure, "")
	for _, test := range []struct {
		name, suite string
		inputs      map[string]string
		want        int
	}{
		{"passed", passing, nil, 0},
		{"invalid", passing + "mistake: true\n", map[string]string{"sarif": "true", "summary": "false"}, 2},
		{"breaking change", passing, map[string]string{"diff": "old.json -- mcptest mock --preset echo", "annotations": "false"}, 6},
		{"comment refused", passing, map[string]string{"comment": "true"}, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRunner(t, test.inputs)
			put(t, filepath.Join(r.work, "mcptest.yaml"), test.suite)
			put(t, filepath.Join(r.work, "old.json"), `{"tools": [{"name": "gone", "inputSchema": {"type": "object"}}]}`)
			server := httptest.NewServer(&comments{refuses: true})
			defer server.Close()
			r.env["GITHUB_API_URL"] = server.URL
			r.values["github.event.pull_request.number"] = "7"
			if code := r.run(); code != test.want {
				t.Errorf("exit code %d, expected %d\n%s", code, test.want, r.log.String())
			}
			if refused := strings.Contains(r.log.String(), "::warning::the comment could not be written"); refused != (test.name == "comment refused") {
				t.Errorf("warning: %t\n%s", refused, r.log.String())
			}
		})
	}
}

// Where nothing is run, or only the comparison fails, the annotations, the summary and
// the comment say so.
func TestActionShowsOtherFailures(t *testing.T) {
	passing := regexp.MustCompile(`(?s)  - name: fails.*`).ReplaceAllString(suiteWithFailure, "")
	for _, test := range []struct{ suite, diff, log, comment string }{
		{passing + "mistake: true\n", "", "::error file=a & b/mcptest.yaml,line=", "No tests were run (exit code 2)"},
		{passing, "old.json -- mcptest mock --preset echo", "", "mcptest diff ended with exit code 6"},
	} {
		t.Run(test.comment, func(t *testing.T) {
			r := newRunner(t, map[string]string{"comment": "true", "diff": test.diff, "working-directory": "a & b"})
			put(t, filepath.Join(r.work, "a & b", "mcptest.yaml"), test.suite)
			put(t, filepath.Join(r.work, "a & b", "old.json"), `{"tools": [{"name": "gone", "inputSchema": {"type": "object"}}]}`)
			api := &comments{bodies: map[int]string{}}
			server := httptest.NewServer(api)
			defer server.Close()
			r.env["GITHUB_API_URL"] = server.URL
			r.values["github.event.pull_request.number"] = "7"
			r.run()
			summary, err := os.ReadFile(r.env["GITHUB_STEP_SUMMARY"])
			if err != nil || !strings.Contains(r.log.String(), test.log) || !strings.Contains(api.bodies[1], test.comment) {
				t.Errorf("%q or %q is missing (%v)\n%s\n%s", test.log, test.comment, err, r.log.String(), api.bodies[1])
			}
			if test.diff == "" && !strings.Contains(string(summary), "unknown key") {
				t.Errorf("the summary lacks the mistake:\n%s", summary)
			}
		})
	}
}

func TestActionInstallsTheVersionOfItsTag(t *testing.T) {
	for _, test := range []struct {
		path, version, npm string
		want               int
	}{
		{"_actions/ada/mcptest/v1.2.0", "", "mcptest@1.2.0", 0},
		{`D:\_actions\ada\mcptest\v1`, "", "mcptest@1", 0},
		{"_actions/ada/mcptest/main", "latest", "mcptest@latest", 0},
		{"_actions/ada/mcptest/main", "1.3.0-rc.1", "mcptest@1.3.0-rc.1", 0},
		{"_actions/ada/mcptest/v1.2.0", "newest", "", 2},
	} {
		t.Run(test.path+" "+test.version, func(t *testing.T) {
			r := newRunner(t, map[string]string{"version": test.version})
			bin := t.TempDir()
			put(t, filepath.Join(bin, "npm"), "#!/bin/sh\necho npm \"$@\"\n")
			if err := os.Chmod(filepath.Join(bin, "npm"), 0o755); err != nil {
				t.Fatal(err)
			}
			put(t, r.env["GITHUB_PATH"], bin+"\n")
			r.env["GITHUB_ACTION_PATH"] = test.path
			if code := r.script(r.steps()[0]); code != test.want {
				t.Errorf("exit code %d, expected %d\n%s", code, test.want, r.log.String())
			}
			if !strings.Contains(r.log.String(), test.npm) {
				t.Errorf("npm did not install %s\n%s", test.npm, r.log.String())
			}
		})
	}
}
