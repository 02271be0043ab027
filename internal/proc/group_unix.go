//go:build unix

package proc

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// sessionAttr puts the child into a session and group of its own.
func sessionAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// group is the set of processes one Start began.
type group struct {
	ref Ref
}

func newGroup(_ *exec.Cmd, ref Ref) *group { return &group{ref: ref} }

// term asks every process of the group to end. SIGCONT lets a stopped one
// hear it.
func (g *group) term() { termGroup(g.ref) }

func (g *group) signal(sig os.Signal) {
	if s, ok := sig.(syscall.Signal); ok {
		signalGroup(g.ref, s)
	}
}

// termGroup also signals the process itself: one that was adopted may lead no
// group.
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

// termOne asks a process to end that has left its group.
func termOne(p procInfo) { signalOne(p, syscall.SIGTERM) }

func killOne(p procInfo) { signalOne(p, syscall.SIGKILL) }

// signalOne signals a process if it is still the one that was found.
func signalOne(p procInfo, sig syscall.Signal) {
	if p.Pid > 1 && startTime(p.Pid) == p.Start {
		syscall.Kill(p.Pid, sig)
		syscall.Kill(p.Pid, syscall.SIGCONT)
	}
}

func (g *group) kill() { killGroup(g.ref) }

// alive tells cheaply whether the group has members, zombies included.
func (g *group) alive() bool { return !errors.Is(syscall.Kill(-g.ref.Pid, 0), syscall.ESRCH) }

// goneWithin waits for the group to have no living member.
func (g *group) goneWithin(d time.Duration) bool {
	return backoff(d, func() bool { return !g.alive() || len(groupMembers(g.ref)) == 0 })
}

func (g *group) members() []Leftover { return leftovers(groupMembers(g.ref)) }

func (g *group) release() {}

func (g *group) close() {}

// killGroup sends SIGKILL to what is left of a group, after making sure that
// it is still the group that was started.
func killGroup(ref Ref) {
	if ref.Pid <= 1 || !sameGroup(ref) {
		return
	}
	rest := groupMembers(ref) // before: the dead have no children
	syscall.Kill(-ref.Pid, syscall.SIGKILL)
	for _, m := range rest {
		if m.Pgrp != ref.Pid {
			syscall.Kill(m.Pid, syscall.SIGKILL)
		}
	}
}

// sameGroup reports whether the id still means the group that was started: while
// a process has this id, it must be the one that was started then.
func sameGroup(ref Ref) bool {
	now := startTime(ref.Pid)
	return now == "" || ref.Start == "" || now == ref.Start
}

func signalName(state *os.ProcessState) string {
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return ws.Signal().String()
	}
	return ""
}

// interruptRead makes a Read that waits for a pipe return.
func interruptRead(f *os.File) { f.SetReadDeadline(time.Unix(1, 0)) }

// readNow reads what is in the pipe without waiting.
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
