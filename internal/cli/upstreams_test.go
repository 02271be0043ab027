package cli_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"mcptest/internal/base/testkit"
)

// TestUpstreamFaults runs every fault of an API with five servers: each call ends in time,
// the servers survive, and nothing is left behind.
func TestUpstreamFaults(t *testing.T) {
	t.Parallel()
	if !testkit.Deep() {
		t.Skip("170 calls of five slow servers: make deep")
	}
	needServers(t)
	needUpstreams(t)
	temp := t.TempDir()
	cmd := exec.Command("mcptest", "run", "--reporter", "json", "faults.yml")
	cmd.Dir = filepath.Join("testdata", "upstreams")
	cmd.Env = append(os.Environ(), "CI=", "NO_COLOR=1", "TMPDIR="+temp)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	began := time.Now()
	_ = cmd.Run()
	if took := time.Since(began); took > 3*time.Minute {
		t.Errorf("it took %s", took)
	}
	var r struct {
		ExitCode int `json:"exit_code"`
		Findings []struct{ Kind, Message string }
		Tests    []struct {
			Name, Status, Message string
			Duration              float64 `json:"duration_ms"`
			AfterRestart          bool    `json:"after_restart"`
			Upstream              []struct{ Unmatched bool }
		}
	}
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatalf("%v\n%s\n%s", err, out.Bytes(), errs.Bytes())
	}
	if len(r.Tests) != 5*34 || cmd.ProcessState.ExitCode() != 1 {
		t.Errorf("%d tests, exit code %d\n%s", len(r.Tests), cmd.ProcessState.ExitCode(), errs.Bytes())
	}
	silent := 0
	for _, c := range r.Tests {
		if c.Status == "error" {
			silent++
		}
		if c.AfterRestart || c.Duration > 10_000 || len(c.Upstream) == 0 || c.Upstream[0].Unmatched {
			t.Errorf("%s: %+v", c.Name, c)
		}
	}
	if silent < 5 {
		t.Errorf("%d calls had no response, at least the five whose API is silent were expected", silent)
	}
	for _, f := range r.Findings {
		t.Errorf("finding: %s: %s", f.Kind, f.Message)
	}
	if left, _ := filepath.Glob(filepath.Join(temp, "mcptest-upstream-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
