package proc

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Watchdog is a second process that outlives the runner briefly: it reads the living
// groups from a pipe and kills them if the pipe is closed without a goodbye, because
// the runner was killed. A nil Watchdog does nothing.
type Watchdog struct {
	mu   sync.Mutex
	cmd  *exec.Cmd
	pipe *os.File
	err  error
	mark string // in the environment of all processes to kill
}

// StartWatchdog starts exe, which is this program, with args, which must lead to a
// call of WatchdogMain with its standard input. The process has its own session, runs
// in the root directory, inherits no files, and has only GOMAXPROCS=1 in its
// environment. If the system ends the groups by itself (Windows), it starts nothing.
func StartWatchdog(exe string, args ...string) (*Watchdog, error) {
	if !needsWatchdog {
		return nil, nil
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("open the watchdog's pipe: %w", err)
	}
	defer r.Close()
	path := exe
	if runtime.GOOS == "linux" {
		path = "/proc/self/exe" // changes the process name, so that killall does not match it
	}
	cmd := &exec.Cmd{
		Path:        path,
		Args:        append([]string{exe}, args...),
		Dir:         "/",
		Env:         []string{"GOMAXPROCS=1"},
		Stdin:       r,
		SysProcAttr: sessionAttr(),
	}
	if err := cmd.Start(); err != nil {
		w.Close()
		return nil, fmt.Errorf("start the watchdog: %w", err)
	}
	g := &Watchdog{cmd: cmd, pipe: w, mark: newMark()}
	g.send("mark " + g.mark + "\n")
	return g, nil
}

// Add registers a group to kill if the runner dies.
func (g *Watchdog) Add(ref Ref) { g.tell("add", ref) }

// Remove unregisters a group that has ended. Processes that left it are found by the
// mark.
func (g *Watchdog) Remove(ref Ref) { g.tell("del", ref) }

// Release unregisters a group that keeps running, and the processes that left it.
func (g *Watchdog) Release(ref Ref) { g.tell("let", ref) }

func (g *Watchdog) tell(verb string, ref Ref) {
	g.send(fmt.Sprintf("%s %d %s\n", verb, ref.Pid, ref.Start))
}

// send writes one line. It does not block if the watchdog does not read.
func (g *Watchdog) send(line string) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.err != nil {
		return
	}
	g.pipe.SetWriteDeadline(time.Now().Add(time.Second))
	if _, err := io.WriteString(g.pipe, line); err != nil {
		g.err = fmt.Errorf("notify the watchdog: %w", err)
	}
}

// Err returns why the watchdog no longer works; nil while it does.
func (g *Watchdog) Err() error {
	if g == nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.err
}

// Close says goodbye: the watchdog exits and kills nothing. Close does not wait for a
// watchdog that is still starting.
func (g *Watchdog) Close() error {
	if g == nil {
		return nil
	}
	g.send("bye\n")
	g.cmd.Process.Kill()
	g.pipe.Close()
	_ = g.cmd.Wait() // an error if it was closed before
	return g.Err()
}

func (g *Watchdog) ref() Ref {
	if g == nil {
		return Ref{}
	}
	return Ref{Pid: g.cmd.Process.Pid, Start: startTime(g.cmd.Process.Pid)}
}

// WatchdogMain is the main function of the watchdog process; r is its standard input.
// It returns after a goodbye, or after it has killed all groups because the input
// ended without one.
func WatchdogMain(r io.Reader) {
	ignoreSignals()
	mark := ""
	let := map[int]bool{} // groups that were released
	groups := map[string]Ref{}
	files := map[string]func(string) error{} // by quoted path: how to remove it
	in := bufio.NewScanner(r)
	for in.Scan() {
		verb, rest, _ := strings.Cut(in.Text(), " ")
		num, start, _ := strings.Cut(rest, " ")
		pid, err := strconv.Atoi(num)
		switch {
		case verb == "bye":
			return
		case verb == "mark":
			mark = rest
		case verb == "file":
			files[rest] = os.Remove
		case verb == "dir":
			files[rest] = RemoveDir
		case verb == "kept":
			delete(files, rest)
		case err != nil:
		case verb == "add":
			groups[rest] = Ref{Pid: pid, Start: start}
			delete(let, pid)
		case verb == "del":
			delete(groups, rest)
		case verb == "let":
			delete(groups, rest)
			let[pid] = true
		}
	}
	for _, ref := range groups {
		killGroup(ref)
	}
	killMarked(mark, let)
	for quoted, remove := range files { // no process writes there any more
		if path, err := strconv.Unquote(quoted); err == nil {
			_ = remove(path)
		}
	}
}
