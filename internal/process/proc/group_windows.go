package proc

import (
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

const needsWatchdog = false // the job objects end with the runner's handles

var errNoExec error = windows.ERROR_BAD_EXE_FORMAT

func sessionAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
}

// group is a job object with the process and its descendants.
type group struct {
	ref Ref
	mu  sync.Mutex
	job windows.Handle // 0: not created, or closed
}

// startGroup starts a command in a new job object. The caller sets ref.
func startGroup(cmd *exec.Cmd) (*group, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, fmt.Errorf("create a job object: %w", err)
	}
	if err = setKillOnClose(job, true); err == nil {
		cmd.Process, err = startInJob(cmd, job)
	}
	if err != nil {
		windows.CloseHandle(job)
		return nil, err
	}
	return &group{job: job}, nil
}

func setKillOnClose(job windows.Handle, on bool) error {
	var info windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	if on {
		info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	}
	_, err := windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	return err
}

func (g *group) term() { termGroup(g.ref) }

func (g *group) signal(os.Signal) { g.term() }

// termGroup sends CTRL_BREAK, which reaches programs on the same console only.
func termGroup(ref Ref) {
	if ref.Pid > 0 && sameGroup(ref) {
		windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(ref.Pid))
	}
}

func (g *group) kill() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.job != 0 {
		windows.TerminateJobObject(g.job, 1)
		return
	}
	killGroup(g.ref)
}

// pids lists the processes in the job.
func (g *group) pids() []int {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.job == 0 {
		return nil
	}
	const most = 1024
	var list struct {
		Assigned, InList uint32
		Pids             [most]uintptr
	}
	err := windows.QueryInformationJobObject(g.job, windows.JobObjectBasicProcessIdList, uintptr(unsafe.Pointer(&list)), uint32(unsafe.Sizeof(list)), nil)
	if err != nil && err != windows.ERROR_MORE_DATA {
		return nil
	}
	var out []int
	for _, p := range list.Pids[:min(list.InList, most)] {
		out = append(out, int(p))
	}
	return out
}

func (g *group) alive() bool { return len(g.pids()) > 0 }

func (g *group) goneWithin(d time.Duration) bool {
	return backoff(d, func() bool { return !g.alive() })
}

func (g *group) members() []Leftover {
	names := map[int]string{}
	for _, p := range processes() {
		names[p.Pid] = p.Command
	}
	var list []procInfo
	for _, pid := range g.pids() {
		list = append(list, procInfo{Pid: pid, Command: names[pid]})
	}
	return leftovers(list)
}

// release keeps the processes running after the handle is closed.
func (g *group) release() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.job != 0 {
		setKillOnClose(g.job, false)
		windows.CloseHandle(g.job)
		g.job = 0
	}
}

func (g *group) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.job != 0 {
		windows.CloseHandle(g.job)
		g.job = 0
	}
}

// killGroup ends a process that is not in a job of this program, and its descendants.
func killGroup(ref Ref) {
	for _, m := range groupMembers(ref) {
		terminate(m.Pid)
	}
}

func terminate(pid int) {
	h, err := windows.OpenProcess(windows.PROCESS_TERMINATE, false, uint32(pid))
	if err != nil {
		return
	}
	windows.TerminateProcess(h, 1)
	windows.CloseHandle(h)
}

// termOne does nothing: on Windows only a group can be asked to exit.
func termOne(procInfo) {}

// killOne ends a process if it is still the same one.
func killOne(p procInfo) {
	if startTime(p.Pid) == p.Start {
		terminate(p.Pid)
	}
}

func signalName(*os.ProcessState) string { return "" }

func ignoreSignals() {}

// interruptRead closes the pipe, because Windows has no other way to end a read.
func interruptRead(f *os.File) { f.Close() }

func readNow(*os.File, []byte) (int, bool) { return 0, false }
