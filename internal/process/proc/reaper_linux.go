package proc

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Reaper adopts orphans: a process that a server leaves running becomes a child of
// this process when its parent dies, even a daemon that left its group. A nil Reaper
// does nothing.
type Reaper struct {
	session int
	before  map[int]string // children at the time of Adopt, by start time

	mu    sync.Mutex
	owned map[int]string // children that os/exec waits for, by start time
	ended map[int]string // formerly owned; os/exec may not have reaped them yet
	dead  map[int]bool   // zombies found by the last check
	let   map[int]bool   // released

	stop chan struct{}
	gone chan struct{}
}

const reapEvery = time.Second

// Adopt makes this process the subreaper of its descendants (PR_SET_CHILD_SUBREAPER,
// prctl(2)) until Close. Until then, every Start needs a Registry with the Reaper;
// other children of os/exec are recognized by this process's session and ignored.
//
// Adopted processes that die are reaped about once a second.
func Adopt() (*Reaper, error) {
	session, err := unix.Getsid(0)
	if err != nil {
		return nil, fmt.Errorf("read the session id: %w", err)
	}
	r := &Reaper{
		session: session,
		before:  map[int]string{},
		owned:   map[int]string{},
		ended:   map[int]string{},
		dead:    map[int]bool{},
		let:     map[int]bool{},
		stop:    make(chan struct{}),
		gone:    make(chan struct{}),
	}
	for _, p := range listChildren() {
		r.before[p.Pid] = p.Start
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("become the subreaper: %w", err)
	}
	go r.loop()
	return r, nil
}

func (r *Reaper) loop() {
	defer close(r.gone)
	tick := time.NewTicker(reapEvery)
	defer tick.Stop()
	for {
		select {
		case <-r.stop:
			return
		case <-tick.C:
			r.reapDead()
		}
	}
}

// reapDead reaps adopted zombies that the last check found too: a child that another
// goroutine waits for has been reaped by then.
func (r *Reaper) reapDead() {
	list := listChildrenFast()
	r.mu.Lock()
	defer r.mu.Unlock()
	dead := map[int]bool{}
	here := map[int]bool{}
	for _, p := range list {
		here[p.Pid] = true
		if r.foreign(p) {
			continue
		}
		if p.Zombie && r.dead[p.Pid] {
			reap(p.Pid)
		} else if p.Zombie {
			dead[p.Pid] = true
		}
	}
	r.dead = dead
	maps.DeleteFunc(r.ended, func(pid int, _ string) bool { return !here[pid] })
}

// findAdopted returns the children that this program did not start, including zombies.
func (r *Reaper) findAdopted() []procInfo {
	list := listChildren()
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.DeleteFunc(list, r.foreign)
}

// foreign reports whether a child must not be reaped here: this program started it,
// had it before Adopt, or released it.
func (r *Reaper) foreign(p procInfo) bool {
	return p.Session == r.session || r.let[p.Pid] ||
		r.owned[p.Pid] == p.Start || r.ended[p.Pid] == p.Start || r.before[p.Pid] == p.Start
}

func (r *Reaper) own(ref Ref) {
	if r == nil || ref.Pid == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.owned[ref.Pid] = ref.Start
}

func (r *Reaper) disown(ref Ref) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.owned[ref.Pid] == ref.Start {
		delete(r.owned, ref.Pid)
		r.ended[ref.Pid] = ref.Start
	}
}

// kill sends SIGKILL to adopted processes and all their descendants, because this
// process may end before they would be adopted. It does not wait. The next check
// finds processes that are forked in between.
func (r *Reaper) kill() {
	if r == nil {
		return
	}
	for range 5 {
		in := map[int]bool{}
		for _, p := range r.findAdopted() {
			in[p.Pid] = !p.Zombie
		}
		found := false
		for _, p := range descendants(processes(), in) {
			found = true
			syscall.Kill(p, syscall.SIGKILL)
		}
		if !found {
			return
		}
	}
}

// descendants returns the living processes of in and all their descendants.
func descendants(table []procInfo, in map[int]bool) []int {
	var out []int
	for more := true; more; {
		more = false
		for _, p := range table {
			if !p.Zombie && in[p.Ppid] && !in[p.Pid] {
				in[p.Pid], more = true, true
			}
		}
	}
	for pid, living := range in {
		if living {
			out = append(out, pid)
		}
	}
	return out
}

// sweep kills the adopted processes that are alive after a grace period (none if ctx is done), and
// reaps and returns them. Their children may be adopted then, so it repeats until there are none,
// for at most killTime. nameOf returns the name of a process's origin.
func (r *Reaper) sweep(ctx context.Context, nameOf func(pid int) string) []Leftover {
	if r == nil {
		return nil
	}
	backoff(leftoverGrace, func() bool {
		return ctx.Err() != nil || !slices.ContainsFunc(r.findAdopted(), func(p procInfo) bool { return !p.Zombie })
	})
	seen := map[int]bool{}
	var out []Leftover
	backoff(killTime, func() bool {
		rest := 0
		for _, p := range r.findAdopted() {
			if p.Zombie {
				reap(p.Pid)
				continue
			}
			rest++
			if !seen[p.Pid] {
				seen[p.Pid] = true
				left := leftovers([]procInfo{p})[0]
				left.Of = nameOf(p.Pid)
				out = append(out, left)
			}
			syscall.Kill(p.Pid, syscall.SIGKILL)
		}
		return rest == 0
	})
	return out
}

// strays returns the adopted living processes that are not in any of the groups.
func (r *Reaper) strays(groups []Ref) []Ref {
	if r == nil {
		return nil
	}
	var out []Ref
	for _, p := range r.findAdopted() {
		if p.Zombie || slices.ContainsFunc(groups, func(g Ref) bool { return g.Pid == p.Session || g.Pid == p.Pgrp }) {
			continue
		}
		cmd := commandLine(p.Pid)
		out = append(out, Ref{Name: cmd, Pid: p.Pid, Start: p.Start, Argv: []string{cmd}})
	}
	return out
}

// release keeps the adopted processes running.
func (r *Reaper) release() {
	if r == nil {
		return
	}
	for _, p := range r.findAdopted() {
		if !p.Zombie {
			r.mu.Lock()
			r.let[p.Pid] = true
			r.mu.Unlock()
		}
	}
}

// Close stops adopting. Adopted processes remain children.
func (r *Reaper) Close() error {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	select {
	case <-r.stop:
		r.mu.Unlock()
		return nil
	default:
		close(r.stop)
	}
	r.mu.Unlock()
	<-r.gone
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("stop being the subreaper: %w", err)
	}
	return nil
}

// listChildren returns the children of this process. The kernel's list (proc_pid_task(5))
// can miss one while others start and exit, so two results must agree. Otherwise, or
// if the kernel has no such list, it reads the whole process table, which is a
// hundred times as expensive.
func listChildren() []procInfo {
	last, ok := childIDs()
	for range 4 {
		if !ok {
			break
		}
		var now []int
		if now, ok = childIDs(); ok && slices.Equal(last, now) {
			return readStats(now)
		}
		last = now
	}
	self := os.Getpid()
	return slices.DeleteFunc(processes(), func(p procInfo) bool { return p.Ppid != self })
}

// listChildrenFast reads the list once; the next read finds what it missed.
func listChildrenFast() []procInfo {
	ids, ok := childIDs()
	if !ok {
		return listChildren()
	}
	return readStats(ids)
}

// readStats returns the processes that still exist.
func readStats(ids []int) (list []procInfo) {
	for _, id := range ids {
		if p, ok := readStat(id); ok {
			list = append(list, p)
		}
	}
	return list
}

// childIDs reads the kernel's list of the first thread's children; false means that
// there is none. The list contains all adopted children and those from before the
// program started. Children of other threads were started by this program. Reading
// the lists of all threads would slow down the exit of this process.
func childIDs() ([]int, bool) {
	self := strconv.Itoa(os.Getpid())
	data, err := readProc("/proc/self/task/" + self + "/children")
	if err != nil {
		return nil, false
	}
	var out []int
	for _, s := range strings.Fields(string(data)) {
		if pid, err := strconv.Atoi(s); err == nil {
			out = append(out, pid)
		}
	}
	slices.Sort(out)
	return out, true
}
