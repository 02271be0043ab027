package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"mcptest/internal/base/testkit"
)

// times are the members of a record that differ from run to run.
var times = regexp.MustCompile(`"times":\s*\{[^}]*\}|"(?:duration_ms|start_ms|started)":\s*(?:"[^"]*"|[0-9.e-]+)`)

// The record of a scripted suite is the same in every run, except for its times: whether it
// passes or fails, with mocks, several servers, trials that run at once and steps behind them.
func TestScriptedSuitesAreTheSame(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	archive, err := txtar.ParseFile(filepath.Join("testdata", "script", "agents", "script.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, f := range archive.Files {
		if err := os.WriteFile(filepath.Join(dir, f.Name), f.Data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for name, code := range map[string]int{"suite.yaml": 0, "wrong.yaml": 1, "trials.yaml": 0} {
		first := ""
		for n := range testkit.Count(3, 20) {
			out := filepath.Join(dir, "out.json")
			cmd := exec.Cmd{Path: self, Args: []string{"mcptest", "run", name, "-r", "json=out.json"}, Dir: dir, Env: append(os.Environ(), "CI=")}
			said, _ := cmd.CombinedOutput()
			if got := cmd.ProcessState.ExitCode(); got != code {
				t.Fatalf("%s: exit code %d, want %d\n%s", name, got, code, said)
			}
			data, err := os.ReadFile(out)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Remove(out); err != nil {
				t.Fatal(err)
			}
			now := times.ReplaceAllString(string(data), "")
			switch {
			case n == 0:
				first = now
			case now != first:
				testkit.Equal(t, name+" again", now, first)
				return
			}
		}
		if len(first) < 2000 {
			t.Errorf("%s: a record of %d bytes", name, len(first))
		}
	}
}
