package proc

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"syscall"
	"time"
)

// markName is the environment variable of all processes of a run.
const markName = "MCPTEST_RUN"

// newMark returns a unique mark.
func newMark() string { return fmt.Sprintf("%s=%d-%x", markName, os.Getpid(), rand.Uint64()) }

// killMarked ends every process with the mark: those that left their group and
// session, and those that were being started when the runner died and are in no other
// list. It repeats the search until it finds none several times. It does not end the
// groups in let, which were released.
func killMarked(mark string, let map[int]bool) {
	if mark == "" {
		return
	}
	self := os.Getpid()
	for look, quiet := 0, 0; look < 100 && quiet < 3; look++ {
		quiet++
		for _, p := range processes() {
			if !p.Zombie && p.Pid != self && !let[p.Pgrp] && !let[p.Session] && hasMark(p.Pid, mark) {
				quiet = 0
				syscall.Kill(p.Pid, syscall.SIGKILL)
			}
		}
		time.Sleep(15 * time.Millisecond) // a process may not have reached its exec yet
	}
}

// strays returns the living processes with the mark as groups to end, each once,
// including its descendants. It omits those in skip, this process and its ancestors.
func strays(mark string, skip map[int]bool) []Ref {
	if mark == "" {
		return nil
	}
	table := processes()
	byPid := map[int]procInfo{}
	for _, p := range table {
		byPid[p.Pid] = p
	}
	ours := map[int]bool{}
	for pid := os.Getpid(); pid > 0 && !ours[pid]; pid = byPid[pid].Ppid {
		ours[pid] = true
	}
	marked := map[int]bool{}
	for _, p := range table {
		marked[p.Pid] = !p.Zombie && !ours[p.Pid] && !skip[p.Pid] && hasMark(p.Pid, mark)
	}
	covered := map[int]bool{}
	var out []Ref
	for _, leaders := range []bool{true, false} {
		for _, p := range table {
			if !marked[p.Pid] || marked[p.Ppid] || covered[p.Pid] || (p.Pgrp == p.Pid) != leaders {
				continue
			}
			ref := Ref{Name: commandLine(p.Pid), Pid: p.Pid, Start: p.Start}
			for _, m := range membersIn(table, ref) {
				covered[m.Pid] = true
			}
			out = append(out, ref)
		}
	}
	return out
}

// hasMark reports whether a process was started with the mark in its environment,
// with or without the number of a name. Later changes of its environment are not
// visible.
func hasMark(pid int, mark string) bool {
	return slices.ContainsFunc(environ(pid), func(kv []byte) bool {
		rest, ok := bytes.CutPrefix(kv, []byte(mark))
		return ok && (len(rest) == 0 || rest[0] == '.')
	})
}

// markSuffix returns the rest of the mark of a process after prefix, or "".
func markSuffix(pid int, prefix string) string {
	for _, kv := range environ(pid) {
		if rest, ok := bytes.CutPrefix(kv, []byte(prefix)); ok {
			return string(rest)
		}
	}
	return ""
}

// hasEnviron reports whether the environment of a process is known. It is not while the
// process replaces its program.
func hasEnviron(pid int) bool {
	env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	return err != nil || len(env) > 0
}

func environ(pid int) [][]byte {
	env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return nil
	}
	return bytes.Split(env, []byte{0})
}
