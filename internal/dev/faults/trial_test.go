//go:build linux

package faults_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"mcptest/internal/base/testkit"
)

// trial is one run of the program on one row.
type trial struct {
	tb     testing.TB
	r      *row
	dir    string // unique; holds work, tmp and home
	work   string
	fill   *strings.Replacer
	before []string // files in work

	out, err bytes.Buffer
	took     time.Duration
	state    *os.ProcessState
	seen     atomic.Int64 // the program's peak memory so far, in KiB
	crowd    crowd
}

func newTrial(tb testing.TB, r *row) *trial {
	t := &trial{tb: tb, r: r, dir: tb.TempDir()}
	t.work = filepath.Join(t.dir, "work")
	for _, d := range []string{"work", "tmp", "home"} {
		if err := os.Mkdir(filepath.Join(t.dir, d), 0o755); err != nil {
			tb.Fatal(err)
		}
	}
	url := ""
	if r.http != nil {
		u, stop := r.http.open()
		url = u
		tb.Cleanup(stop)
	}
	t.fill = strings.NewReplacer("$EXE", self, "$ID", r.id, "$URL", url, "$DIR", t.work, "$PORT", strconv.Itoa(testkit.FindFreePort()))
	for name, text := range r.files {
		t.write(name, t.fill.Replace(text))
	}
	if _, ok := r.files["s.yml"]; !ok {
		t.write("s.yml", t.fill.Replace(r.yaml()))
	}
	if r.setup != nil {
		r.setup(t)
	}
	t.before = t.list("work")
	return t
}

func (t *trial) write(name, text string) {
	path := filepath.Join(t.work, name)
	mode := os.FileMode(0o644)
	if strings.HasPrefix(text, "#!") {
		mode = 0o755
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.tb.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.tb.Fatal(err)
	}
}

// yaml returns the suite of a row: two calls of one tool; the server responds wrongly to
// the first one.
func (r *row) yaml() string {
	if r.suite != "" {
		return r.suite
	}
	where := `command: ["$EXE", --fault, "$ID"]`
	if r.http != nil {
		where = `url: "$URL/mcp"`
	}
	test := r.test
	if test == "" {
		test = "expect: [{target: text, matcher: {exact: ok}}]"
	}
	connect := "    connect_timeout: 10s\n"
	if strings.Contains(r.server, "connect_timeout") {
		connect = ""
	}
	return "servers:\n  s:\n    " + where + "\n" + connect + indent(r.server, "    ") +
		"tools:\n  - name: one\n    tool: t\n    args: {fault: true}\n" + indent(test, "    ") +
		"  - {name: two, tool: t, timeout: 6s}\n" + r.more
}

func indent(text, by string) string {
	if text == "" {
		return ""
	}
	return by + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n"+by) + "\n"
}

// run runs the program and checks the properties of every row.
func (t *trial) run() {
	t.start()
	t.checkEnd()
	t.checkOutput()
	t.checkVerdicts()
	t.checkLeft()
	if t.r.after != nil {
		t.r.after(t)
	}
}

// start runs the program to its end.
func (t *trial) start() {
	args := []string{"run", "s.yml"}
	if t.r.args != nil {
		args = nil
		for _, a := range t.r.args {
			args = append(args, t.fill.Replace(a))
		}
	}
	if t.r.tests != "" {
		args = append(args, "--reporter", "pretty", "--reporter", "json=../run.json")
	}
	cmd := exec.Command(program, args...)
	cmd.Dir = t.work
	cmd.Env = append(os.Environ(), "TMPDIR="+filepath.Join(t.dir, "tmp"), "HOME="+filepath.Join(t.dir, "home"), "CI=", "NO_COLOR=1")
	for _, e := range t.r.env {
		cmd.Env = append(cmd.Env, t.fill.Replace(e))
	}
	cmd.Stdout, cmd.Stderr = &t.out, &t.err
	cmd.WaitDelay = 10 * time.Second
	if t.r.change != nil {
		t.r.change(cmd, t)
	}
	start := time.Now()
	if err := cmd.Start(); err != nil {
		t.tb.Fatal(err)
	}
	if t.r.during != nil {
		t.r.during(cmd.Process, t)
	}
	// Far over the limit it hangs: the trace shows where.
	watchdog := time.AfterFunc(t.hangs(), func() { _ = cmd.Process.Signal(syscall.SIGQUIT) })
	done := make(chan struct{})
	go t.watch(cmd.Process.Pid, done)
	_ = cmd.Wait()
	close(done)
	t.took = time.Since(start)
	watchdog.Stop()
	t.state = cmd.ProcessState
}

// peak is the program's maximum memory, in MiB. The kernel's figure at the end includes its
// children, and the memory of this process when it started the program; the observed maximum
// does not. It is 0 for a program that ended before it was observed and needed less than
// this process.
func (t *trial) peak() int {
	atEnd := t.state.SysUsage().(*syscall.Rusage).Maxrss
	if seen := t.seen.Load(); seen > 0 {
		return int(min(atEnd, seen) >> 10)
	}
	var own syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &own); err == nil && atEnd <= own.Maxrss {
		return 0
	}
	return int(atEnd >> 10)
}

// watch observes the program's memory, and the other runnable threads, until done is
// closed.
func (t *trial) watch(pid int, done <-chan struct{}) {
	for {
		t.crowd.look()
		program, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		// Until the program is executed, the memory is that of this process.
		if _, rest, ok := bytes.Cut(status, []byte("VmHWM:")); ok && program != self {
			if kb, err := strconv.ParseInt(string(bytes.Fields(rest)[0]), 10, 64); err == nil {
				t.seen.Store(max(kb, t.seen.Load()))
			}
		}
		select {
		case <-done:
			return
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func (t *trial) checkEnd() {
	ws := t.state.Sys().(syscall.WaitStatus)
	switch {
	case t.r.dead:
		if !ws.Signaled() || int(ws.Signal()) != t.r.exit {
			t.tb.Errorf("ended with %s, want signal %d", t.state, t.r.exit)
		}
	case ws.Signaled() || t.state.ExitCode() != t.r.exit:
		t.tb.Errorf("ended with %s, want exit code %d", t.state, t.r.exit)
	}
	if p := t.peak(); p > t.r.most() {
		t.tb.Errorf("it needed %d MiB, at most %d are allowed", p, t.r.most())
	}
}

var stackTrace = regexp.MustCompile(`(?m)^goroutine \d+ \[|^panic: |runtime error|^\s+/\S+\.go:\d+|SIGSEGV: segmentation`)

func (t *trial) checkOutput() {
	all := t.out.String() + t.err.String()
	if m := stackTrace.FindString(all); m != "" {
		t.tb.Errorf("a stack trace in the output: %q", m)
	}
	if bad := unfit(all); bad != "" {
		t.tb.Errorf("the output holds %s", bad)
	}
	for _, want := range t.r.says {
		if !strings.Contains(all, t.fill.Replace(want)) {
			t.tb.Errorf("the output lacks %q", t.fill.Replace(want))
		}
	}
	for _, not := range t.r.never {
		if strings.Contains(all, t.fill.Replace(not)) {
			t.tb.Errorf("the output holds %q", t.fill.Replace(not))
		}
	}
}

// unfit returns text that would control a terminal, be invisible or invalid.
func unfit(text string) string {
	if !utf8.ValidString(text) {
		return "invalid UTF-8"
	}
	for i, c := range text {
		if c == '\n' || c == '\t' {
			continue
		}
		if unicode.IsControl(c) || unicode.Is(unicode.Bidi_Control, c) || c == '\u200b' || c == '\ufeff' {
			return fmt.Sprintf("%U at %q", c, text[max(0, i-20):min(len(text), i+10)])
		}
	}
	return ""
}

// record contains the members of a run's JSON that the tests use.
type record struct {
	ExitCode int `json:"exit_code"`
	Summary  struct{ Total int }
	Tests    []struct{ Name, Status, Message string }
	Findings []struct{ Message string }
}

func (t *trial) checkVerdicts() {
	if t.r.tests == "" {
		return
	}
	raw, err := os.ReadFile(filepath.Join(t.dir, "run.json"))
	if err != nil {
		t.tb.Errorf("the record: %v", err)
		return
	}
	var rec record
	if err := json.Unmarshal(raw, &rec); err != nil {
		t.tb.Errorf("the record: %v", err)
		return
	}
	var got []string
	for _, c := range rec.Tests {
		got = append(got, c.Status)
	}
	if s := strings.Join(got, " "); s != t.r.tests {
		t.tb.Errorf("verdicts %q, want %q", s, t.r.tests)
	}
	if rec.ExitCode != t.r.exit || rec.Summary.Total != len(rec.Tests) {
		t.tb.Errorf("the record says exit code %d and %d tests", rec.ExitCode, rec.Summary.Total)
	}
}

// checkLeft searches for processes and files of the run. After SIGKILL from outside they
// may take a moment to end; after the program's own exit they may not.
func (t *trial) checkLeft() {
	wait := time.Duration(0)
	if t.r.dead || t.state.ExitCode() > 128 {
		wait = 3 * time.Second
	}
	var left []string
	testkit.Poll(wait, func() bool {
		left = processesOf(t.dir)
		return len(left) == 0
	})
	for _, p := range left {
		t.tb.Errorf("a process is left: %s", p)
		if pid, err := strconv.Atoi(strings.Fields(p)[0]); err == nil {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	if t.r.dead { // killed: it had no chance to remove its files
		return
	}
	for _, f := range t.list("tmp") {
		t.tb.Errorf("a file is left: %s", f)
	}
	for _, f := range t.list("work") {
		if !slices.Contains(t.before, f) && !slices.Contains(t.r.leaves, strings.TrimPrefix(f, "work/")) && !strings.HasPrefix(f, "work/.mcptest") {
			t.tb.Errorf("a file is left: %s", f)
		}
	}
}

func (t *trial) list(below string) []string {
	var out []string
	_ = filepath.WalkDir(filepath.Join(t.dir, below), func(p string, _ os.DirEntry, err error) error {
		if rel, _ := filepath.Rel(t.dir, p); err == nil && rel != below {
			out = append(out, rel)
		}
		return nil
	})
	return out
}

// processesOf lists the living processes that name the folder in their
// environment or arguments, or work in it: pid and command line.
func processesOf(dir string) []string {
	var out []string
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, d := range dirs {
		env, err := os.ReadFile(filepath.Join(d, "environ"))
		if err != nil {
			continue
		}
		args, _ := os.ReadFile(filepath.Join(d, "cmdline"))
		cwd, _ := os.Readlink(filepath.Join(d, "cwd"))
		if len(args) == 0 || !bytes.Contains(env, []byte(dir)) && !bytes.Contains(args, []byte(dir)) && !strings.HasPrefix(cwd, dir) {
			continue // a zombie has no arguments
		}
		out = append(out, filepath.Base(d)+" "+strings.ReplaceAll(string(args), "\x00", " "))
	}
	return out
}
