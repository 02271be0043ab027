package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// slowServer takes a second for its tool.
const slowServer = `
mock_server:
  name: slow
  tools: [{name: look, annotations: {readOnlyHint: true}, response: {steps: [{delay: 1200ms}], text: seen}}]
`

// Commands that wait for a server say on a terminal for what, and remove the line when they
// are done. Without a terminal and in CI they are silent.
func TestProgressOnATerminal(t *testing.T) {
	t.Parallel()
	server := []string{"--", "sh", "-c", "sleep 1.2; exec mcptest mock --tools-from slow.yaml"}
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"tools"}, []string{"connecting · ", "\r\x1b[K", "connecting · ", "\r\x1b[K"}},
		{[]string{"lock"}, []string{"connecting · ", "\r\x1b[K", "wrote"}},
		{[]string{"check"}, []string{"connecting · ", "\r\x1b[K"}},
		{[]string{"leak", "--sessions", "60"}, []string{"round 1 · 1 call · ", "/s · memory ", "\r\x1b[K"}},
		{[]string{"init"}, []string{
			"session 1 of 3: connecting · ", "session 1 of 3: tools/call look", "session 2 of 3: tools/call look", "0/2", "\r\x1b[K", "wrote mcptest.yaml",
		}},
	} {
		t.Run(c.args[0], func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "slow.yaml"), []byte(slowServer), 0o600); err != nil {
				t.Fatal(err)
			}
			person, program := openTerminal(t)
			run := func(ci string, stderr *os.File) {
				cmd := exec.Command("mcptest", append(c.args, server...)...)
				cmd.Dir, cmd.Stdout, cmd.Stderr = dir, program, stderr
				cmd.Env = append(os.Environ(), "CI="+ci, "NO_COLOR=1", "TERM=xterm")
				if err := cmd.Run(); err != nil {
					t.Logf("%v: %v", c.args, err) // check exits 6
				}
			}
			run("", program)
			_, _ = program.WriteString("NOW IN CI\n")
			run("true", program)
			_, _ = program.WriteString("END\n")
			text, inCI, _ := strings.Cut(person.shows(t, "END"), "NOW IN CI")
			at := 0
			for _, want := range c.want {
				i := strings.Index(text[at:], want)
				if i < 0 {
					t.Fatalf("the terminal lacks %q, or it is not in this order: %q\n%q", want, c.want, text)
				}
				at += i
			}
			if strings.Contains(inCI, "connecting") || strings.Contains(inCI, "round 1") {
				t.Errorf("progress in CI: %q", inCI)
			}
		})
	}
}

// A shard that waits for the common start says so on a terminal, and an interrupt ends it.
func TestStartAtOnATerminal(t *testing.T) {
	t.Parallel()
	person, program := openTerminal(t)
	cmd := exec.Command("mcptest", "load", "--tool", "echo", "--args", `{"message": "x"}`, "--rate", "1/s", "--start-at", time.Now().Add(time.Hour).Format(time.RFC3339), "--", "mcptest", "mock", "--preset", "echo")
	cmd.Dir, cmd.Stdout, cmd.Stderr = t.TempDir(), program, program
	cmd.Env = append(os.Environ(), "CI=", "NO_COLOR=1", "TERM=xterm")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	person.shows(t, "waiting for --start-at 2")
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 130 {
		t.Errorf("ended with %v", err)
	}
}
