package proc

import (
	"context"
	"slices"
)

// Snapshot names groups that live on without the runner; it is written as JSON
// into a state file and ended later by another runner.
type Snapshot struct {
	Groups []Ref `json:"groups"`
	// Mark is what every process of the run carries in its environment, as
	// NAME=value; "" where the system does not show the environment of others.
	Mark string `json:"mark,omitempty"`
}

// strayLooks bounds how often what carries the mark is looked for: a process
// may fork while it is being ended.
const strayLooks = 5

// Kill ends the groups, the youngest first: SIGTERM, g.Term, SIGKILL; then, in
// the same way, what carries the mark, which has left the groups or was started
// after the snapshot was taken. A group whose process id belongs to another
// process by now (its start time differs, or the system was booted again) is
// left alone.
func (s Snapshot) Kill(ctx context.Context, g Grace) []Ended {
	groups := slices.Clone(s.Groups)
	slices.Reverse(groups)
	term := g.withDefaults().Term
	out := endGroups(ctx, groups, term)
	stuck := map[int]bool{}
	for range strayLooks {
		for _, e := range out {
			for _, m := range e.Alive {
				stuck[m.Pid] = true
			}
		}
		more := strays(s.Mark, stuck)
		if len(more) == 0 {
			break
		}
		out = append(out, endGroups(ctx, more, term)...)
	}
	return out
}

// Alive lists the groups of the snapshot that still have processes.
func (s Snapshot) Alive() []Ref {
	var out []Ref
	for _, ref := range s.Groups {
		if len(groupMembers(ref)) > 0 {
			out = append(out, ref)
		}
	}
	return out
}

// Snapshot names everything that lives: the groups, and the processes that left
// their group and were adopted.
func (l *Registry) Snapshot() Snapshot {
	s := Snapshot{Mark: l.runMark()}
	for _, ref := range l.Live() {
		if len(groupMembers(ref)) > 0 {
			s.Groups = append(s.Groups, ref)
		}
	}
	s.Groups = append(s.Groups, l.reaper.strays(s.Groups)...)
	return s
}

// Release hands over everything that lives, and returns what Snapshot would
// have. Close ends none of it afterwards, nor does the watchdog. Call
// Process.Release too where a Process exists.
func (l *Registry) Release() Snapshot {
	s := l.Snapshot()
	for _, ref := range append(l.Live(), s.Groups...) {
		l.release(ref)
	}
	l.reaper.release()
	return s
}
