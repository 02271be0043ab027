package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

const keptSuite = "# mine\nservers: {echo: {command: [mcptest, mock, --preset, echo]}}\ntools: []\n"

// On a terminal, call --keep shows the change and asks: only a yes inserts the test. A file
// that changes while the question stands is not written.
func TestKeepAsks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		keys, shown string
		change      bool
		code        int
		kept        bool
	}{
		{keys: "y\n", shown: `kept as "echo answers" in suite.yml:3`, kept: true},
		{keys: "n\n", shown: "nothing was written"},
		{keys: "\n", shown: "nothing was written"},
		{keys: "\x04", shown: "nothing was written"},
		{keys: "\x03", shown: "nothing was written", code: 130},
		{keys: "y\n", shown: "has changed since it was shown", change: true, code: 2},
	} {
		t.Run(strings.Trim(c.keys, "\n")+c.shown, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path, want := filepath.Join(dir, "suite.yml"), keptSuite
			if err := os.WriteFile(path, []byte(want), 0o600); err != nil {
				t.Fatal(err)
			}
			person, program := openTerminal(t)
			cmd := exec.Command("mcptest", "call", "echo", "--arg", "message=hi", "--config", "suite.yml", "--keep", "suite.yml")
			cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = dir, program, program, program
			cmd.Env = append(os.Environ(), "CI=", "NO_COLOR=1", "TERM=xterm")
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			_ = program.Close()
			if diff := person.shows(t, "? [y/N] "); !strings.Contains(diff, "+ tools: [{name: echo answers, tool: echo, args: {message: hi}") {
				t.Errorf("it does not show the change:\n%s", diff)
			}
			if c.change {
				want += "# changed\n"
				replaceFile(t, path, want)
			}
			person.press(t, c.keys)
			person.shows(t, c.shown)
			_ = cmd.Wait()
			if got := cmd.ProcessState.ExitCode(); got != c.code {
				t.Errorf("exit code %d, want %d", got, c.code)
			}
			after, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if kept := string(after) != want; kept != c.kept {
				t.Errorf("the file is now:\n%s", after)
			}
			if list, err := os.ReadDir(dir); err != nil || len(list) > 2 { // the suite and .mcptest
				t.Errorf("left in the folder: %v %v", list, err)
			}
		})
	}
}
