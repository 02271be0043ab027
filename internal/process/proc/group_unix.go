//go:build unix

package proc

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// sessionAttr makes the child the leader of a new session and group.
func sessionAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// group is the processes of one Start.
type group struct {
	ref Ref
}

// startGroup starts a command, which leads the group. The caller sets ref.
func startGroup(cmd *exec.Cmd) (*group, error) { return &group{}, cmd.Start() }

// term asks every process of the group to exit. SIGCONT lets a stopped one handle the
// signal.
func (g *group) term() { termGroup(g.ref) }

func (g *group) signal(sig os.Signal) {
	if s, ok := sig.(syscall.Signal); ok {
		signalGroup(g.ref, s)
	}
}

// termGroup also signals the process itself: an adopted process may not lead a group.
func termGroup(ref Ref) { signalGroup(ref, syscall.SIGTERM) }

func signalGroup(ref Ref, sig syscall.Signal) {
	if ref.Pid <= 1 || !sameGroup(ref) {
		return
	}
	if syscall.Kill(-ref.Pid, sig) != nil {
		syscall.Kill(ref.Pid, sig)
	}
	syscall.Kill(-ref.Pid, syscall.SIGCONT)
}

// termOne asks a process that left its group to exit.
func termOne(p procInfo) { signalOne(p, syscall.SIGTERM) }

func killOne(p procInfo) { signalOne(p, syscall.SIGKILL) }

// signalOne signals a process if it is still the same one.
func signalOne(p procInfo, sig syscall.Signal) {
	if p.Pid > 1 && startTime(p.Pid) == p.Start {
		syscall.Kill(p.Pid, sig)
		syscall.Kill(p.Pid, syscall.SIGCONT)
	}
}

func (g *group) kill() { killGroup(g.ref) }

// alive reports whether the group has members, including zombies. It is cheap.
func (g *group) alive() bool { return !errors.Is(syscall.Kill(-g.ref.Pid, 0), syscall.ESRCH) }

// goneWithin waits until the group has no living member.
func (g *group) goneWithin(d time.Duration) bool {
	return backoff(d, func() bool { return !g.alive() || len(groupMembers(g.ref)) == 0 })
}

func (g *group) members() []Leftover { return leftovers(groupMembers(g.ref)) }

func (g *group) release() {}

func (g *group) close() {}

// killGroup sends SIGKILL to the rest of a group if it is still the group that was
// started.
func killGroup(ref Ref) {
	if ref.Pid <= 1 || !sameGroup(ref) {
		return
	}
	rest := groupMembers(ref) // before killing: dead processes have no children
	syscall.Kill(-ref.Pid, syscall.SIGKILL)
	for _, m := range rest {
		if m.Pgrp != ref.Pid {
			syscall.Kill(m.Pid, syscall.SIGKILL)
		}
	}
}

func signalName(state *os.ProcessState) string {
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return ws.Signal().String()
	}
	return ""
}

// interruptRead makes a Read that waits for a pipe return.
func interruptRead(f *os.File) { f.SetReadDeadline(time.Unix(1, 0)) }

// readNow reads from the pipe without waiting.
func readNow(f *os.File, p []byte) (n int, ok bool) {
	f.SetReadDeadline(time.Time{})
	raw, err := f.SyscallConn()
	if err != nil {
		return 0, false
	}
	err = raw.Read(func(fd uintptr) bool {
		for {
			n, err = syscall.Read(int(fd), p)
			if !errors.Is(err, syscall.EINTR) {
				return true
			}
		}
	})
	interruptRead(f)
	return n, err == nil && n > 0
}
