package proc

import (
	"context"
	"time"
)

// Ended is what was found and done when a group of another process, or one
// that lingered, was ended.
type Ended struct {
	Ref Ref
	// Members were found alive in it, what had left the group among them;
	// empty = it was gone, or its process id belongs to another process by now.
	Members []Leftover
	How     How // ByItself when it was gone
	// Alive lists what even SIGKILL did not end (another user's processes).
	Alive []Leftover
}

// herd is a group that is to end. What was once found in it is known by its
// process id and start time from then on: a process that left the group is no
// longer seen to belong to it when its parent has died.
type herd struct {
	Ended
	known map[int]procInfo
}

// living lists the processes of the herd that live, and notes new ones.
func (h *herd) living(table []procInfo) []procInfo {
	out := membersIn(table, h.Ref)
	in := map[int]bool{}
	for _, p := range out {
		in[p.Pid] = true
	}
	for more := len(h.known) > 0; more; {
		more = false
		for _, p := range table {
			k, known := h.known[p.Pid]
			known = known && startOf(p) == k.Start
			if !in[p.Pid] && !p.Zombie && (known || in[p.Ppid]) {
				in[p.Pid], more = true, true
				out = append(out, p)
			}
		}
	}
	for _, p := range out {
		if _, old := h.known[p.Pid]; old {
			continue
		}
		left := leftovers([]procInfo{p})[0]
		left.Of = h.Ref.Name
		h.Members = append(h.Members, left)
		p.Start = startOf(p)
		h.known[p.Pid] = p
	}
	return out
}

// startOf is when a process of the table started; not every system has that in
// its table.
func startOf(p procInfo) string {
	if p.Start != "" {
		return p.Start
	}
	return startTime(p.Pid)
}

// endGroups asks all groups to end, in the order given, waits for them
// together, and kills the rest. They need not be children of ours. What left
// its group and descends from it is asked and killed too.
func endGroups(ctx context.Context, refs []Ref, term time.Duration) []Ended {
	if len(refs) == 0 {
		return nil // the process table is dear
	}
	herds := make([]*herd, len(refs))
	for i, ref := range refs {
		herds[i] = &herd{Ended: Ended{Ref: ref}, known: map[int]procInfo{}}
	}
	open := look(herds)
	if term > 0 && ctx.Err() == nil {
		for _, h := range open {
			h.How = ByTerm
			h.signal(processes(), termGroup, termOne)
		}
		polite, cancel := context.WithTimeout(ctx, term)
		open = stillOpen(polite, open)
		cancel()
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), killTime)
	defer cancel()
	for pause := time.Millisecond; len(open) > 0; pause = min(2*pause, 50*time.Millisecond) {
		for _, h := range open {
			h.How = ByKill
			h.signal(processes(), killGroup, killOne) // again: it may have forked meanwhile
		}
		moment, done := context.WithTimeout(last, pause)
		open = stillOpen(moment, open)
		done()
		if last.Err() != nil {
			break
		}
	}
	for _, h := range open {
		h.Alive = leftovers(h.living(processes()))
	}
	out := make([]Ended, len(herds))
	for i, h := range herds {
		out[i] = h.Ended
	}
	return out
}

// signal reaches the group and what has left it.
func (h *herd) signal(table []procInfo, group func(Ref), one func(procInfo)) {
	list := h.living(table)
	group(h.Ref)
	for _, p := range list {
		if p.Pgrp != h.Ref.Pid && p.Pid != h.Ref.Pid {
			one(h.known[p.Pid])
		}
	}
}

// look returns the herds that have a living member.
func look(list []*herd) []*herd {
	table := processes()
	var out []*herd
	for _, h := range list {
		if len(h.living(table)) > 0 {
			out = append(out, h)
		}
	}
	return out
}

// stillOpen waits until none of the herds has a living member and returns
// those that have.
func stillOpen(ctx context.Context, open []*herd) []*herd {
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		if open = look(open); len(open) == 0 {
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
