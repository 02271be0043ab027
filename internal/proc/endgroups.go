package proc

import (
	"context"
	"time"
)

// Ended is what was found and done when a group of another process, or one
// that lingered, was ended.
type Ended struct {
	Ref Ref
	// Members were alive when it was asked to end; empty = it was gone, or its
	// process id belongs to another process by now.
	Members []Leftover
	How     How // ByItself when it was gone
	// Alive lists what even SIGKILL did not end (another user's processes).
	Alive []Leftover
}

// endGroups asks all groups to end, in the order given, waits for them
// together, and kills the rest. They need not be children of ours.
func endGroups(ctx context.Context, refs []Ref, term time.Duration) []Ended {
	if len(refs) == 0 {
		return nil // the process table is dear
	}
	out := make([]Ended, len(refs))
	table := processes()
	var open []int
	for i, ref := range refs {
		out[i] = Ended{Ref: ref, Members: leftovers(membersIn(table, ref))}
		for j := range out[i].Members {
			out[i].Members[j].Of = ref.Name
		}
		if len(out[i].Members) > 0 {
			open = append(open, i)
		}
	}
	if term > 0 && ctx.Err() == nil {
		for _, i := range open {
			out[i].How = ByTerm
			termGroup(refs[i])
		}
		polite, cancel := context.WithTimeout(ctx, term)
		open = stillOpen(polite, refs, open)
		cancel()
	}
	for _, i := range open {
		out[i].How = ByKill
		killGroup(refs[i])
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), killTime)
	defer cancel()
	for _, i := range stillOpen(last, refs, open) {
		out[i].Alive = leftovers(groupMembers(refs[i]))
	}
	return out
}

// stillOpen waits until none of the groups has a living member and returns
// those that have.
func stillOpen(ctx context.Context, refs []Ref, open []int) []int {
	for pause := time.Millisecond; len(open) > 0; pause = min(2*pause, 50*time.Millisecond) {
		table := processes()
		var rest []int
		for _, i := range open {
			if len(membersIn(table, refs[i])) > 0 {
				rest = append(rest, i)
			}
		}
		open = rest
		if len(open) == 0 {
			break
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return open
		case <-timer.C:
		}
	}
	return open
}
