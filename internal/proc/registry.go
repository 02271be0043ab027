package proc

import (
	"cmp"
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
)

// Registry contains the process groups of a run. It reports them to a watchdog,
// and Close ends those that are left. One Registry serves a whole run; every Spec
// refers to it. A nil *Registry contains nothing.
type Registry struct {
	watchdog *Watchdog
	reaper   *Reaper

	mu   sync.Mutex
	seq  int
	live map[int]entry
	over bool // KillAll was called
	// names are those of all that was started, in order; numbers are their
	// places, from 1.
	names   []string
	numbers map[string]int
}

type entry struct {
	ref Ref
	seq int
}

// NewRegistry returns an empty Registry. Both arguments may be nil.
func NewRegistry(g *Watchdog, r *Reaper) *Registry {
	r.own(g.ref())
	return &Registry{watchdog: g, reaper: r, live: map[int]entry{}, numbers: map[string]int{}}
}

// add registers a group that has been started.
func (l *Registry) add(ref Ref) {
	if l == nil {
		return
	}
	l.reaper.own(ref)
	l.mu.Lock()
	l.seq++
	l.live[ref.Pid] = entry{ref, l.seq}
	over := l.over
	l.mu.Unlock()
	l.watchdog.Add(ref)
	if over { // its start was under way
		killGroup(ref)
	}
}

// mark is NAME=value for the environment of a process: what the watchdog looks
// for, followed by a number for the name of the Spec. "" without a watchdog.
func (l *Registry) mark(name string) string {
	mark := l.runMark()
	if mark == "" {
		return ""
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	n, known := l.numbers[name]
	if !known {
		l.names = append(l.names, name)
		n = len(l.names)
		l.numbers[name] = n
	}
	return mark + "." + strconv.Itoa(n)
}

// runMark is what the marks of all that is kept begin with.
func (l *Registry) runMark() string {
	if l == nil || l.watchdog == nil {
		return ""
	}
	return l.watchdog.mark
}

// nameOf is the name of the Spec that a marked process came from, or "".
func (l *Registry) nameOf(pid int) string {
	mark := l.runMark()
	if mark == "" {
		return ""
	}
	n, err := strconv.Atoi(markBehind(pid, mark+"."))
	if err != nil {
		return ""
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if n < 1 || n > len(l.names) {
		return ""
	}
	return l.names[n-1]
}

// remove unregisters a group whose processes are known to have ended.
func (l *Registry) remove(ref Ref) { l.unregister(ref, (*Watchdog).Remove) }

// release unregisters a group that is to keep running, with what left it.
func (l *Registry) release(ref Ref) { l.unregister(ref, (*Watchdog).Release) }

func (l *Registry) unregister(ref Ref, report func(*Watchdog, Ref)) {
	if l == nil {
		return
	}
	l.mu.Lock()
	if e, ok := l.live[ref.Pid]; ok && e.ref.Start == ref.Start {
		delete(l.live, ref.Pid)
	}
	l.mu.Unlock()
	report(l.watchdog, ref)
	l.reaper.disown(ref)
}

// Live lists the groups that have not ended, in the order they were started.
func (l *Registry) Live() []Ref {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := slices.SortedFunc(maps.Values(l.live), func(a, b entry) int { return cmp.Compare(a.seq, b.seq) })
	out := make([]Ref, len(list))
	for i, e := range list {
		out[i] = e.ref
	}
	return out
}

// closed reports whether KillAll was called: nothing may be started any more.
func (l *Registry) closed() bool {
	if l == nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.over
}

// KillAll sends SIGKILL to every group and every adopted process and waits for
// nothing: the answer to a second Ctrl-C. Nothing can be started afterwards.
func (l *Registry) KillAll() {
	l.mu.Lock()
	l.over = true
	l.mu.Unlock()
	for _, ref := range l.Live() {
		killGroup(ref)
	}
	l.reaper.kill()
}

// Sweep ends what still lives: first the groups (SIGTERM, g.Term, SIGKILL, the
// youngest first), then processes that left their group and were adopted. It
// returns what had to be ended. The watchdog watches on.
func (l *Registry) Sweep(ctx context.Context, g Grace) []Leftover {
	live := l.Live()
	slices.Reverse(live)
	var left []Leftover
	for _, e := range endGroups(ctx, live, g.withDefaults().Term) {
		left = append(left, e.Members...)
		l.remove(e.Ref)
	}
	return append(left, l.reaper.sweep(ctx, l.nameOf)...)
}

// Close is Sweep, and the end of adopting and of the watchdog.
func (l *Registry) Close(ctx context.Context, g Grace) []Leftover {
	left := l.Sweep(ctx, g)
	l.reaper.Close()
	l.watchdog.Close()
	return left
}

// KeepFile names a file that the watchdog removes when the runner dies before
// drop is called: one that is being written and has no name of its own yet.
func (l *Registry) KeepFile(path string) (drop func()) { return l.keep("file", path) }

// KeepDir is KeepFile for a folder, which is removed as RemoveDir does.
func (l *Registry) KeepDir(path string) (drop func()) { return l.keep("dir", path) }

func (l *Registry) keep(what, path string) (drop func()) {
	if l == nil {
		return func() {}
	}
	quoted := strconv.Quote(path)
	l.watchdog.send(what + " " + quoted + "\n")
	return func() { l.watchdog.send("kept " + quoted + "\n") }
}

// RemoveDir removes a folder with all that is in it, and the one above when
// nothing is left there but a .gitignore.
func RemoveDir(dir string) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	above := filepath.Dir(dir)
	if left, err := os.ReadDir(above); err == nil && len(left) == 1 && left[0].Name() == ".gitignore" {
		return os.RemoveAll(above)
	}
	return nil
}
