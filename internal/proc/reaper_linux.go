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

// Reaper is this process as the adopter of orphans: what a server leaves behind
// becomes our child when its parent dies, even a daemon that left its group. A
// nil Reaper does nothing.
type Reaper struct {
	session int
	before  map[int]string // children we had already, by start time

	mu    sync.Mutex
	owned map[int]string // children that os/exec waits for, by start time
	ended map[int]string // those that were owned; os/exec may not have reaped them yet
	dead  map[int]bool   // zombies seen by the last look
	let   map[int]bool   // released

	stop chan struct{}
	gone chan struct{}
}

const reapEvery = time.Second

// Adopt makes this process the subreaper of its descendants
// (PR_SET_CHILD_SUBREAPER, prctl(2)) until Close. While it is open, every Start
// must have a Registry made with it; other children of os/exec are recognized by
// our own session and left alone.
//
// Adopted processes that die are reaped about once a second.
func Adopt() (*Reaper, error) {
	session, err := unix.Getsid(0)
	if err != nil {
		return nil, fmt.Errorf("read the session id: %w", err)
	}
	r := &Reaper{
		session: session, before: map[int]string{},
		owned: map[int]string{}, ended: map[int]string{}, dead: map[int]bool{}, let: map[int]bool{},
		stop: make(chan struct{}), gone: make(chan struct{}),
	}
	for _, p := range children() {
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

// reapDead reaps adopted zombies that were there at the last look already: a
// child that somebody waits for is gone by then.
func (r *Reaper) reapDead() {
	list := childrenFast()
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

// adopted lists our children that this program did not start, zombies included.
func (r *Reaper) adopted() []procInfo {
	var out []procInfo
	list := children()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range list {
		if !r.foreign(p) {
			out = append(out, p)
		}
	}
	return out
}

// foreign reports whether a child is somebody else's to wait for: it was started
// here, or was ours already, or was released.
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

// kill sends SIGKILL to what was adopted and to all that descends from it, for
// we may be gone before it would become ours, and waits for nothing. What is
// forked meanwhile is found by the next look.
func (r *Reaper) kill() {
	if r == nil {
		return
	}
	for range 5 {
		in := map[int]bool{}
		for _, p := range r.adopted() {
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

// descendants lists the living processes of in and all that descend from them.
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

// Sweep kills the processes that were adopted and still live after a grace, of
// which there is none when ctx is done, names them, and reaps them. Killing one can bring us its children: it goes on until there
// are none, for killTime at most.
func (r *Reaper) Sweep(ctx context.Context) []Leftover {
	return r.sweep(ctx, func(int) string { return "" })
}

// sweep is Sweep, with what knows the name of what a process came from.
func (r *Reaper) sweep(ctx context.Context, nameOf func(pid int) string) []Leftover {
	if r == nil {
		return nil
	}
	backoff(leftoverGrace, func() bool {
		return ctx.Err() != nil || !slices.ContainsFunc(r.adopted(), func(p procInfo) bool { return !p.Zombie })
	})
	seen := map[int]bool{}
	var out []Leftover
	backoff(killTime, func() bool {
		rest := 0
		for _, p := range r.adopted() {
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

// strays lists what was adopted, lives and is not in one of the groups.
func (r *Reaper) strays(groups []Ref) []Ref {
	if r == nil {
		return nil
	}
	var out []Ref
	for _, p := range r.adopted() {
		if p.Zombie || slices.ContainsFunc(groups, func(g Ref) bool { return g.Pid == p.Session || g.Pid == p.Pgrp }) {
			continue
		}
		cmd := commandLine(p.Pid)
		out = append(out, Ref{Name: cmd, Pid: p.Pid, Start: p.Start, Argv: []string{cmd}})
	}
	return out
}

// release lets live what was adopted.
func (r *Reaper) release() {
	if r == nil {
		return
	}
	for _, p := range r.adopted() {
		if !p.Zombie {
			r.mu.Lock()
			r.let[p.Pid] = true
			r.mu.Unlock()
		}
	}
}

// Close gives up adopting. What was adopted stays our child.
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

// children lists our own children. The kernel's list (proc_pid_task(5)) can miss
// one while others come and go, so two looks have to agree; the whole process
// table, which costs a hundred times as much, is read only when they do not or
// when the kernel has no such list.
func children() []procInfo {
	last, ok := childIDs()
	for range 4 {
		if !ok {
			break
		}
		var now []int
		if now, ok = childIDs(); ok && slices.Equal(last, now) {
			return infos(now)
		}
		last = now
	}
	self := os.Getpid()
	var out []procInfo
	for _, p := range processes() {
		if p.Ppid == self {
			out = append(out, p)
		}
	}
	return out
}

// childrenFast is one look; the next one makes good what it missed.
func childrenFast() []procInfo {
	ids, ok := childIDs()
	if !ok {
		return children()
	}
	return infos(ids)
}

func infos(ids []int) []procInfo {
	var out []procInfo
	for _, pid := range ids {
		if p, ok := readStat(pid); ok {
			out = append(out, p)
		}
	}
	return out
}

// childIDs looks once at the kernel's list of our first thread; false: there is
// none. All that we adopt is there, and all that was there before the program
// began. Those of another thread were started by it. The lists of all threads
// are not read because the kernel would have to forget them when we end.
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
