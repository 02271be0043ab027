package proc

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
)

// Ledger is the Keeper of a run: it knows the groups that live, passes their
// names to a guardian, and ends in Close what is still there. One Ledger
// serves a whole run; every Spec carries it as its Keeper. A nil *Ledger keeps
// nothing.
type Ledger struct {
	guardian *Guardian
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

// NewLedger returns an empty Ledger. Both arguments may be nil.
func NewLedger(g *Guardian, r *Reaper) *Ledger {
	r.own(g.ref())
	return &Ledger{guardian: g, reaper: r, live: map[int]entry{}, numbers: map[string]int{}}
}

// Add is part of Keeper.
func (l *Ledger) Add(ref Ref) {
	if l == nil {
		return
	}
	l.reaper.own(ref)
	l.mu.Lock()
	l.seq++
	l.live[ref.Pid] = entry{ref, l.seq}
	over := l.over
	l.mu.Unlock()
	l.guardian.Add(ref)
	if over { // its start was under way
		killGroup(ref)
	}
}

// Mark is part of Marker: what the guardian looks for, with a number behind it
// that stands for the name.
func (l *Ledger) Mark(name string) string {
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
func (l *Ledger) runMark() string {
	if l == nil || l.guardian == nil {
		return ""
	}
	return l.guardian.mark
}

// nameOf is the name of the Spec that a marked process came from, or "".
func (l *Ledger) nameOf(pid int) string {
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

// Remove is part of Keeper.
func (l *Ledger) Remove(ref Ref) { l.remove(ref, (*Guardian).Remove) }

// LetGo is part of Releaser.
func (l *Ledger) LetGo(ref Ref) { l.remove(ref, (*Guardian).LetGo) }

func (l *Ledger) remove(ref Ref, tell func(*Guardian, Ref)) {
	if l == nil {
		return
	}
	l.mu.Lock()
	if e, ok := l.live[ref.Pid]; ok && e.ref.Start == ref.Start {
		delete(l.live, ref.Pid)
	}
	l.mu.Unlock()
	tell(l.guardian, ref)
	l.reaper.disown(ref)
}

// Live lists the groups that have not ended, in the order they were started.
func (l *Ledger) Live() []Ref {
	l.mu.Lock()
	defer l.mu.Unlock()
	var list []entry
	for _, e := range l.live {
		list = append(list, e)
	}
	slices.SortFunc(list, func(a, b entry) int { return cmp.Compare(a.seq, b.seq) })
	out := make([]Ref, len(list))
	for i, e := range list {
		out[i] = e.ref
	}
	return out
}

// Refuse is part of Refuser.
func (l *Ledger) Refuse() error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return errors.New("everything is being killed")
	}
	return nil
}

// KillAll sends SIGKILL to every group and every adopted process and waits for
// nothing: the answer to a second Ctrl-C. Nothing can be started afterwards.
func (l *Ledger) KillAll() {
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
// returns what had to be ended. The guardian watches on.
func (l *Ledger) Sweep(ctx context.Context, g Grace) []Leftover {
	live := l.Live()
	slices.Reverse(live)
	var left []Leftover
	for _, e := range endGroups(ctx, live, g.withDefaults().Term) {
		left = append(left, e.Members...)
		l.Remove(e.Ref)
	}
	return append(left, l.reaper.sweep(ctx, l.nameOf)...)
}

// Close is Sweep, and the end of adopting and of the guardian.
func (l *Ledger) Close(ctx context.Context, g Grace) []Leftover {
	left := l.Sweep(ctx, g)
	l.reaper.Close()
	l.guardian.Close()
	return left
}

// KeepFile names a file that the guardian removes when the runner dies before
// drop is called: one that is being written and has no name of its own yet.
func (l *Ledger) KeepFile(path string) (drop func()) { return l.keep("file", path) }

// KeepDir is KeepFile for a folder, which is removed as RemoveDir does.
func (l *Ledger) KeepDir(path string) (drop func()) { return l.keep("dir", path) }

func (l *Ledger) keep(what, path string) (drop func()) {
	if l == nil {
		return func() {}
	}
	quoted := strconv.Quote(path)
	l.guardian.send(what + " " + quoted + "\n")
	return func() { l.guardian.send("kept " + quoted + "\n") }
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
