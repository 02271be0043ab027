package aqlcli_test

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mcptest/internal/base/testkit"
	"mcptest/internal/mcpaql/live/catalog"
	"mcptest/internal/mcpaql/verdict"
)

// A journal that cannot be kept ends the run before anything is created.
func TestJournalThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	prog, dir := conformance(t), t.TempDir()
	file, log := filepath.Join(dir, "file"), filepath.Join(dir, "log")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	out, errs, code := runProgram(t, prog, "live", "--stdio", prog+" demo-adapter --log "+log, "--mode", "write", "--journal", filepath.Join(file, "j"))
	if code != verdict.ExitConfig || !strings.Contains(errs, "--journal: ") || out != "" {
		t.Errorf("exit %d\n%s\n%s", code, out, errs)
	}
	if data, _ := os.ReadFile(log); len(data) > 0 {
		t.Errorf("called %s", data)
	}
	for _, journal := range []string{file, filepath.Join(dir, "none")} {
		_, errs, code := runProgram(t, prog, "live", "--stdio", prog+" demo-adapter", "--clean", "--journal", journal)
		if code != verdict.ExitConfig || !strings.Contains(errs, "is not a folder") {
			t.Errorf("%s: exit %d, %s", journal, code, errs)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "odd.jsonl"), []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, errs, code := runProgram(t, prog, "live", "--stdio", prog+" demo-adapter", "--clean", "--journal", dir); code != 0 || !strings.Contains(errs, "odd.jsonl is not a journal") || !strings.Contains(out, "Nothing to clean up") {
		t.Errorf("exit %d\n%s\n%s", code, out, errs)
	}
}

// --clean takes nothing away from a run that is going, and all from one that
// was killed.
func TestCleanLeavesRunsAlone(t *testing.T) {
	t.Parallel()
	prog, dir := conformance(t), t.TempDir()
	server := exec.Command(prog, "demo-adapter", "--http", "127.0.0.1:0")
	stderr, err := server.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Process.Kill(); _ = server.Wait() }()
	line, err := bufio.NewReader(stderr).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	url := strings.TrimSpace(line)
	going := exec.Command(prog, "live", "--url", url, "--mode", "write", "--rate", "60", "--journal", dir)
	if err := going.Start(); err != nil {
		t.Fatal(err)
	}
	ended := false
	end := func() {
		if !ended {
			ended = true
			_ = going.Process.Kill()
			_ = going.Wait()
		}
	}
	defer end()
	created := func() bool {
		names, _ := filepath.Glob(filepath.Join(dir, "*.jsonl"))
		for _, name := range names {
			if data, _ := os.ReadFile(name); strings.Count(string(data), `"created"`) > strings.Count(string(data), `"deleted"`) {
				return true
			}
		}
		return false
	}
	testkit.Wait(t, "the run to create something", created)
	out, errs, code := runProgram(t, prog, "live", "--url", url, "--clean", "--journal", dir)
	if code != 0 || !strings.Contains(errs, "is still running") || strings.Contains(out, "removed") {
		t.Errorf("exit %d\n%s\n%s", code, out, errs)
	}
	end()
	out, errs, code = runProgram(t, prog, "live", "--url", url, "--clean", "--journal", dir)
	if code != 0 || !strings.Contains(out, "removed: delete_") || errs != "" {
		t.Errorf("after the end: exit %d\n%s\n%s", code, out, errs)
	}
}

// A run that its own budget or a signal ends removes what it created, and
// blames the adapter for nothing.
func TestEndedRunsCleanUp(t *testing.T) {
	t.Parallel()
	for name, budget := range map[string]string{"budget": "3s", "signal": "10m"} {
		t.Run(name, func(t *testing.T) {
			prog, dir := conformance(t), t.TempDir()
			state := filepath.Join(dir, "library.json")
			cmd := exec.Command(prog, "live", "--stdio", prog+" demo-adapter --state "+state, "--mode", "write", "--rate", "50", "--budget", budget, "--journal", dir)
			var out, errs bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &errs
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			created := func() bool {
				data, _ := os.ReadFile(state)
				return bytes.Contains(data, []byte(catalog.MakeMarker("")))
			}
			if name == "signal" && !testkit.Poll(30*time.Second, created) {
				_ = cmd.Process.Kill()
				t.Fatal("the run created nothing")
			}
			if name == "signal" {
				if err := cmd.Process.Signal(os.Interrupt); err != nil {
					t.Fatal(err)
				}
			}
			_ = cmd.Wait()
			if data, err := os.ReadFile(state); err != nil || bytes.Contains(data, []byte(catalog.MakeMarker(""))) {
				t.Errorf("left behind (%v): %s", err, data)
			}
			for _, word := range []string{"FAIL", "Left behind", "ended when"} {
				if strings.Contains(out.String(), word) {
					t.Errorf("the report says %q:\n%s", word, out.String())
				}
			}
			if got := cmd.ProcessState.ExitCode(); got == verdict.ExitFailed || got == verdict.ExitConfig || (got == 130) != (name == "signal") || !strings.Contains(errs.String(), "the run is not complete") {
				t.Errorf("exit %d\n%s\n%s", got, out.String(), errs.String())
			}
		})
	}
}
