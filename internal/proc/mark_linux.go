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

// markName is the variable that all processes of a run carry.
const markName = "MCPTEST_RUN"

// newMark returns a mark that no other run has.
func newMark() string {
	return fmt.Sprintf("%s=%d-%x", markName, os.Getpid(), rand.Uint64())
}

// killMarked ends every process that carries the mark: those that left their
// group and session, and those whose start was under way when the runner died,
// which no other list has. It goes on until several looks have found none.
// Groups in let are let live: they were released.
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
		time.Sleep(15 * time.Millisecond) // a start may not have got to its exec yet
	}
}

// strays lists the living processes that carry the mark, as groups to be ended:
// each once, with what descends from it. Those in skip are left out, and so
// are this process and those it descends from.
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

// hasMark reports whether a process was started with the mark in its
// environment, alone or with the number of a name behind it. What it did to its
// environment since does not show.
func hasMark(pid int, mark string) bool {
	return slices.ContainsFunc(environ(pid), func(kv []byte) bool {
		rest, ok := bytes.CutPrefix(kv, []byte(mark))
		return ok && (len(rest) == 0 || rest[0] == '.')
	})
}

// markBehind is what follows prefix in the mark of a process, or "".
func markBehind(pid int, prefix string) string {
	for _, kv := range environ(pid) {
		if rest, ok := bytes.CutPrefix(kv, []byte(prefix)); ok {
			return string(rest)
		}
	}
	return ""
}

func environ(pid int) [][]byte {
	env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return nil
	}
	return bytes.Split(env, []byte{0})
}
