package usage

import (
	"time"

	"mcptest/internal/process/proc"
)

// Unknown is the value of what is not measured.
const Unknown = -1

// Usage is what a group uses.
type Usage struct {
	Memory      float64 // bytes; on Linux anonymous resident memory
	Descriptors float64
	Threads     float64
	Processes   float64
}

// Meter measures one group. It is for one goroutine.
type Meter struct {
	ref     proc.Ref
	members []int
	looked  time.Time // when the members were listed
	asked   time.Time // when it was measured last
	last    Usage
}

// New returns a Meter of a group.
func New(ref proc.Ref) *Meter { return &Meter{ref: ref} }

// listed is how long a list of the members is used: reading the table of all processes
// takes longer than a session.
const listed = 100 * time.Millisecond

// Read measures; false means that the group has ended.
func (m *Meter) Read() (Usage, bool) {
	if time.Since(m.looked) > listed {
		m.members, m.looked = proc.Members(m.ref), time.Now()
	}
	if m.last.Processes > 0 && time.Since(m.asked) < pause {
		return m.last, len(m.members) > 0
	}
	m.asked = time.Now()
	if !m.read() {
		m.looked = time.Time{}
		m.members = proc.Members(m.ref)
		return m.last, len(m.members) > 0 && m.read()
	}
	return m.last, true
}
