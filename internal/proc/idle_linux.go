package proc

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// idle reports whether every thread of the process sleeps, and of those of its
// descendants that share its standard output: behind a shell or npx they are
// the server. Two looks have to find the same: a thread that ran in between has
// been counted by the kernel, so one that woke another up is not missed.
func (p *Process) idle() bool {
	out, _ := os.Readlink(fdPath(p.ref.Pid, "1"))
	var first, second bytes.Buffer
	return asleep(&first, p.ref.Pid, out) && asleep(&second, p.ref.Pid, out) && bytes.Equal(first.Bytes(), second.Bytes())
}

// asleep looks at the threads of a process and its descendants, and writes down
// how often each of them has run.
func asleep(seen *bytes.Buffer, pid int, out string) bool {
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
		if i := bytes.Index(status, []byte("voluntary_ctxt_switches:")); i >= 0 {
			seen.Write(status[i:])
		}
		children, _ := readProc(dir + t.Name() + "/children")
		for _, f := range strings.Fields(string(children)) {
			child, err := strconv.Atoi(f)
			if err != nil || !partOf(child, out) {
				continue
			}
			if !asleep(seen, child, out) {
				return false
			}
		}
	}
	return true
}

// sleepState reports whether a thread waits for something, or was stopped
// (proc_pid_status(5)).
func sleepState(status []byte) bool {
	_, rest, _ := bytes.Cut(status, []byte("\nState:\t"))
	return len(rest) > 0 && strings.IndexByte("STt", rest[0]) >= 0
}

// partOf reports whether a child has the given standard output, or is ending:
// then its files are closed already. Its first thread can be a zombie before
// the others have ended, which is when its parent is notified.
func partOf(pid int, out string) bool {
	own, err := os.Readlink(fdPath(pid, "1"))
	if errors.Is(err, fs.ErrNotExist) {
		p, ok := readStat(pid)
		threads, _ := os.ReadDir("/proc/" + strconv.Itoa(pid) + "/task")
		return ok && (!p.Zombie || len(threads) > 1)
	}
	return err == nil && own == out
}

func fdPath(pid int, fd string) string { return "/proc/" + strconv.Itoa(pid) + "/fd/" + fd }
