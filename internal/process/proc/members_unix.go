//go:build unix

package proc

import "os"

// groupMembers returns the living processes of a group; see membersIn.
func groupMembers(ref Ref) []procInfo { return membersIn(processes(), ref) }

// membersIn returns the living processes of a group: its leader, processes with its
// group or session id, and their descendants. It reaps dead members that are children
// of this process.
func membersIn(table []procInfo, ref Ref) []procInfo {
	if ref.Pid <= 1 || !sameGroup(ref) {
		return nil
	}
	self := os.Getpid()
	var out []procInfo
	in := map[int]bool{}
	for _, p := range table {
		if p.Pid == self || p.Pid != ref.Pid && p.Pgrp != ref.Pid && p.Session != ref.Pid {
			continue
		}
		if !p.Zombie {
			in[p.Pid] = true
			out = append(out, p)
		} else if p.Ppid == self && p.Pid != ref.Pid {
			reap(p.Pid)
		}
	}
	for more := len(out) > 0; more; {
		more = false
		for _, p := range table {
			if in[p.Ppid] && !in[p.Pid] && !p.Zombie && p.Pid != self {
				in[p.Pid], more = true, true
				out = append(out, p)
			}
		}
	}
	return out
}
