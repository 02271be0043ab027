//go:build linux

package proc

import "context"

// Alive returns the groups that still have processes.
func (s Snapshot) Alive() []Ref {
	var out []Ref
	for _, ref := range s.Groups {
		if len(groupMembers(ref)) > 0 {
			out = append(out, ref)
		}
	}
	return out
}

// Sweep is sweep for processes without a name.
func (r *Reaper) Sweep(ctx context.Context) []Leftover {
	return r.sweep(ctx, func(int) string { return "" })
}
