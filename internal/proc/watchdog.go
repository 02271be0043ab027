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

// Watchdog is a second process that outlives the runner by a moment: it reads
// the names of the living groups from a pipe and kills them when the pipe
// closes without a goodbye, that is when the runner was killed. A nil Watchdog
// does nothing.
type Watchdog struct {
	mu   sync.Mutex
	cmd  *exec.Cmd
	pipe *os.File
	err  error
	mark string // in the environment of all that is to be killed
}

// StartWatchdog starts exe, which is this program, with args, which must end up
// in WatchdogMain with its standard input. It runs in a session of its own, in the root directory,
// with one scheduler thread as its whole environment, and holds none of the runner's files. Where the
// system ends the groups by itself (Windows) nothing is started.
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
		path = "/proc/self/exe" // gives the process another name, so that killall spares it
	}
	cmd := &exec.Cmd{Path: path, Args: append([]string{exe}, args...), Dir: "/", Env: []string{"GOMAXPROCS=1"}, Stdin: r, SysProcAttr: sessionAttr()}
	if err := cmd.Start(); err != nil {
		w.Close()
		return nil, fmt.Errorf("start the watchdog: %w", err)
	}
	g := &Watchdog{cmd: cmd, pipe: w, mark: newMark()}
	g.send("mark " + g.mark + "\n")
	return g, nil
}

// Add names a group to be killed when the runner dies.
func (g *Watchdog) Add(ref Ref) { g.tell("add", ref) }

// Remove forgets a group that has ended. Processes that left it may live; the
// mark finds them.
func (g *Watchdog) Remove(ref Ref) { g.tell("del", ref) }

// Release forgets a group that is to live on, with all that left it.
func (g *Watchdog) Release(ref Ref) { g.tell("let", ref) }

func (g *Watchdog) tell(verb string, ref Ref) {
	g.send(fmt.Sprintf("%s %d %s\n", verb, ref.Pid, ref.Start))
}

// send writes one line; a watchdog that does not read must not hang the runner.
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
		g.err = fmt.Errorf("tell the watchdog: %w", err)
	}
}

// Err tells why the watchdog can no longer be relied on; nil while it can.
func (g *Watchdog) Err() error {
	if g == nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.err
}

// Close says goodbye: the watchdog ends at once and kills nothing. It is not
// waited for any longer than it takes to end it: after a short run it may still
// be starting.
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

// WatchdogMain is what the watchdog process runs, with its standard input: it
// returns after a goodbye, or after it has killed all groups it was notified of
// because the input ended without one.
func WatchdogMain(r io.Reader) {
	ignoreSignals()
	mark := ""
	let := map[int]bool{} // groups that were released
	groups := map[string]Ref{}
	files := map[string]func(string) error{} // by quoted path: how it is removed
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
	for quoted, remove := range files { // now that no process writes there
		if path, err := strconv.Unquote(quoted); err == nil {
			_ = remove(path)
		}
	}
}
