package target

import (
	"slices"
)

// Uses is the set of roots that a tree examines, and whether it runs programs. The
// union of two is u | v.
type Uses uint32

// Programs is set if a matcher runs programs.
const Programs Uses = 1 << 31

// has reports whether any of some roots is used.
func (u Uses) has(parts ...part) bool {
	return slices.ContainsFunc(parts, func(p part) bool { return u&(1<<p) != 0 })
}

// Exclusive reports whether the test must not share its session, because it examines
// messages that cannot be attributed to one of several calls.
func (u Uses) Exclusive() bool {
	return u.has(partNotifications, partLogs, partProgress, partRequests, partStderr, partUpstream)
}

// Progress reports whether the server should report progress on a call.
func (u Uses) Progress() bool { return u.has(partProgress, partNotifications) }

// HTTP reports whether the HTTP response is used.
func (u Uses) HTTP() bool { return u.has(partHTTPStatus, partHTTPHeaders) }

// Response reports whether the JSON-RPC response is used.
func (u Uses) Response() bool {
	return u.has(partResult, partError, partRefusal, partText, partStructured)
}

// Surface reports whether the surface of the server is used.
func (u Uses) Surface() bool { return u.has(partSurface) }

// Times reports whether the duration of the call is used.
func (u Uses) Times() bool { return u.has(partDuration) }

// Execs reports whether programs are run.
func (u Uses) Execs() bool { return u&Programs != 0 }

// Examines reports whether the target is a part of an upstream's requests, or of all.
func (t *Target) Examines(upstream string) bool {
	if t.root.part != partUpstream {
		return false
	}
	return !t.beginsWithName() || t.steps[0].Name == upstream
}

// Uses returns the root that a target examines.
func (t *Target) Uses() Uses { return 1 << t.root.part }
