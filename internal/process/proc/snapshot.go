package proc

import (
	"context"
	"slices"
)

// Snapshot lists groups that outlive the runner. It is written as JSON into a state
// file, and another runner ends the groups later.
type Snapshot struct {
	Groups []Ref `json:"groups"`
	// Mark is the environment variable (NAME=value) of every process of the run; ""
	// if the system does not show the environment of other processes.
	Mark string `json:"mark,omitempty"`
}

// strayLooks limits the number of searches for the mark: a process may fork while it
// is being ended.
const strayLooks = 5

// Kill ends the groups, the youngest first: SIGTERM, g.Term, SIGKILL. It then ends
// other processes with the mark, which left the groups or were started after the
// snapshot. It ignores a group whose process id belongs to another process (its start
// time differs, or the system was rebooted).
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

// Snapshot returns everything that is alive: the groups, and adopted processes that
// left their group.
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

// Release returns a Snapshot and gives up everything in it: neither Close nor the
// watchdog ends it. Call Process.Release too for existing Processes.
func (l *Registry) Release() Snapshot {
	s := l.Snapshot()
	for _, ref := range append(l.Live(), s.Groups...) {
		l.release(ref)
	}
	l.reaper.release()
	return s
}
