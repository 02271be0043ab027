//go:build unix

package cli_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"mcptest/internal/base/testkit"
	"mcptest/internal/dev/flaky"
)

// soakRuns is the number of interrupted runs; MCPTEST_SOAK=200 sets it (make soak),
// MCPTEST_SOAK_SEED=n sets the first seed.
func soakRuns(t *testing.T) (runs int, seed uint64) {
	runs = 4
	seed = uint64(time.Now().UnixNano())
	for name, set := range map[string]func(string) error{
		"MCPTEST_SOAK":      func(s string) (err error) { runs, err = strconv.Atoi(s); return err },
		"MCPTEST_SOAK_SEED": func(s string) (err error) { seed, err = strconv.ParseUint(s, 10, 64); return err },
	} {
		if v := os.Getenv(name); v != "" {
			if err := set(v); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
	return runs, seed
}

// Runs with everything that makes runners leak, each interrupted at a random time in a
// random way, leave no process, file or port behind, exit with the right code, and have run
// teardown. A failed run is repeated twice, and counts only if it fails again.
func TestInterruptedRunsLeaveNothing(t *testing.T) {
	t.Parallel()
	hearHangup()
	runs, seed := soakRuns(t)
	exits := map[string]int{}
	for i := range runs {
		seed := seed + uint64(i)
		flaky.Retry(t, fmt.Sprintf("interrupted run of seed %d", seed), func(tb testing.TB) {
			exits[newSoak(tb, seed).run(tb)]++
		})
		if t.Failed() {
			t.Fatalf("run %d of %d: repeat it with MCPTEST_SOAK=1 MCPTEST_SOAK_SEED=%d", i+1, runs, seed)
		}
	}
	t.Logf("%d runs from seed %d: %v", runs, seed, exits)
}

// soak is one run.
type soak struct {
	rnd   *rand.Rand
	dir   string
	mark  string // in the environment of everything the run starts
	port  int
	end   string // how it is interrupted
	after time.Duration
}

// ends are the ways to interrupt a run.
var ends = []string{"INT", "INT", "TERM", "HUP", "INT INT", "INT TERM", "KILL", "pipe", "nothing"}

func newSoak(t testing.TB, seed uint64) *soak {
	s := &soak{rnd: rand.New(rand.NewPCG(seed, 1)), dir: t.TempDir()}
	s.mark = fmt.Sprintf("MCPTEST_SOAK_MARK=%d-%d", os.Getpid(), seed)
	s.end = ends[s.rnd.IntN(len(ends))]
	s.after = time.Duration(s.rnd.IntN(900)) * time.Millisecond
	s.port = testkit.FindFreePort()
	for _, d := range []string{"tmp", "work"} {
		if err := os.Mkdir(filepath.Join(s.dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(s.dir, "work", "s.yml"), []byte(s.suite()), 0o600); err != nil {
		t.Fatal(err)
	}
	return s
}

// nuisances are programs that are hard to stop.
func (s *soak) nuisances() []string {
	list := []string{
		"exit 0", "exit 0", "exit 0", "exit 3", "sleep 0.2", "sleep 0.4",
		"trap \"\" TERM INT HUP; sleep 0.6; exit 0",
		"sleep 300 & exit 0",                                            // a child holds the pipes
		"(trap \"\" TERM HUP; exec sleep 300) >/dev/null 2>&1 & exit 0", // a deaf one in the group
		"exec <&- >&- 2>&-; sleep 0.1",
		"head -c 20000000 /dev/zero",
		"sh -c \"sh -c \\\"sleep 300\\\" & sleep 300\" & sleep 0.1; exit 1",
	}
	if s.end != "KILL" && hasSetsid() { // out of a watchdog's reach
		list = append(list, "setsid sh -c \"trap \\\"\\\" TERM; sleep 300 & sleep 300\" >/dev/null 2>&1 & exit 0")
	}
	return list
}

func hasSetsid() bool {
	_, err := exec.LookPath("setsid")
	return err == nil && isDir("/proc/self")
}

func isDir(p string) bool {
	fi, err := os.Stat(p)
	return err == nil && fi.IsDir()
}

func (s *soak) suite() string {
	nuisance := func() string {
		list := s.nuisances()
		return strconv.Quote(list[s.rnd.IntN(len(list))])
	}
	maybe := func(text string) string {
		if s.rnd.IntN(3) > 0 {
			return text
		}
		return ""
	}
	hook := func(phase string) string {
		// A hook's words are split by POSIX rules: the script goes into a file.
		name := phase + ".sh"
		script, _ := strconv.Unquote(nuisance())
		if err := os.WriteFile(filepath.Join(s.dir, "work", name), []byte(script+"\n"), 0o600); err != nil {
			panic(err)
		}
		return fmt.Sprintf("  %s: [sh %s, sh -c 'echo %s >> log']\n", phase, name, phase)
	}
	var b strings.Builder
	b.WriteString("servers: {api: {command: [mcptest, mock, --preset, echo], inherit_env: all}}\nhooks:\n  timeout: 2s\n")
	for _, p := range []string{"beforeAll", "beforeEach", "afterEach", "afterAll"} {
		b.WriteString(maybe(hook(p)))
	}
	b.WriteString("setup:\n  - run: [sh, -c, echo setup >> log]\n")
	b.WriteString(maybe(fmt.Sprintf("  - run: [soak-helper, listen, \"%d\", %s]\n    background: true\n    wait_for: tcp://127.0.0.1:%d\n    timeout: 10s\n",
		s.port, []string{"term", "deaf"}[s.rnd.IntN(2)], s.port)))
	b.WriteString(maybe(fmt.Sprintf("  - {run: [sh, -c, %s], background: true}\n", nuisance())))
	b.WriteString(maybe(fmt.Sprintf("  - {run: [sh, -c, %s]}\n", nuisance())))
	b.WriteString(maybe("  - {call: {tool: count}}\n"))
	b.WriteString(maybe(fmt.Sprintf("setup_per_test:\n  - {run: [sh, -c, %s], background: true}\n", nuisance())))
	fmt.Fprintf(&b, "teardown:\n  - {run: [sh, -c, %s], timeout: 2s}\n  - {run: [sh, -c, echo teardown >> log], always: true}\n", nuisance())
	b.WriteString("run_options: {parallel: 2}\ntools:\n")
	for i := range 4 {
		tool := []string{"{tool: count}", "{tool: slow, args: {ms: 200}}", "{tool: slow, args: {ms: 50000}, timeout: 1s}", "{tool: fail}"}[s.rnd.IntN(4)]
		fmt.Fprintf(&b, "  - {name: t%d, %s\n", i, tool[1:])
	}
	return b.String()
}

// run starts and interrupts the run, and returns its exit code.
func (s *soak) run(t testing.TB) string {
	t.Helper()
	work := filepath.Join(s.dir, "work")
	cmd := exec.Command("mcptest", "run", "s.yml", "--reporter", "pretty", "--reporter", "json=run.json")
	cmd.Dir = work
	cmd.Env = append(os.Environ(), "TMPDIR="+filepath.Join(s.dir, "tmp"), "CI=1", s.mark)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = w, &stderr
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	var out bytes.Buffer
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(&out, r)
	}()
	select {
	case <-read: // it ended before
	case <-time.After(s.after):
	}
	s.interrupt(cmd.Process, r)
	waited := make(chan error, 1)
	go func() { waited <- cmd.Wait() }()
	select {
	case <-waited:
	case <-time.After(patience()):
		_ = cmd.Process.Signal(syscall.SIGQUIT)
		<-waited
		t.Errorf("%s after %v: the run hangs\n%s", s.end, s.after, stderr.String())
	}
	r.Close()
	<-read
	state := cmd.ProcessState
	s.judge(t, state, out.Len() == 0)
	s.nothingLeft(t)
	if t.Failed() {
		t.Logf("%s after %v: %s\n%s%s\n%s", s.end, s.after, state, out.String(), stderr.String(), s.read("s.yml"))
		scripts, _ := filepath.Glob(filepath.Join(work, "*.sh"))
		for _, name := range scripts {
			t.Logf("%s: %s", filepath.Base(name), s.read(filepath.Base(name)))
		}
	}
	return s.end + ": " + state.String()
}

// patience is the time limit of a run: 40 s if the machine has a processor for each busy
// program, and up to five times that otherwise.
func patience() time.Duration {
	var load float64
	if b, err := os.ReadFile("/proc/loadavg"); err == nil {
		_, _ = fmt.Sscan(string(b), &load)
	}
	return time.Duration(float64(40*time.Second) * min(5, max(1, load/float64(runtime.NumCPU()))))
}

func (s *soak) interrupt(p *os.Process, stdout *os.File) {
	for i, name := range strings.Fields(s.end) {
		if i > 0 {
			<-time.After(time.Duration(s.rnd.IntN(300)) * time.Millisecond)
		}
		switch name {
		case "pipe":
			stdout.Close()
		case "nothing":
		default:
			_ = p.Signal(map[string]syscall.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP, "KILL": syscall.SIGKILL}[name])
		}
	}
}

// judge checks exit code and record. Silent means that the run had not started.
func (s *soak) judge(t testing.TB, state *os.ProcessState, silent bool) {
	codes := map[string]int{"INT": 130, "TERM": 143, "HUP": 129}
	var rec struct {
		ExitCode    int    `json:"exit_code"`
		Interrupted string `json:"interrupted"`
		Summary     struct{ Total int }
		Tests       []struct{ Name, Status string }
	}
	raw := s.read("run.json")
	if raw != "" {
		if err := json.Unmarshal([]byte(raw), &rec); err != nil {
			t.Errorf("the record can't be read: %v", err)
		}
	}
	log := strings.Fields(s.read("log"))
	done := slices.Contains(log, "teardown") || !slices.Contains(log, "setup")
	names := strings.Fields(s.end)
	ws := state.Sys().(syscall.WaitStatus)
	switch {
	case ws.Signal() == syscall.SIGKILL && names[0] == "KILL":
	case ws.Signaled() && silent && len(log) == 0:
		// Before signals are handled, and before any process is started.
	case ws.Signaled():
		t.Errorf("ended by %v", ws.Signal())
	case len(names) == 2 && state.ExitCode() == codes[names[1]]:
		// After the second signal, neither cleanup nor output is guaranteed.
	case rec.Interrupted != "":
		if want := codes[names[0]]; state.ExitCode() != want {
			t.Errorf("exit code %d, want %d", state.ExitCode(), want)
		}
		fallthrough
	default:
		if state.ExitCode() != rec.ExitCode || rec.Interrupted == "" && state.ExitCode() > 2 {
			t.Errorf("exit code %d, the record says %d", state.ExitCode(), rec.ExitCode)
		}
		if len(rec.Tests) != 4 || rec.Summary.Total != 4 {
			t.Errorf("%d tests in the record, want 4", len(rec.Tests))
		}
		if !done {
			t.Errorf("setup without teardown: %v", log)
		}
	}
}

func (s *soak) read(name string) string {
	b, err := os.ReadFile(filepath.Join(s.dir, "work", name))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		panic(err)
	}
	return string(b)
}

// nothingLeft searches for processes with the run's mark, files, and the port. Killed
// processes and a watchdog get a moment.
func (s *soak) nothingLeft(t testing.TB) {
	var left []string
	var port error
	testkit.Poll(2*time.Second, func() bool {
		left, port = marked(s.mark), s.portFree()
		if s.end != "KILL" && len(strings.Fields(s.end)) == 1 {
			return true // everything had to be gone when the program ended
		}
		return len(left) == 0 && port == nil
	})
	if port != nil {
		t.Errorf("the port is taken: %v", port)
	}
	for _, l := range left {
		t.Errorf("a process is left: %s", l)
	}
	entries, err := os.ReadDir(filepath.Join(s.dir, "tmp"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		t.Errorf("a file is left: %s", e.Name())
	}
	entries, err = os.ReadDir(filepath.Join(s.dir, "work"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if n := e.Name(); n != "log" && n != "s.yml" && n != "run.json" && !strings.HasSuffix(n, ".sh") {
			t.Errorf("a file is left: %s", n)
		}
	}
}

func (s *soak) portFree() error {
	l, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(s.port))
	if err == nil {
		err = l.Close()
	}
	return err
}

// marked lists the living processes whose environment contains the mark. Without /proc it
// finds none, and only the port is checked.
func marked(mark string) []string {
	var out []string
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, d := range dirs {
		env, err := os.ReadFile(filepath.Join(d, "environ"))
		if err != nil || !slices.Contains(strings.Split(string(env), "\x00"), mark) {
			continue // a zombie's environment is empty
		}
		cmd, _ := os.ReadFile(filepath.Join(d, "cmdline"))
		stat, _ := os.ReadFile(filepath.Join(d, "stat")) // parent, group, session
		out = append(out, strings.ReplaceAll(string(cmd), "\x00", " ")+"  "+string(stat[:min(len(stat), 60)]))
	}
	return out
}
