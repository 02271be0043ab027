//go:build linux

package proc_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"mcptest/internal/base/testkit"
	"mcptest/internal/process/proc"

	"go.uber.org/goleak"
)

// helpers are the programs the tests start: this binary with the name and its
// arguments.
var helpers = map[string]func(args []string){
	"exit": func(a []string) {
		fmt.Println("out")
		fmt.Fprintln(os.Stderr, "err")
		code, _ := strconv.Atoi(a[0])
		os.Exit(code)
	},
	"args": func(a []string) { json.NewEncoder(os.Stdout).Encode(a) },
	"env":  func([]string) { fmt.Print(strings.Join(os.Environ(), "\n")) },
	"cat":  func([]string) { io.Copy(os.Stdout, os.Stdin) },
	"eof":  func([]string) { io.Copy(io.Discard, os.Stdin) },
	"sleep": func([]string) {
		fmt.Println("ready")
		hang()
	},
	"stubborn": func(a []string) { // ignores the end of its input and SIGTERM
		signal.Ignore(syscall.SIGTERM)
		fmt.Println("ready")
		if len(a) > 0 {
			fmt.Fprintln(os.Stderr, a[0])
		}
		hang()
	},
	"flood": func(a []string) { // bytes to both streams, numbered lines
		n, _ := strconv.Atoi(a[0])
		line := bytes.Repeat([]byte("x"), 63)
		line = append(line, '\n')
		block := bytes.Repeat(line, 1024)
		for done := 0; done < n; done += len(block) {
			os.Stdout.Write(block)
			os.Stderr.Write(block)
		}
		fmt.Println("last out")
		fmt.Fprintln(os.Stderr, "last err")
	},
	"closed": func([]string) { // closes everything and continues
		for fd := range 3 {
			syscall.Close(fd)
		}
		hang()
	},
	"child": leaveChild,
	"parent": func(a []string) { // the same, but stays until it is asked to end
		leaveChild(a)
		io.Copy(io.Discard, os.Stdin)
	},
	"waiter": func(a []string) { // waits for a child that holds the pipes
		c := self(a...)
		c.Stdout, c.Stderr = os.Stdout, os.Stderr
		check(c.Start())
		c.Wait()
	},
	"daemon": func([]string) { // leaves a daemon in a separate session
		c := self("sleep")
		c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		c.Stdout, c.Stderr = os.Stdout, os.Stderr
		check(c.Start())
		fmt.Println("daemon", c.Process.Pid)
	},
	"apart": func([]string) { // leaves a child in a separate group of the same session, and ends with its input
		c := self("sleep")
		c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		check(c.Start())
		fmt.Println("apart", c.Process.Pid)
		io.Copy(io.Discard, os.Stdin)
	},
	"ticker": func([]string) {
		tick := time.Tick(20 * time.Millisecond)
		for i := 0; ; i++ {
			fmt.Println("tick", i)
			<-tick
		}
	},
	"watchdog": func([]string) { proc.WatchdogMain(os.Stdin) },
	"runner":   runner,
	"churn":    func([]string) { churner() },
	"adopt":    func(a []string) { adopter(a) },
}

// leaveChild leaves a child in its group, holding the pipes.
func leaveChild(a []string) {
	c := self("sleep")
	if len(a) > 0 {
		c = self(a[0])
	}
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	check(c.Start())
	fmt.Println("child", c.Process.Pid)
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(9)
	}
}

func exe() string {
	e, err := os.Executable()
	check(err)
	return e
}

func self(args ...string) *exec.Cmd {
	return exec.Command(exe(), append([]string{"helper"}, args...)...)
}

// argv returns the command of a helper program.
func argv(args ...string) []string { return append([]string{exe(), "helper"}, args...) }

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "helper" {
		helpers[os.Args[2]](os.Args[3:])
		return
	}
	os.Setenv("GORACE", "atexit_sleep_ms=0") // otherwise every helper takes a second to end
	code := m.Run()
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, "goroutines left behind:", err)
			code = 1
		}
		if left := survivors(); len(left) > 0 {
			fmt.Fprintln(os.Stderr, "processes left behind:", left)
			code = 1
		}
	}
	os.Exit(code)
}

// survivors lists running helper programs (Linux).
func survivors() []string {
	var out []string
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, d := range dirs {
		line, _ := os.ReadFile(d + "/cmdline")
		if bytes.HasPrefix(line, []byte(exe()+"\x00helper\x00")) {
			out = append(out, d+" "+string(bytes.ReplaceAll(line, []byte{0}, []byte{' '})))
		}
	}
	return out
}

// hang keeps a helper running longer than its test needs. The helper ends by itself,
// so that a broken test leaves nothing running.
func hang() { <-time.After(time.Minute) }

// alive reports whether a process exists and is not a zombie.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return rest != "" && rest[0] != 'Z'
}

func start(t *testing.T, s proc.Spec) *proc.Process {
	t.Helper()
	p, err := proc.Start(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Stop(context.Background(), proc.Grace{Stdin: -1, Term: -1}) })
	return p
}

// ready waits for the first line of output.
func ready(t *testing.T, p *proc.Process) string {
	t.Helper()
	testkit.Wait(t, "first line", func() bool { return len(p.Output().Lines(1)) > 0 })
	return p.Output().Lines(1)[0]
}

// pidIn returns the number after word in the first line of output that contains word.
func pidIn(t *testing.T, out, word string) int {
	t.Helper()
	sc := bufio.NewScanner(strings.NewReader(out))
	for sc.Scan() {
		if rest, ok := strings.CutPrefix(sc.Text(), word+" "); ok {
			if n, err := strconv.Atoi(strings.TrimSpace(rest)); err == nil {
				return n
			}
		}
	}
	t.Fatalf("no line %q in %q", word, out)
	return 0
}

// within fails if fn takes much longer than on a busy machine.
func within(t *testing.T, fn func()) {
	t.Helper()
	begin := time.Now()
	fn()
	if took := time.Since(begin); took > time.Minute {
		t.Errorf("took %s", took)
	}
}

func kill(pid int) { syscall.Kill(pid, syscall.SIGKILL) }
