package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// mixed has a case of each status, and names with the characters of patterns.
const mixed = `
servers: {echo: {command: [mcptest, mock, --preset, echo]}, dead: {command: ["false"]}}
hooks: {afterEach: ["false"]}
teardown: [{run: ["false"]}]
tools:
  - {name: "passes (with [brackets] | and $)", server: echo, tool: echo, args: {message: a}, expect: [{target: text, matcher: {exact: a}}]}
  - {name: fails, server: echo, tool: echo, args: {message: a}, expect: [{target: text, matcher: {exact: b}}]}
  - {name: skipped, server: echo, skip: not yet, tool: echo, args: {message: a}}
  - {name: errors, server: dead, tool: echo}
`

// passing passes, but the run does not: it needs a coverage that no test has.
const passing = `
servers: {echo: {command: [mcptest, mock, --preset, echo]}}
coverage: {tools: 100}
tools:
  - {name: one tool, tool: echo, args: {message: a}, expect: [{target: text, matcher: {exact: a}}]}
  - {name: again, tool: echo, args: {message: a}, expect: [{target: text, matcher: {exact: a}}]}
`

// slow has a call that does not end during a test.
const slow = `
servers: {echo: {command: [sh, -c, "echo $$ >pid.new; mv pid.new server.pid; exec ${PROGRAM} mock --preset echo"]}}
tools:
  - {name: slow, tool: slow, args: {ms: 59000}, timeout: 600s}
`

// skips skips the test that $SKIP names when pytest has collected it.
const skips = `
import os
import pytest

def pytest_collection_modifyitems(items):
    for item in items:
        if item.name == os.environ.get("SKIP"):
            item.add_marker(pytest.mark.skip(reason="by a hook"))
`

// crash passes on --list, and otherwise ends with exit code 0 after some events.
const crash = `#!/bin/sh
for a in "$@"; do [ "$a" = --list ] && exec "$PROGRAM" "$@"; done
"$PROGRAM" "$@" | head -n 3
exit 0
`

// bridgeFolder has suites, and a program that crashes.
func bridgeFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"mixed.mcptest.yaml": mixed, "passing.yaml": passing, "slow.yaml": slow, "crash": crash, "conftest.py": skips} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil { //nolint:gosec // a program
			t.Fatal(err)
		}
	}
	return dir
}

// shows runs a program and checks its exit code and parts of its output.
func shows(t *testing.T, dir string, code int, want []string, argv ...string) {
	t.Helper()
	text := command(t, dir, code, argv...)
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("%v: the output lacks %q:\n%s", argv, w, text)
		}
	}
}

// endsWhenKilled kills a program with SIGKILL while it waits for a slow call. The server
// must end within eight seconds: a worker of Vitest lives longer than ten, and with it a
// run that waits for its output to close. Such a worker would use a processor for ever, so
// the session of the program is killed at the end.
func endsWhenKilled(t *testing.T, dir string, argv ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "setsid", argv...) // becomes the program
	cmd.Dir = dir
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer command(t, dir, 0, "sh", "-c", "kill -9 -"+strconv.Itoa(cmd.Process.Pid)+" 2>/dev/null || true")
	wait := `until [ -s server.pid ]; do sleep 0.1; done; cat server.pid`
	pid := strings.TrimSpace(command(t, dir, 0, "sh", "-c", wait))
	command(t, dir, 0, "sh", "-c", "sleep 1; kill -0 "+pid) // it serves
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	command(t, dir, 0, "sh", "-c", "n=0; while kill -0 "+pid+" 2>/dev/null && ! grep -q '^State:.[ZX]' /proc/"+pid+"/status; do n=$((n + 1)); [ $n -lt 80 ] || exit 1; sleep 0.1; done")
}

// runsVitest runs the helper in a version of Vitest, which it installs.
func runsVitest(t *testing.T, packages, version string) {
	p, err := platformOf(runtime.GOOS, runtime.GOARCH)
	if err != nil {
		t.Fatal(err)
	}
	dir := bridgeFolder(t)
	command(t, dir, 0, "npm", "install", "--no-audit", "--no-fund", "--loglevel=error", "vite@7", "vitest@"+version,
		filepath.Join(packages, "mcptest-0.0.0-dev.tgz"), filepath.Join(packages, "mcptest-"+p.os+"-"+p.cpu+"-0.0.0-dev.tgz"))
	for name, file := range map[string]string{"mixed": "mixed.mcptest.yaml", "passing": "passing.yaml", "slow": "slow.yaml", "invalid": "none.yaml"} {
		text := "import { beforeEach } from \"vitest\";\nimport { mcptest } from \"mcptest/vitest\";\n" +
			"beforeEach((c) => { if (c.task.name === process.env.SKIP) c.skip(); });\n" +
			"mcptest(new URL(\"" + file + "\", import.meta.url), { args: process.env.ARGS?.split(\" \") });\n"
		if err := os.WriteFile(filepath.Join(dir, name+".test.mjs"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("NO_COLOR", "1")
	t.Setenv("PROGRAM", filepath.Join(dir, "node_modules", "@mcptest", p.os+"-"+p.cpu, "bin", p.program()))
	vitest := []string{"npx", "--no-install", "vitest", "run"}
	shows(t, dir, 1, []string{
		"2 failed | 1 passed | 1 skipped", "fails\nError: text: expected \"b\", got \"a\"\nmixed.mcptest.yaml:7", "mixed.mcptest.yaml:7:74",
		"7 │ - {name: fails,", "call  tools/call echo {\"message\":\"a\"}", "repro  npx mcptest run mixed.mcptest.yaml --filter",
		"errors\nError: server \"dead\"", "[not yet]",
		"warning: afterEach hook \"false\" failed", "warning: teardown step \"false\" failed",
	}, append(vitest, "mixed")...)
	shows(t, dir, 0, []string{"1 passed | 3 skipped"}, append(vitest, "mixed", "-t", `passes \(with`)...)
	shows(t, dir, 1, []string{"1 failed | 1 passed (4)"}, append(vitest, "mixed", "--bail", "1")...)
	shows(t, dir, 1, []string{"Tests  2 passed", "the exit code 6"}, append(vitest, "passing")...)
	endsWhenKilled(t, dir, "node", filepath.Join("node_modules", "vitest", "vitest.mjs"), "run", "slow")
	t.Setenv("SKIP", "again")
	shows(t, dir, 1, []string{"Tests  1 passed | 1 skipped", "the exit code 6"}, append(vitest, "passing")...)
	t.Setenv("ARGS", "--filter a") // passes and fails
	shows(t, dir, 1, []string{"1 failed | 1 skipped (2)"}, append(vitest, "mixed", "-t", "fails")...)
	shows(t, dir, 1, []string{"no such file"}, append(vitest, "invalid")...)
	t.Setenv("MCPTEST_BINARY", filepath.Join(dir, "crash"))
	shows(t, dir, 1, []string{"mcptest ended without a result (exit code 0)"}, append(vitest, "mixed")...)
}

// runsPytest runs the plugin in the pytest of one of the system's Pythons.
func runsPytest(t *testing.T, packages string) {
	python := withPytest(t)
	dir := bridgeFolder(t)
	wheels, err := filepath.Glob(filepath.Join(packages, "*.whl"))
	if err != nil || len(wheels) != 1 {
		t.Fatalf("%v %v", wheels, err)
	}
	site := filepath.Join(dir, "site")
	command(t, dir, 0, "python3", "-m", "pip", "install", "--quiet", "--no-index", "--disable-pip-version-check", "--target", site, wheels[0])
	t.Setenv("PYTHONPATH", site)
	t.Setenv("PROGRAM", filepath.Join(site, "bin", "mcptest"))
	pytest := []string{python, "-m", "pytest", "-p", "no:cacheprovider", "-v"}
	shows(t, dir, 1, []string{
		"2 failed, 1 passed, 1 skipped", "mixed.mcptest.yaml:7: text: expected \"b\", got \"a\"", "mixed.mcptest.yaml:9: server \"dead\"", "SKIPPED (not yet)",
		"7 │ - {name: fails,", "call  tools/call echo {\"message\":\"a\"}", "repro  mcptest run mixed.mcptest.yaml --filter",
		"afterEach hook \"false\" failed", "teardown step \"false\" failed",
	}, pytest...)
	shows(t, dir, 0, []string{"1 passed, 3 deselected"}, append(pytest, "-k", "brackets")...)
	shows(t, dir, 1, []string{"1 failed, 1 passed, "}, append(pytest, "-x")...)
	shows(t, dir, 1, []string{"1 failed, 1 deselected"}, append(pytest, "-k", "fails", "-o", "mcptest_args=--filter a")...)
	shows(t, dir, 1, []string{"2 passed, 1 error", "the exit code 6"}, append(pytest, "passing.yaml")...)
	endsWhenKilled(t, dir, append(pytest, "slow.yaml")...)
	t.Setenv("SKIP", "again")
	shows(t, dir, 1, []string{"1 passed, 1 skipped, 1 error", "the exit code 6"}, append(pytest, "passing.yaml")...)
	t.Setenv("MCPTEST_BINARY", filepath.Join(dir, "crash"))
	shows(t, dir, 1, []string{"mcptest ended without a result (exit code 0)"}, pytest...)
}

// withPytest returns a Python of the system that has pytest.
func withPytest(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"/usr/bin/python3", "python3"} {
		if exec.Command(name, "-m", "pytest", "--version").Run() == nil {
			return name
		}
	}
	t.Skip("pytest is not installed")
	return ""
}
