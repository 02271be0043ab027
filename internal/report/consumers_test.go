package report_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mcptest/internal/report/render"
	"mcptest/internal/report/result"
)

// consumers is the folder of the readers from npm. Without them the test is
// skipped; with MCPTEST_REQUIRE_SERVERS it fails.
func consumers(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../../testdata/consumers")
	if err != nil {
		t.Fatal(err)
	}
	missing := ""
	if _, err := exec.LookPath("node"); err != nil {
		missing = "node is not installed"
	} else if _, err := os.Stat(filepath.Join(dir, "node_modules", "ajv")); err != nil {
		missing = "the packages of testdata/consumers are not installed: make servers"
	}
	switch {
	case missing == "":
	case os.Getenv("MCPTEST_REQUIRE_SERVERS") != "":
		t.Fatal(missing)
	default:
		t.Skip(missing)
	}
	return dir
}

// want is what a reader must find in a report.
type want struct {
	Total    int    `json:"total"`
	Failed   int    `json:"failed"`
	Errored  int    `json:"errored"`
	Skipped  int    `json:"skipped"`
	RunLevel int    `json:"runLevel"` // failed hooks, steps and findings
	Bail     string `json:"bail"`     // what a run that was given up says of it
	Schema   string `json:"schema"`
}

func wanted(r *result.Run, dir string) want {
	w := want{
		Total: r.Summary.Total, Failed: r.Summary.Failed, Errored: r.Summary.Errored + r.Summary.Inconclusive, Skipped: r.Summary.Skipped,
		Schema: filepath.Join(dir, "..", "..", "schemas", "run-v1.json"),
	}
	if r.Interrupted != "" {
		w.Bail = "interrupted (" + r.Interrupted + ")"
	}
	for _, ph := range r.Phases {
		// A failed cleanup fails no report.
		cleanUp := ph.Phase == "teardown" || ph.Phase == "afterAll" || ph.Phase == "afterEach"
		if (ph.Status == result.Fail || ph.Status == result.Error) && !cleanUp {
			w.RunLevel++
		}
	}
	for _, f := range r.Findings {
		if f.Severity == "error" {
			w.RunLevel++
		}
	}
	return w
}

// job is a report, and what a reader must find in it.
type job struct {
	Format string `json:"format"`
	File   string `json:"file"`
	Want   want   `json:"want"`
}

// verdict is the result of the readers for a report.
type verdict struct {
	File     string   `json:"file"`
	Problems []string `json:"problems"`
}

// readAll passes reports to the programs of the folder.
func readAll(t *testing.T, dir string, jobs []job) (found []verdict) {
	t.Helper()
	in, err := json.Marshal(jobs)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", "check.mjs")
	cmd.Dir, cmd.Stdin = dir, bytes.NewReader(in)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	if err := json.Unmarshal(out, &found); err != nil {
		t.Fatal(err)
	}
	if len(found) != len(jobs) {
		t.Fatalf("%d of %d reports were read", len(found), len(jobs))
	}
	return found
}

// TestIndependentReaders passes every recorded run in every machine format, including the
// hostile one, to third-party parsers and validators.
func TestIndependentReaders(t *testing.T) {
	dir := consumers(t)
	var jobs []job
	tmp := t.TempDir()
	for _, name := range names() {
		r := open(t, name)
		for _, format := range []string{"json", "ndjson", "junit", "tap", "md", "sarif", "gitlab", "github", "otlp", "html"} {
			file := filepath.Join(tmp, name+"."+format)
			if err := os.WriteFile(file, rendered(t, format, r, render.Options{}), 0o666); err != nil {
				t.Fatal(err)
			}
			jobs = append(jobs, job{format, file, wanted(r, dir)})
		}
	}
	found := readAll(t, dir, jobs)
	for _, f := range found {
		for _, p := range f.Problems {
			t.Errorf("%s: %s", filepath.Base(f.File), p)
		}
	}
	t.Logf("%d reports read", len(found))
}
