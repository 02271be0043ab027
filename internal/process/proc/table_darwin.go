package proc

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

const szomb = 5 // SZOMB of <sys/proc.h>

func infoOf(k *unix.KinfoProc) procInfo {
	session, _ := unix.Getsid(int(k.Proc.P_pid))
	return procInfo{
		Pid: int(k.Proc.P_pid), Ppid: int(k.Eproc.Ppid), Pgrp: int(k.Eproc.Pgid), Session: session,
		Zombie:  k.Proc.P_stat == szomb,
		Start:   fmt.Sprintf("%d.%06d", k.Proc.P_starttime.Sec, k.Proc.P_starttime.Usec),
		Command: unix.ByteSliceToString(k.Proc.P_comm[:]),
	}
}

// startTime returns the start time of a process, or "".
func startTime(pid int) string {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(k.Proc.P_pid) != pid {
		return ""
	}
	return infoOf(k).Start
}

func processes() []procInfo {
	list, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil
	}
	var out []procInfo
	for i := range list {
		out = append(out, infoOf(&list[i]))
	}
	return out
}

// commandLine returns the process id: the command line is not available.
func commandLine(pid int) string { return fmt.Sprintf("[%d]", pid) }

// reap does nothing: launchd adopts orphans.
func reap(int) { _ = os.Getpid }
