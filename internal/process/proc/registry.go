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

	"mcptest/internal/base/lists"
	"mcptest/internal/process/pipe"
)

// Registry contains the process groups of a run. It reports them to a watchdog, and
// Close ends the remaining ones. One Registry serves a whole run; every Spec refers
// to it. A nil *Registry contains nothing.
type Registry struct {
	watchdog *Watchdog
	reaper   *Reaper

	mu      sync.Mutex
	seq     int
	live    map[int]entry
	over    bool // KillAll was called
	dirs    []ownDir
	polling pipe.Turn
	names   []string // of all started programs, in order; their numbers begin at 1
}

type entry struct {
	ref Ref
	seq int
}

// ownDir is a folder that is removed after all processes have ended.
type ownDir struct {
	path    string
	release func()
	drop    func()
}

// NewRegistry returns an empty Registry. Both arguments may be nil.
func NewRegistry(g *Watchdog, r *Reaper) *Registry {
	r.own(g.ref())
	return &Registry{watchdog: g, reaper: r, live: map[int]entry{}}
}

// turn returns what the readers of all processes share.
func (l *Registry) turn() *pipe.Turn {
	if l == nil {
		return new(pipe.Turn)
	}
	return &l.polling
}

// add registers a started group.
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
	if over { // it was being started
		killGroup(ref)
	}
}

// mark returns the environment variable NAME=value that the watchdog searches for,
// with the number of a program that is being started; "" without a watchdog.
func (l *Registry) mark(name string) string {
	mark := l.runMark()
	if mark == "" {
		return ""
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.names = append(l.names, name)
	return mark + "." + strconv.Itoa(len(l.names))
}

// runMark returns the common prefix of the marks of the run.
func (l *Registry) runMark() string {
	if l == nil || l.watchdog == nil {
		return ""
	}
	return l.watchdog.mark
}

// nameOf returns the name of the Spec of a marked process, or "".
func (l *Registry) nameOf(pid int) string {
	mark := l.runMark()
	if mark == "" {
		return ""
	}
	n, err := strconv.Atoi(markSuffix(pid, mark+"."))
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

// Strays returns the living processes that left the groups of the Specs with a name and
// lost their parent. Only Linux knows them.
func (l *Registry) Strays(name string) []Leftover {
	if l == nil {
		return nil
	}
	var out []Leftover
	for _, ref := range l.reaper.strays(l.Live()) {
		if l.nameOf(ref.Pid) == name {
			out = append(out, Leftover{Pid: ref.Pid, Command: ref.Name, Of: name})
		}
	}
	return out
}

// straysOf returns the strays that one program started, by its mark. A process has none while
// it replaces its program, so whose it is shows a moment later: unsure.
func (l *Registry) straysOf(mark string) (marked []Ref, unsure bool) {
	if l == nil || mark == "" {
		return nil, false
	}
	prefix := l.runMark() + "."
	for _, ref := range l.reaper.strays(l.Live()) {
		if prefix+markSuffix(ref.Pid, prefix) == mark {
			marked = append(marked, ref)
		} else if !hasEnviron(ref.Pid) {
			unsure = true
		}
	}
	return marked, unsure
}

// remove unregisters a group whose processes have ended.
func (l *Registry) remove(ref Ref) { l.unregister(ref, (*Watchdog).Remove) }

// release unregisters a group that keeps running, and the processes that left it.
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

// Live returns the groups that have not ended, in the order they were started.
func (l *Registry) Live() []Ref {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := slices.SortedFunc(maps.Values(l.live), func(a, b entry) int { return cmp.Compare(a.seq, b.seq) })
	return lists.Map(list, func(e entry) Ref { return e.ref })
}

// isClosed reports whether KillAll was called, so that nothing may be started.
func (l *Registry) isClosed() bool {
	if l == nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.over
}

// KillAll sends SIGKILL to every group and every adopted process without waiting,
// after a second Ctrl-C. Nothing can be started afterwards.
func (l *Registry) KillAll() {
	l.mu.Lock()
	l.over = true
	l.mu.Unlock()
	for _, ref := range l.Live() {
		killGroup(ref)
	}
	l.reaper.kill()
	l.removeDirs()
}

// Sweep ends living processes: first the groups (SIGTERM, g.Term, SIGKILL, the
// youngest first), then adopted processes that left their group. It returns the
// processes it ended. The watchdog continues.
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

// Close calls Sweep, removes the folders of OwnDir, and closes the Reaper and the watchdog.
func (l *Registry) Close(ctx context.Context, g Grace) []Leftover {
	left := l.Sweep(ctx, g)
	l.removeDirs()
	l.reaper.Close()
	l.watchdog.Close()
	return left
}

// KeepFile makes the watchdog remove a file if the runner dies before drop is called,
// such as an incomplete temporary file.
func (l *Registry) KeepFile(path string) (drop func()) { return l.keep("file", path) }

// KeepDir is KeepFile for a folder, which is removed as RemoveDir does.
func (l *Registry) KeepDir(path string) (drop func()) { return l.keep("dir", path) }

// OwnDir makes Close remove a folder after all processes have ended, and the watchdog if the
// runner dies before. release is called right before that; it may be nil.
func (l *Registry) OwnDir(path string, release func()) {
	if l == nil {
		return
	}
	one := ownDir{path: path, release: release, drop: l.KeepDir(path)}
	l.mu.Lock()
	l.dirs = append(l.dirs, one)
	over := l.over
	l.mu.Unlock()
	if over { // KillAll came before
		l.removeDirs()
	}
}

// removeDirs removes the folders of OwnDir. One that can't be removed is left to the
// watchdog.
func (l *Registry) removeDirs() {
	l.mu.Lock()
	dirs := l.dirs
	l.dirs = nil
	l.mu.Unlock()
	for _, d := range dirs {
		if d.release != nil {
			d.release()
		}
		if err := RemoveDir(d.path); err == nil {
			d.drop()
		}
	}
}

func (l *Registry) keep(what, path string) (drop func()) {
	if l == nil {
		return func() {}
	}
	quoted := strconv.Quote(path)
	l.watchdog.send(what + " " + quoted + "\n")
	return func() { l.watchdog.send("kept " + quoted + "\n") }
}

// RemoveDir removes a folder with its content, and its parent if that only contains a
// .gitignore.
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
