package proc

import "strings"

// procInfo is one line of the process table.
type procInfo struct {
	Pid, Ppid, Pgrp, Session int
	Zombie                   bool
	Start                    string
	Command                  string
}

// RefOf identifies a running process, which need not lead a group.
func RefOf(pid int) (Ref, bool) {
	ref := Ref{Pid: pid, Start: startTime(pid)}
	return ref, ref.Start != ""
}

// Members returns the ids of the living processes of a group and of their descendants.
func Members(ref Ref) (pids []int) {
	for _, p := range groupMembers(ref) {
		pids = append(pids, p.Pid)
	}
	return pids
}

// maxCommand is the length of a command line in a Leftover.
const maxCommand = 200

func leftovers(list []procInfo) []Leftover {
	var out []Leftover
	for _, p := range list {
		cmd := p.Command
		if cmd == "" {
			cmd = commandLine(p.Pid)
		}
		if len(cmd) > maxCommand {
			cmd = strings.ToValidUTF8(cmd[:maxCommand], "") + "…"
		}
		out = append(out, Leftover{Pid: p.Pid, Command: cmd})
	}
	return out
}

// sameGroup reports whether the id still belongs to the group that was started: a
// process with this id must have the same start time.
func sameGroup(ref Ref) bool {
	now := startTime(ref.Pid)
	return now == "" || ref.Start == "" || now == ref.Start
}
