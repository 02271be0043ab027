package cli_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"
)

// The CI systems of the files in examples/ci are not available here. The test does what
// each of them would do: it reads the relevant parts of the file and runs the commands with
// suites in a directory called tests.

// node is a YAML document: maps, lists and scalars.
type node struct {
	t *testing.T
	v any
}

// ciFile reads the documents of a file in examples/ci.
func ciFile(t *testing.T, name string) []node {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../examples/ci", name))
	if err != nil {
		t.Fatal(err)
	}
	var out []node
	for dec := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var v any
		switch err := dec.Decode(&v); {
		case errors.Is(err, io.EOF):
			return out
		case err != nil:
			t.Fatal(err)
		}
		out = append(out, node{t, v})
	}
}

// at follows keys and indexes; it fails the test if one is missing.
func (n node) at(path ...any) node {
	n.t.Helper()
	for i, p := range path {
		var next any
		switch v := n.v.(type) {
		case map[string]any:
			next = v[p.(string)]
		case map[any]any:
			next = v[p]
		case []any:
			if k, ok := p.(int); ok && k < len(v) {
				next = v[k]
			}
		}
		if next == nil {
			n.t.Fatalf("nothing at %v", path[:i+1])
		}
		n = node{n.t, next}
	}
	return n
}

func (n node) list() []node {
	n.t.Helper()
	l, ok := n.v.([]any)
	if !ok {
		n.t.Fatalf("no list: %v", n.v)
	}
	var out []node
	for _, v := range l {
		out = append(out, node{n.t, v})
	}
	return out
}

func (n node) text() string {
	switch v := n.v.(type) {
	case string:
		return v
	case int:
		return strconv.Itoa(v)
	}
	n.t.Fatalf("no text: %v", n.v)
	return ""
}

// has reports whether a map has a key.
func (n node) has(key string) bool {
	m, ok := n.v.(map[string]any)
	return ok && m[key] != nil
}

func (n node) texts() []string {
	var out []string
	for _, e := range n.list() {
		out = append(out, e.text())
	}
	return out
}

// machine is a directory in which CI commands are run, with a suite of five tests of which
// one fails.
type machine struct {
	t   *testing.T
	dir string
}

func newMachine(t *testing.T) *machine {
	m := &machine{t, t.TempDir()}
	if err := os.Mkdir(filepath.Join(m.dir, "tests"), 0o700); err != nil {
		t.Fatal(err)
	}
	suite := "servers: {m: {command: [mcptest, mock, --preset, echo]}}\ntools:\n"
	for i := range 5 {
		suite += "  - {name: test " + strconv.Itoa(i) + ", tool: echo, args: {message: '" + strconv.Itoa(i) + "'}, expect: [{target: text, matcher: {not: {exact: '3'}}}]}\n"
	}
	if err := os.WriteFile(filepath.Join(m.dir, "tests", "mcptest.yaml"), []byte(suite), 0o600); err != nil {
		t.Fatal(err)
	}
	return m
}

// sh runs a script like the CI systems, and returns its exit code.
func (m *machine) sh(script string, env ...string) (int, string) {
	m.t.Helper()
	cmd := exec.Command("sh", "-ec", script)
	cmd.Dir = m.dir
	cmd.Env = append(os.Environ(), append([]string{"CI=true", "NO_COLOR=1", "GITHUB_STEP_SUMMARY=" + filepath.Join(m.dir, "summary.md")}, env...)...)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		m.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// files fails the test unless every file exists and is not empty.
func (m *machine) files(names ...string) {
	m.t.Helper()
	for _, n := range names {
		if info, err := os.Stat(filepath.Join(m.dir, n)); err != nil || info.Size() == 0 {
			m.t.Errorf("%s is not there: %v", n, err)
		}
	}
}

func TestGitHubWorkflow(t *testing.T) {
	t.Parallel()
	w := ciFile(t, "github.yml")[0]
	jobs := w.at("jobs")
	for name := range jobs.v.(map[string]any) {
		job := jobs.at(name)
		job.at("runs-on")
		if job.has("needs") {
			jobs.at(job.at("needs").text())
		}
		for _, step := range job.at("steps").list() {
			switch {
			case step.has("uses"):
				if !regexp.MustCompile(`^[a-z-]+/[a-z-]+(/[a-z]+)?@v\d+$`).MatchString(step.at("uses").text()) {
					t.Errorf("job %s uses %q", name, step.at("uses").text())
				}
			case !step.has("run"):
				t.Errorf("job %s has a step that does nothing: %v", name, step.v)
			}
		}
	}
	step := func(job, name string) node {
		for _, s := range jobs.at(job, "steps").list() {
			if s.has("name") && s.at("name").text() == name || s.has("with") && s.at("with").has("name") && s.at("with", "name").text() == name {
				return s
			}
		}
		t.Fatalf("job %s has no step %s", job, name)
		return node{}
	}
	if jobs.at("shard", "needs").text() != "times" || jobs.at("report", "needs").text() != "shard" || jobs.at("report", "if").text() != "${{ !cancelled() }}" {
		t.Error("the jobs don't wait for each other")
	}
	m := newMachine(t)
	shards := jobs.at("shard", "strategy", "matrix", "shard").texts()
	failed := 0
	for _, shard := range shards {
		fill := strings.NewReplacer("${{ matrix.shard }}", shard, "${{ strategy.job-total }}", strconv.Itoa(len(shards))).Replace
		code, out := m.sh(fill(step("shard", "Test").at("run").text()))
		if code > 1 {
			t.Fatalf("shard %s: exit code %d\n%s", shard, code, out)
		}
		failed += code
		m.files(fill(step("shard", "shard-${{ matrix.shard }}").at("with", "path").text()))
	}
	if failed != 1 {
		t.Errorf("%d shards failed, want the one with the test that fails", failed)
	}
	code, out := m.sh(step("report", "Put together").at("run").text())
	if code != 1 || !strings.Contains(out, "::error file=tests/mcptest.yaml") {
		t.Errorf("exit code %d, want 1, and an annotation\n%s", code, out)
	}
	m.files(strings.Fields(step("report", "report").at("with", "path").text())...)
	m.files("summary.md", "tests/.mcptest/durations.json")
	for _, s := range jobs.at("report", "steps").list() {
		if s.has("uses") && strings.HasPrefix(s.at("uses").text(), "actions/cache/save") && s.at("with", "path").text() != "tests/.mcptest" {
			t.Error("the times are not what is kept")
		}
	}
}

func TestGitLabFile(t *testing.T) {
	t.Parallel()
	w := ciFile(t, "gitlab.yml")[0]
	stages := w.at("stages").texts()
	jobs := []string{"times", "mcptest", "mcptest-report"}
	for i, job := range jobs {
		if at := slices.Index(stages, w.at(job, "stage").text()); at != i {
			t.Errorf("job %s is in stage %d", job, at)
		}
	}
	m := newMachine(t)
	script := func(job string) string { return strings.Join(w.at(job, "script").texts(), "\n") }
	if code, out := m.sh(script("times")); code != 0 {
		t.Fatalf("exit code %d\n%s", code, out)
	}
	n, _ := strconv.Atoi(w.at("mcptest", "parallel").text())
	if n < 2 {
		t.Fatalf("parallel: %d", n)
	}
	for i := 1; i <= n; i++ {
		index, total := strconv.Itoa(i), strconv.Itoa(n)
		code, out := m.sh(script("mcptest"), "CI_NODE_INDEX="+index, "CI_NODE_TOTAL="+total, "CI_JOB_NAME=mcptest "+index+"/"+total)
		allowed := w.at("mcptest", "allow_failure", "exit_codes").texts()
		if code != 0 && !slices.Contains(allowed, strconv.Itoa(code)) || !strings.Contains(out, "shard "+index+" of "+total) {
			t.Fatalf("shard %d: exit code %d\n%s", i, code, out)
		}
	}
	for _, pattern := range w.at("mcptest", "artifacts", "paths").texts() {
		if found, _ := filepath.Glob(filepath.Join(m.dir, pattern)); len(found) != n {
			t.Errorf("%s: %v", pattern, found)
		}
	}
	report := w.at("mcptest-report")
	if code, out := m.sh(script("mcptest-report")); code != 1 || !strings.Contains(out, "4 passed, 1 failed of 5 tests") {
		t.Errorf("exit code %d, want 1\n%s", code, out)
	}
	if report.at("when").text() != "always" || report.at("artifacts", "when").text() != "always" {
		t.Error("the report is not made when tests fail")
	}
	m.files(report.at("artifacts", "paths").texts()...)
	m.files(report.at("artifacts", "reports", "junit").text(), report.at("artifacts", "reports", "codequality").text())
	m.files(report.at("cache", "paths").texts()...)
	if report.at("cache", "key").text() != w.at("times", "cache", "key").text() {
		t.Error("the times are kept under another key than they are looked for")
	}
}

// kubernetes reads the documents of a file, and checks what all have in common.
func kubernetes(t *testing.T, name string) []node {
	t.Helper()
	docs := ciFile(t, name)
	kinds := map[string]string{"PersistentVolumeClaim": "v1", "Job": "batch/v1"}
	for _, d := range docs {
		if kinds[d.at("kind").text()] != d.at("apiVersion").text() {
			t.Errorf("%s of %s", d.at("kind").text(), d.at("apiVersion").text())
		}
		if d.at("kind").text() != "Job" {
			continue
		}
		pod := d.at("spec", "template", "spec")
		if pod.at("restartPolicy").text() != "Never" {
			t.Error("tests would be run again and again")
		}
		var volumes []string
		for _, v := range pod.at("volumes").list() {
			volumes = append(volumes, v.at("name").text())
		}
		for _, v := range pod.at("containers", 0, "volumeMounts").list() {
			if !slices.Contains(volumes, v.at("name").text()) {
				t.Errorf("no volume is called %s", v.at("name").text())
			}
		}
	}
	return docs
}

func TestKubernetesJob(t *testing.T) {
	t.Parallel()
	docs := kubernetes(t, "kubernetes.yaml")
	job, report := docs[1].at("spec"), docs[2].at("spec")
	if job.at("completionMode").text() != "Indexed" {
		t.Error("the Job is not Indexed")
	}
	n, _ := strconv.Atoi(job.at("completions").text())
	container := job.at("template", "spec", "containers", 0)
	env := map[string]string{}
	for _, e := range container.at("env").list() {
		if e.has("value") {
			env[e.at("name").text()] = e.at("value").text()
		}
	}
	if env["MCPTEST_SHARD_TOTAL"] != strconv.Itoa(n) || job.at("maxFailedIndexes").text() != strconv.Itoa(n) {
		t.Errorf("%d completions, %v", n, env)
	}
	m := newMachine(t)
	if err := os.Mkdir(filepath.Join(m.dir, "records"), 0o700); err != nil {
		t.Fatal(err)
	}
	// line is the command of a container, with directories of this machine as its mounts.
	line := func(c node, index string) string {
		words := append(c.at("command").texts(), c.at("args").texts()...)
		return strings.NewReplacer("/suites", "tests", "/records", "records", "$(SHARD)", index).Replace(strings.Join(words, " "))
	}
	for i := range n {
		index := strconv.Itoa(i)
		code, out := m.sh(line(container, index), "MCPTEST_SHARD_TOTAL="+env["MCPTEST_SHARD_TOTAL"], "JOB_COMPLETION_INDEX="+index)
		if code > 1 || !strings.Contains(out, "shard "+strconv.Itoa(i+1)+" of "+strconv.Itoa(n)) {
			t.Fatalf("index %d: exit code %d\n%s", i, code, out)
		}
	}
	if code, out := m.sh(line(report.at("template", "spec", "containers", 0), "")); code != 1 || !strings.Contains(out, "4 passed, 1 failed of 5 tests") {
		t.Errorf("exit code %d, want 1\n%s", code, out)
	}
	m.files("records/junit.xml", "records/report.html")
}

// Four processes on this machine stand for the pods of the Job. They need a start that is
// late enough for all of them, which depends on how busy the machine is.
func TestKubernetesLoad(t *testing.T) {
	t.Parallel()
	docs := kubernetes(t, "kubernetes-load.yaml")
	job, report := docs[1].at("spec"), docs[2].at("spec")
	n, _ := strconv.Atoi(job.at("completions").text())
	if job.at("completionMode").text() != "Indexed" || job.at("parallelism").text() != strconv.Itoa(n) {
		t.Error("the shards do not run side by side")
	}
	container := job.at("template", "spec", "containers", 0)
	env := map[string]string{}
	for _, e := range container.at("env").list() {
		if e.has("value") {
			env[e.at("name").text()] = e.at("value").text()
		}
	}
	if env["MCPTEST_SHARD_TOTAL"] != strconv.Itoa(n) || env["MCPTEST_START_AT"] != "@START@" {
		t.Errorf("%d completions, %v", n, env)
	}
	m := newMachine(t)
	tools := "tools: [{name: search, annotations: {readOnlyHint: true}, inputSchema: {type: object}, respond: {text: found}}]\n"
	if err := os.WriteFile(filepath.Join(m.dir, "tools.yaml"), []byte(tools), 0o600); err != nil {
		t.Fatal(err)
	}
	// line is the command of a container, for this machine: its server, its folder, and a load that it bears.
	line := func(c node, index string) string {
		words := append(c.at("command").texts(), c.at("args").texts()...)
		for i := range words {
			words[i] = "'" + strings.NewReplacer("http://server.default.svc:3001/mcp", "$URL", "=2000/s", "=40/s", "=1m", "=1s", "/reports", m.dir, "$(SHARD)", index).Replace(words[i]) + "'"
		}
		return strings.ReplaceAll(strings.Join(words, " "), "'--url=$URL'", `--url="$URL"`)
	}
	code, out := 0, ""
	for wait := 4 * time.Second; wait < 2*time.Minute; wait *= 2 {
		script := "cd " + m.dir + "\npids=\n"
		for i := range n {
			index := strconv.Itoa(i)
			script += "MCPTEST_SHARD_TOTAL=" + env["MCPTEST_SHARD_TOTAL"] + " JOB_COMPLETION_INDEX=" + index + " " + line(container, index) + " --warm-up=0s & pids=\"$pids $!\"\n"
		}
		script += "for p in $pids; do wait $p; done\n"
		start := time.Now().Add(wait).UTC().Format(time.RFC3339)
		code, out = m.sh("serving mcptest mock --tools-from tools.yaml --http 127.0.0.1:0 -- sh -ec '"+strings.ReplaceAll(script, "'", `'\''`)+"'", "MCPTEST_START_AT="+start)
		if !strings.Contains(out, " ago; all shards need time to start") {
			break
		}
	}
	if code != 0 || !strings.Contains(out, "shard 4 of 4, from JOB_COMPLETION_INDEX and MCPTEST_SHARD_TOTAL") {
		t.Fatalf("exit code %d\n%s", code, out)
	}
	// The machine may be too busy for the budget, but the calls are those of one load.
	merge := strings.ReplaceAll(line(report.at("template", "spec", "containers", 0), ""), "p99=250ms,errors=0.1%", "p50=1h,errors=99%")
	if code, out := m.sh(merge); code != 0 && code != 6 || !strings.Contains(out, "search: 40 calls, ") || !strings.Contains(out, "40 calls/s for 1s, 10 sessions") {
		t.Errorf("exit code %d\n%s", code, out)
	}
}
