package proc

import (
	"context"
	"slices"
)

// Snapshot names groups that live on without the runner; it is written as JSON
// into a state file and ended later by another runner.
type Snapshot struct {
	Groups []Ref `json:"groups"`
}

// Kill ends the groups, the youngest first: SIGTERM, g.Term, SIGKILL. A group
// whose process id belongs to another process by now (its start time differs,
// or the system was booted again) is left alone.
func (s Snapshot) Kill(ctx context.Context, g Grace) []Ended {
	groups := slices.Clone(s.Groups)
	slices.Reverse(groups)
	return endGroups(ctx, groups, g.withDefaults().Term)
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

// Release hands over everything that lives: the groups, and the processes that
// left their group and were adopted. Close ends none of them afterwards, nor
// does the guardian. Call Process.Release too where a Process exists.
func (l *Ledger) Release() Snapshot {
	var s Snapshot
	for _, ref := range l.Live() {
		if len(groupMembers(ref)) > 0 {
			s.Groups = append(s.Groups, ref)
		}
		l.Remove(ref)
	}
	s.Groups = append(s.Groups, l.reaper.release(s.Groups)...)
	return s
}
