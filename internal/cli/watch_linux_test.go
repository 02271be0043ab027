package cli_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"mcptest/internal/base/testkit"
)

// terminal is the user's side of a pseudo-terminal.
type terminal struct {
	*os.File
	mu   sync.Mutex
	text bytes.Buffer
}

// openTerminal opens a pseudo-terminal and returns the program's side as a file.
func openTerminal(t *testing.T) (person *terminal, program *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminal: %v", err)
	}
	t.Cleanup(func() { _ = master.Close() })
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	person = &terminal{File: master}
	go func() {
		buf := make([]byte, 4096)
		for {
			n, err := master.Read(buf)
			if err != nil {
				return
			}
			person.mu.Lock()
			person.text.Write(buf[:n])
			person.mu.Unlock()
		}
	}()
	return person, program
}

// shows waits until a text was shown, and discards the output up to it.
func (p *terminal) shows(t *testing.T, text string) (before string) {
	t.Helper()
	found := func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		b, _, ok := strings.Cut(p.text.String(), text)
		if ok {
			before = b
			p.text.Next(len(b) + len(text))
		}
		return ok
	}
	if !testkit.Poll(time.Minute, found) {
		t.Fatalf("the terminal does not show %q:\n%s", text, p.text.String())
	}
	return before
}

func (p *terminal) press(t *testing.T, keys string) {
	t.Helper()
	if _, err := p.WriteString(keys); err != nil {
		t.Fatal(err)
	}
}

// replaceFile writes a file as editors do. A file that is written in place is empty for
// a moment, and a watching program may run that.
func replaceFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path+"~", []byte(text), 0o700); err != nil { //nolint:gosec // may be a program
		t.Fatal(err)
	}
	if err := os.Rename(path+"~", path); err != nil {
		t.Fatal(err)
	}
}

const watchedSuite = `
servers: {echo: {command: [mcptest, mock, --preset, echo]}}
tools:
  - {name: first, tool: echo, args: {message: a}, expect: [{target: text, matcher: {exact: a}}]}
  - {name: second, tool: echo, args: {message: a}, expect: [{target: text, matcher: {exact: %s}}]}
`

// A user at a terminal changes files and presses keys. Not parallel: other tests run
// commands in this process, and these end all its children of another session.
func TestWatchTerminal(t *testing.T) {
	dir := t.TempDir()
	save := func(expected string) {
		t.Helper()
		replaceFile(t, filepath.Join(dir, "mcptest.yaml"), fmt.Sprintf(watchedSuite, expected))
	}
	save("b")
	person, program := openTerminal(t)
	cmd := exec.Command("mcptest", "run", "--watch", "--no-progress")
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = dir, program, program, program
	cmd.Env = append(os.Environ(), "CI=", "NO_COLOR=1", "TERM=xterm")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = program.Close()
	t.Cleanup(func() { _ = cmd.Process.Kill() })

	const ready = "q quit"
	in := func(text string, order ...string) {
		t.Helper()
		from := 0
		for _, want := range order {
			at := strings.Index(text[from:], want)
			if at < 0 {
				t.Errorf("the terminal lacks %q, or it is not in this order: %q\n%s", want, order, text)
				return
			}
			from += at
		}
	}
	in(person.shows(t, ready), "first", "second", "FAILED", "1 failed")
	save("a")
	in(person.shows(t, ready), "changed: mcptest.yaml", "second", "first", "PASSED") // the failed one first
	save("c")
	in(person.shows(t, ready), "first", "second", "FAILED")
	person.press(t, "ffir\n")
	in(person.shows(t, ready), "first", "PASSED", `only tests with "fir"`)
	person.press(t, "f\n")
	in(person.shows(t, ready), "second", "FAILED")
	person.press(t, "\n")
	in(person.shows(t, ready), "second", "FAILED")
	save("[")
	in(person.shows(t, ready), "error", "nothing was run")
	save("a")
	in(person.shows(t, ready), "PASSED")
	began := time.Now()
	person.press(t, "\x03")
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 130 {
		t.Errorf("exit code %d after Ctrl-C, want 130: %s\n%s", code, cmd.ProcessState, person.text.String())
	}
	if took := time.Since(began); took > time.Minute {
		t.Errorf("Ctrl-C took %v", took)
	}
}

// Servers keep running between runs, unless their program changes; without a terminal,
// files are watched too.
func TestWatchKeepsServers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		replaceFile(t, filepath.Join(dir, name), text)
	}
	write("server.sh", "#!/bin/sh\necho started >> starts\nexec mcptest mock --preset echo\n")
	if err := os.Mkdir(filepath.Join(dir, "lib"), 0o700); err != nil {
		t.Fatal(err)
	}
	write("lib/part.sh", "exec mcptest mock --preset echo\n")
	suite := "servers: {echo: {command: [./server.sh]}}\ntools:\n  - {name: one, tool: echo, args: {message: a}}\n"
	write("mcptest.yaml", suite)
	cmd := exec.Command("mcptest", "run", "--watch")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "CI=", "NO_COLOR=1")
	var out lockedBuffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	after := func(runs, starts int) {
		t.Helper()
		testkit.Wait(t, "the run", func() bool { return strings.Count(out.String(), "waiting for changes") == runs })
		data, err := os.ReadFile(filepath.Join(dir, "starts"))
		if n := strings.Count(string(data), "started"); n != starts {
			t.Errorf("after %d runs the server was started %d times, want %d (%v)", runs, n, starts, err)
		}
	}
	after(1, 1)
	write("mcptest.yaml", suite+"  - {name: two, tool: echo, args: {message: b}}\n")
	after(2, 1)
	write("server.sh", "#!/bin/sh\necho started >> starts\n. ./lib/part.sh\n")
	after(3, 2)
	write("lib/part.sh", "exec mcptest mock --preset echo # changed\n") // which the program reads
	after(4, 3)
	write("mcptest.yaml", suite+"teardown: [{run: [\"true\"]}]\n") // may depend on the server
	after(5, 4)
	write("mcptest.yaml", suite)
	after(6, 5)
	unnamed := strings.ReplaceAll(suite, "[./server.sh]", "[sh, -c, exec ./server.sh]") // of which no file is known
	write("mcptest.yaml", unnamed)
	after(7, 6)
	write("mcptest.yaml", unnamed+"  - {name: two, tool: echo, args: {message: b}}\n")
	after(8, 7)
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 143 {
		t.Errorf("exit code %d, want 143\n%s", code, out.String())
	}
}

// Files that are missing, new or deleted, and the scripts of hooks and steps, start a run
// too.
func TestWatchFindsFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		replaceFile(t, path(name), text)
	}
	const suite = "servers: {echo: {command: [mcptest, mock, --preset, echo]}}\ntools:\n  - {name: %s, tool: echo, args: {message: a}}\n"
	write("tests/mcptest.yaml", fmt.Sprintf("imports: [parts/missing.yaml]\n"+suite, "one"))
	after := watching(t, dir, "tests")
	after("can't import")
	write("tests/parts/missing.yaml", "env: {A: b}\n")
	after("1 passed")
	write("tests/mcptest.yaml", fmt.Sprintf(suite, "one"))
	after("1 passed")
	write("tests/two.mcptest.yaml", fmt.Sprintf(suite, "two"))
	after("2 passed")
	write("tests/deep/er/three.mcptest.yaml", fmt.Sprintf(suite, "three"))
	after("3 passed")
	if err := os.RemoveAll(path("tests/deep")); err != nil {
		t.Fatal(err)
	}
	after("2 passed")
	if err := os.Remove(path("tests/two.mcptest.yaml")); err != nil {
		t.Fatal(err)
	}
	after("1 passed")
	write("tests/deep/three.mcptest.yaml", fmt.Sprintf(suite, "three"))
	after("2 passed")
	write("tests/mcptest.yaml", fmt.Sprintf("hooks: {beforeAll: ./h.sh}\nteardown: [{run: [./t.sh]}]\n"+suite, "one"))
	after("h.sh")
	write("tests/t.sh", "#!/bin/sh\n")
	after("h.sh")
	write("tests/h.sh", "#!/bin/sh\n")
	after("2 passed")
	write("tests/t.sh", "#!/bin/sh\nexit 0\n")
	after("2 passed")
}

// Everything that a verdict depends on starts a run: lock files, the files of check:,
// elements of exec matchers, and bodies of routes.
func TestWatchWhatVerdictsDependOn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		replaceFile(t, filepath.Join(dir, name), text)
	}
	write("judge.sh", `echo '{"pass": true}'`)
	write("limits.json", "{}")
	write("rules.yaml", "rules: []\n")
	write("accepted.yaml", "accepted: []\n")
	write("probed.yaml", "accepted: []\n")
	write("body.json", "{}")
	write("mcptest.yaml", `
servers: {echo: {command: [mcptest, mock, --preset, echo]}}
upstreams: {api: {stands_for: "https://api.example.com", into: {env: API}, routes: [{match: {path: /}, reply: {file: body.json}}]}}
surface: [{lock: locks/}]
check: [{rules: [rules.yaml], baseline: accepted.yaml, for: [claude]}]
probe: [{only: [tool-name], baseline: probed.yaml}]
tools:
  - {name: one, tool: echo, args: {message: a}, expect: [{target: text, matcher: {not: {exec: [sh, judge.sh, limits.json]}}}]}
`)
	after := watching(t, dir)
	after("2 failed")
	write("judge.sh", `echo '{"pass": false}'`)
	after("changed: judge.sh")
	lock := exec.Command("mcptest", "lock", "--config", "mcptest.yaml", "--output", "locks/")
	lock.Dir, lock.Env = dir, append(os.Environ(), "CI=")
	if out, err := lock.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	after("4 passed")
	for _, name := range []string{"limits.json", "rules.yaml", "accepted.yaml", "probed.yaml", "body.json", "locks/echo.lock.yaml"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		write(name, string(data)+"\n")
		after("changed: " + name)
	}
	write("accepted.yaml", "accepted: [")
	after("nothing was run")
	write("accepted.yaml", "accepted: []")
	after("4 passed")
}

// watching runs suites again and again. The result waits until a run shows a text.
func watching(t *testing.T, dir string, args ...string) (after func(wanted string)) {
	t.Helper()
	cmd := exec.Command("mcptest", append([]string{"run", "--watch"}, args...)...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "CI=", "NO_COLOR=1")
	var out lockedBuffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	seen := 0
	return func(wanted string) {
		t.Helper()
		found := testkit.Poll(time.Minute, func() bool {
			_, rest, ok := strings.Cut(out.String()[seen:], wanted)
			_, rest, ended := strings.Cut(rest, "waiting for changes")
			if ok && ended {
				seen = len(out.String()) - len(rest)
			}
			return ok && ended
		})
		if !found {
			t.Fatalf("no run shows %q:\n%s", wanted, out.String()[seen:])
		}
	}
}

// lockedBuffer is a buffer that a program writes to while a test reads it.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
