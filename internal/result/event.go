package result

import "time"

// Event is one finished fact about a run. Events are sent by package run in
// the order in which things ended.
type Event interface{ event() }

// RunStarted opens the stream.
type RunStarted struct {
	Tool     Tool      `json:"tool"`
	Suites   []Suite   `json:"suites"`
	Started  time.Time `json:"started"`
	Total    int       `json:"total"` // planned cases
	Parallel int       `json:"parallel"`
	Command  string    `json:"command,omitempty"`
	Dir      string    `json:"dir,omitempty"`
	Shard    *Shard    `json:"shard,omitempty"`
}

// ServerUp says that a server answered its handshake (or needed none).
type ServerUp struct {
	Server Server `json:"server"`
}

// ServerDown says that a server ended or was stopped.
type ServerDown struct {
	Server Server `json:"server"`
}

// PhaseFinished carries a hook or fixture step outside the cases.
type PhaseFinished struct {
	Phase Phase `json:"phase"`
}

// CaseStarted says that a case is being worked on (for live displays only;
// it changes nothing in the record).
type CaseStarted struct {
	Index int    `json:"index"`
	Name  string `json:"name"`
}

// CaseFinished carries a whole case. There is exactly one per planned case.
type CaseFinished struct{ Case *Case }

// FindingSeen carries a finding.
type FindingSeen struct {
	Finding Finding `json:"finding"`
}

// CoverageMeasured carries the coverage of the run.
type CoverageMeasured struct {
	Coverage *Coverage `json:"coverage"`
}

// Noted carries a note about the whole run.
type Noted struct {
	Note string `json:"note"`
}

// RunFinished closes the stream.
type RunFinished struct {
	DurationMS  float64 `json:"duration_ms"`
	ExitCode    int     `json:"exit_code"`
	Interrupted string  `json:"interrupted,omitempty"`
}

func (RunStarted) event()       {}
func (ServerUp) event()         {}
func (ServerDown) event()       {}
func (PhaseFinished) event()    {}
func (CaseStarted) event()      {}
func (CaseFinished) event()     {}
func (FindingSeen) event()      {}
func (CoverageMeasured) event() {}
func (Noted) event()            {}
func (RunFinished) event()      {}

// Listener receives every event after it was folded. It is never called
// concurrently, so it must not block for long.
type Listener interface {
	Event(e Event, r *Run)
}
