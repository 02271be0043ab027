package proc

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"os"
	"strconv"
	"strings"
)

// idle reports whether every thread of the process sleeps, including those of
// descendants with the same standard output: behind a shell or npx they are the
// server. The kernel counts how often a thread has run, so a thread that ran between
// two checks is noticed. One thread may run occasionally, if a third check finds that
// no other did: the monitor thread of Go's runtime runs for 10 ms after the last
// thread began to wait.
func (p *Process) idle() bool {
	out, _ := os.Readlink(fdPath(p.ref.Pid, "1"))
	before := map[string]string{}
	if !asleep(before, p.ref.Pid, out) {
		return false
	}
	for _, most := range []int{0, 1} {
		now := map[string]string{}
		if !asleep(now, p.ref.Pid, out) || len(now) != len(before) {
			return false
		}
		maps.DeleteFunc(now, func(thread, switches string) bool { return before[thread] == switches })
		if len(now) <= most {
			return true
		}
	}
	return false
}

// asleep checks the threads of a process and its descendants, and records how often
// each of them has run.
func asleep(seen map[string]string, pid int, out string) bool {
	dir := "/proc/" + strconv.Itoa(pid) + "/task/"
	threads, err := os.ReadDir(dir)
	if err != nil || len(threads) == 0 {
		return false
	}
	for _, t := range threads {
		status, err := readProc(dir + t.Name() + "/status")
		if err != nil || !sleepState(status) {
			return false
		}
		_, switches, _ := bytes.Cut(status, []byte("\nvoluntary_ctxt_switches:"))
		seen[t.Name()] = string(switches)
		children, _ := readProc(dir + t.Name() + "/children")
		for _, f := range strings.Fields(string(children)) {
			child, err := strconv.Atoi(f)
			if err != nil || !sharesOutput(child, out) {
				continue
			}
			if !asleep(seen, child, out) {
				return false
			}
		}
	}
	return true
}

// sleepState reports whether a thread waits or is stopped (proc_pid_status(5)).
func sleepState(status []byte) bool {
	_, rest, _ := bytes.Cut(status, []byte("\nState:\t"))
	return len(rest) > 0 && strings.IndexByte("STt", rest[0]) >= 0
}

// sharesOutput reports whether a child has the given standard output, or is exiting and has
// closed its files. Its first thread can be a zombie before the others have ended.
func sharesOutput(pid int, out string) bool {
	own, err := os.Readlink(fdPath(pid, "1"))
	if errors.Is(err, fs.ErrNotExist) {
		p, ok := readStat(pid)
		threads, _ := os.ReadDir("/proc/" + strconv.Itoa(pid) + "/task")
		return ok && (!p.Zombie || len(threads) > 1)
	}
	return err == nil && own == out
}

func fdPath(pid int, fd string) string { return "/proc/" + strconv.Itoa(pid) + "/fd/" + fd }
