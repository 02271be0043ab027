package api

import "time"

// Historian reads records of earlier runs: those of the current folder, and those of the
// page. It needs no server.
type Historian interface {
	// History returns the records, the latest first, and the tests in them.
	History() (History, error)
	// Compare returns what changed between two records, as text.
	Compare(older, newer int) (string, error)
}

// History is what the records say.
type History struct {
	Records []Record
	Tests   []TestHistory
	Omitted int // records or tests over the limits
}

// Record is a run that is over. A request names it by its ID.
type Record struct {
	ID       int
	Name     string // of its file, or that the page made it
	Started  time.Time
	Seconds  float64
	Commit   string
	Problem  string // why it can't be read, or is not complete
	Run      Run    // its counters
	ExitCode int
}

// TestHistory is a test in the records, in their order.
type TestHistory struct {
	File, Name string
	Runs       []*Outcome // nil: the test was not in that run
	// Flaky says why the test is not reliable; "" if nothing speaks against it.
	Flaky string
}
