package result

import "time"

// Event is a completed step of a run. Package run sends events in the order in which
// the steps ended.
type Event interface {
	event() string // its name in a log
}

// RunStarted is the first event.
type RunStarted struct {
	Tool     Tool      `json:"tool"`
	Suites   []Suite   `json:"suites"`
	Started  time.Time `json:"started"`
	Total    int       `json:"total"` // planned cases
	Parallel int       `json:"parallel"`
	Command  string    `json:"command,omitempty"`
	Dir      string    `json:"dir,omitempty"`
	Origin   *Origin   `json:"origin,omitempty"`
	Shard    *Shard    `json:"shard,omitempty"`
}

// ServerUp reports that a server completed its handshake (or needed none).
type ServerUp struct {
	Server Server `json:"server"`
}

// ServerDown reports that a server exited or was stopped.
type ServerDown struct {
	Server Server `json:"server"`
}

// PhaseFinished reports a hook or fixture step outside the cases.
type PhaseFinished struct {
	Phase Phase `json:"phase"`
}

// CaseStarted reports that a case has started, and again how far one with trials is
// (for live displays only; it does not change the record).
type CaseStarted struct {
	Index int    `json:"index"`
	Name  string `json:"name"`
	State string `json:"state,omitempty"`
}

// CaseFinished reports a complete case. There is exactly one per planned case.
type CaseFinished struct{ Case *Case }

// FindingSeen reports a finding.
type FindingSeen struct {
	Finding Finding `json:"finding"`
}

// CoverageMeasured reports the coverage of the run.
type CoverageMeasured struct {
	Coverage *Coverage `json:"coverage"`
}

// Noted reports a note about the whole run.
type Noted struct {
	Note string `json:"note"`
}

// RunFinished is the last event.
type RunFinished struct {
	DurationMS  float64 `json:"duration_ms"`
	ExitCode    int     `json:"exit_code"`
	Interrupted string  `json:"interrupted,omitempty"`
	Times       *Times  `json:"times,omitempty"`
}

func (RunStarted) event() string       { return evRunStarted }
func (ServerUp) event() string         { return evServerUp }
func (ServerDown) event() string       { return evServerDown }
func (PhaseFinished) event() string    { return evPhase }
func (CaseStarted) event() string      { return evTestStarted }
func (CaseFinished) event() string     { return evTestFinished }
func (FindingSeen) event() string      { return evFinding }
func (CoverageMeasured) event() string { return evCoverage }
func (Noted) event() string            { return evNote }
func (RunFinished) event() string      { return evRunFinished }

// Listener receives every event after it was applied. It is never called
// concurrently, so it must not block for long.
type Listener interface {
	Event(e Event, r *Run)
}
