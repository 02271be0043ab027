package cli_test

import (
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/testkit"
)

// However the page ends, no process of a server is left, not even one that ignores the end of
// its input and SIGTERM.
func TestUILeavesNoProcess(t *testing.T) {
	t.Parallel()
	for name, sig := range map[string]syscall.Signal{
		"Ctrl-C": syscall.SIGINT, "SIGTERM": syscall.SIGTERM, "a closed terminal": syscall.SIGHUP, "kill -9": syscall.SIGKILL,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := explore(t, "--", "counting", "log", "stubborn")
			testkit.Equal(t, "starts before Connect", e.count("start"), 0)
			e.connect()
			_, number, _ := strings.Cut(strings.TrimSpace(e.read("log")), " ")
			pid, err := strconv.Atoi(strings.Fields(number)[0])
			if err != nil || syscall.Kill(pid, 0) != nil {
				t.Fatalf("no server runs: %q", e.read("log"))
			}
			if err := e.cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			err = e.cmd.Wait()
			if sig != syscall.SIGKILL && err != nil {
				t.Errorf("it ended with %v", err)
			}
			testkit.Wait(t, "the end of the server's process", func() bool { return syscall.Kill(pid, 0) != nil })
		})
	}
}

// A pipe in the folder is no record, and nobody waits for it.
func TestUIHistoryOfAPipe(t *testing.T) {
	t.Parallel()
	e := explore(t)
	if err := syscall.Mkfifo(filepath.Join(e.dir, "pipe.json"), 0o600); err != nil {
		t.Fatal(err)
	}
	testkit.Equal(t, "records", e.post("history", "{}").Lookup("records").String(), "[]")
}

// A run whose tests pass and that fails all the same is not shown as one that passed.
func TestUIRunFailsOutsideItsTests(t *testing.T) {
	t.Parallel()
	const read = "tools: [{name: a, tool: read, expect: [{target: text, matcher: {exact: done read}}]}]\n"
	const server = "servers: {c: {command: [counting, log]}}\n"
	for name, tt := range map[string]struct{ suite, want string }{
		"nothing":  {server + read, ""},
		"stray":    {"servers: {c: {command: [sh, -c, 'echo junk; exec counting log']}}\n" + read, "stray-output"},
		"teardown": {server + "teardown: [{name: bad, run: [sh, -c, exit 1]}]\n" + read, ""}, // a warning: the run passes
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := exploreFiles(t, map[string]string{"mcptest.yaml": tt.suite})
			version := e.awaitTests("a")
			body := `{"version":"` + version + `","all":true`
			token := e.post("tests-run", body+"}").Lookup("confirm").Text()
			e.post("tests-run", body+`,"confirm":"`+token+`"}`)
			var run jsonv.Value
			e.await("the end of the run", func(state jsonv.Value) bool {
				run = state.Lookup("run")
				return run.Lookup("id").Literal() == "1" && !run.Lookup("going").Bool()
			})
			problem := run.Lookup("problem").Text()
			if (problem == "") != (tt.want == "") || !strings.Contains(problem, tt.want) {
				t.Errorf("problem %q, want %q: %s", problem, tt.want, run)
			}
		})
	}
}
