package proc

import "strings"

// procInfo is one line of the process table.
type procInfo struct {
	Pid, Ppid, Pgrp, Session int
	Zombie                   bool
	Start                    string
	Command                  string
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
