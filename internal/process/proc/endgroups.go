package proc

import (
	"context"
	"slices"
	"time"

	"mcptest/internal/base/lists"
)

// Ended is the result of ending a process group that another process started, or that
// remained.
type Ended struct {
	Ref Ref
	// Members are the processes that were alive, including those that left the group;
	// empty if the group had ended, or its process id belongs to another process.
	Members []Leftover
	How     How // ByItself if it had ended
	// Alive lists processes that SIGKILL did not end (those of other users).
	Alive []Leftover
}

// ending is a group that is being ended. It records its processes by process id and
// start time, because one that left the group can no longer be attributed to it after
// its parent has died.
type ending struct {
	Ended
	known map[int]procInfo
}

// living returns the living processes of the group, and records new ones.
func (g *ending) living(table []procInfo) []procInfo {
	out := membersIn(table, g.Ref)
	in := map[int]bool{}
	for _, p := range out {
		in[p.Pid] = true
	}
	for more := len(g.known) > 0; more; {
		more = false
		for _, p := range table {
			k, known := g.known[p.Pid]
			known = known && startOf(p) == k.Start
			if !in[p.Pid] && !p.Zombie && (known || in[p.Ppid]) {
				in[p.Pid], more = true, true
				out = append(out, p)
			}
		}
	}
	for _, p := range out {
		if _, old := g.known[p.Pid]; old {
			continue
		}
		left := leftovers([]procInfo{p})[0]
		left.Of = g.Ref.Name
		g.Members = append(g.Members, left)
		p.Start = startOf(p)
		g.known[p.Pid] = p
	}
	return out
}

// startOf returns the start time of a process; the process table does not contain it
// on every system.
func startOf(p procInfo) string {
	if p.Start != "" {
		return p.Start
	}
	return startTime(p.Pid)
}

// endGroups asks all groups to exit, in the given order, waits for all of them, and
// kills the rest. They need not be children of this process. Descendants that left
// their group are included.
func endGroups(ctx context.Context, refs []Ref, term time.Duration) []Ended {
	if len(refs) == 0 {
		return nil // reading the process table is expensive
	}
	groups := lists.Map(refs, func(ref Ref) *ending {
		return &ending{Ended: Ended{Ref: ref}, known: map[int]procInfo{}}
	})
	open := livingGroups(groups)
	if term > 0 && ctx.Err() == nil {
		for _, g := range open {
			g.How = ByTerm
			g.signal(processes(), termGroup, termOne)
		}
		polite, cancel := context.WithTimeout(ctx, term)
		open = stillOpen(polite, open)
		cancel()
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), killTime)
	defer cancel()
	for pause := time.Millisecond; len(open) > 0; pause = min(2*pause, 50*time.Millisecond) {
		for _, g := range open {
			g.How = ByKill
			g.signal(processes(), killGroup, killOne) // again: it may have forked
		}
		moment, done := context.WithTimeout(last, pause)
		open = stillOpen(moment, open)
		done()
		if last.Err() != nil {
			break
		}
	}
	for _, g := range open {
		g.Alive = leftovers(g.living(processes()))
	}
	return lists.Map(groups, func(g *ending) Ended { return g.Ended })
}

// signal signals the group and the processes that left it.
func (g *ending) signal(table []procInfo, group func(Ref), one func(procInfo)) {
	list := g.living(table)
	group(g.Ref)
	for _, p := range list {
		if p.Pgrp != g.Ref.Pid && p.Pid != g.Ref.Pid {
			one(g.known[p.Pid])
		}
	}
}

// livingGroups returns the groups with a living member.
func livingGroups(list []*ending) []*ending {
	table := processes()
	return slices.DeleteFunc(slices.Clone(list), func(g *ending) bool { return len(g.living(table)) == 0 })
}

// stillOpen waits until no group has a living member, and returns the groups that
// still have one.
func stillOpen(ctx context.Context, open []*ending) []*ending {
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		if open = livingGroups(open); len(open) == 0 {
			return nil
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return open
		case <-timer.C:
		}
	}
}
