package cli_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"mcptest/internal/base/testkit"
)

// exitLine states in an example the exit code of its run.
var exitLine = regexp.MustCompile(`(?m)^# exit: (\d+)$`)

// record is what the examples test reads of the JSON report.
type record struct {
	Tests []struct {
		Name    string
		Status  string
		Message string
		Score   *float64
		Metrics []struct {
			Name  string
			Value float64
		} `json:"derived_metrics"`
	}
}

// runExample runs a suite as a user would and returns the record and the exit code.
func runExample(t *testing.T, dir, file string, env ...string) (record, int, []byte) {
	t.Helper()
	cmd := exec.Command("mcptest", "run", "--reporter", "json", file)
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), "CI=", "NO_COLOR=1", "TMPDIR="+t.TempDir()), env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("run: %v", err)
	}
	all := append(bytes.Clone(out.Bytes()), errs.Bytes()...)
	var r record
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatalf("the report is not JSON: %v\n%s", err, all)
	}
	return r, cmd.ProcessState.ExitCode(), all
}

func TestExamples(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(root, "*.yml"))
	if err != nil {
		t.Fatal(err)
	}
	real, err := filepath.Glob(filepath.Join(root, "real", "*.yml"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 10 || len(real) < 3 {
		t.Fatalf("found only %d and %d examples", len(files), len(real))
	}
	for _, file := range append(files, real...) {
		name, _ := filepath.Rel(root, file)
		if strings.Contains(name, "upstream-") && filepath.Base(name) != "upstream-notion.yml" && !testkit.Deep() {
			continue // three servers that start slowly
		}
		t.Run(filepath.ToSlash(name), func(t *testing.T) {
			t.Parallel()
			if filepath.Dir(file) != root {
				needServers(t)
			}
			if strings.HasPrefix(filepath.Base(file), "upstream-") {
				needUpstreams(t)
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			m := exitLine.FindSubmatch(text)
			if m == nil {
				t.Fatal("the example has no line such as: # exit: 0")
			}
			want, _ := strconv.Atoi(string(m[1]))
			r, got, out := runExample(t, filepath.Dir(file), filepath.Base(file))
			if got != want {
				t.Fatalf("exit code %d, the example says %d\n%s", got, want, out)
			}
			if bytes.Contains(out, []byte("set invalid_args")) {
				t.Errorf("a name or an argument is wrong on purpose without saying so\n%s", out)
			}
			if len(r.Tests) == 0 {
				t.Errorf("no test ran\n%s", out)
			}
		})
	}
}

// needServers skips a test whose servers are not installed, unless they are required.
func needServers(t *testing.T) {
	t.Helper()
	needInstalled(t, "../../testdata/servers/node_modules/@modelcontextprotocol")
}

// needUpstreams is needServers for the servers that wrap an API.
func needUpstreams(t *testing.T) {
	t.Helper()
	needInstalled(t, "../../testdata/upstreams/node_modules/@upstash")
}

func needInstalled(t *testing.T, folder string) {
	t.Helper()
	_, err := os.Stat(folder)
	if err == nil {
		_, err = exec.LookPath("node")
	}
	switch {
	case err == nil:
	case os.Getenv("MCPTEST_REQUIRE_SERVERS") != "":
		t.Fatalf("the npm test servers are not installed (make servers): %v", err)
	default:
		t.Skipf("the npm test servers are not installed (make servers): %v", err)
	}
}

// The composition examples must print these numbers; the exit code alone does not prove
// them.
func TestCompositionExampleOutput(t *testing.T) {
	t.Parallel()
	type want struct {
		status  string
		score   float64 // -1: none is reported
		metrics map[string]float64
	}
	for file, tests := range map[string][]want{
		"composition-weight.yml":          {{"pass", 0.75, nil}},
		"composition-assert-set.yml":      {{"pass", -1, nil}},
		"composition-threshold.yml":       {{"pass", 0.75, nil}},
		"composition-default-test.yml":    {{"pass", 1, nil}, {"pass", 0.5, nil}},
		"composition-derived-metrics.yml": {{"fail", 0.5, map[string]float64{"quality": 2.0 / 3}}},
		"suite-composition.yml": {
			{"pass", 1, nil},
			{"pass", 5.0 / 6, map[string]float64{"quality": 0.9}},
			{"pass", 1, map[string]float64{"completeness": 0.75, "quality": 0.875, "points": 5.625}},
			{"pass", -1, nil},
		},
	} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			r, _, out := runExample(t, "../../examples", file)
			if len(r.Tests) != len(tests) {
				t.Fatalf("%d tests ran, want %d\n%s", len(r.Tests), len(tests), out)
			}
			for i, w := range tests {
				g := r.Tests[i]
				if g.Status != w.status {
					t.Errorf("%s: %s, want %s", g.Name, g.Status, w.status)
				}
				if (g.Score != nil) != (w.score >= 0) || g.Score != nil && math.Abs(*g.Score-w.score) > 1e-9 {
					t.Errorf("%s: score %v, want %v", g.Name, g.Score, w.score)
				}
				if len(g.Metrics) != len(w.metrics) {
					t.Errorf("%s: %d metrics, want %d", g.Name, len(g.Metrics), len(w.metrics))
				}
				for _, m := range g.Metrics {
					if math.Abs(m.Value-w.metrics[m.Name]) > 1e-9 {
						t.Errorf("%s: metric %s is %v, want %v", g.Name, m.Name, m.Value, w.metrics[m.Name])
					}
				}
			}
		})
	}
}
