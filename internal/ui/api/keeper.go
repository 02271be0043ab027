package api

import (
	"context"

	"mcptest/internal/spec/draft"
	"mcptest/internal/spec/plan"
	"mcptest/internal/ui/live"
)

// Keeper makes tests of calls. It writes only files of the command line.
type Keeper interface {
	// Files returns the names of the suites that a test can be written to.
	Files() []string
	// FileOf returns the number of the suite that declares a server, 0 if none does.
	FileOf(def *plan.Server) int
	// Draft returns the test of a call, and the change of its file. It writes nothing.
	Draft(s Subject, c Choice) (Draft, error)
	// Insert writes the test, if the file is what was shown.
	Insert(ctx context.Context, s Subject, c Choice, shown string) (Inserted, error)
	// Undo restores the file of an insertion, if it is what Insert left.
	Undo(ctx context.Context, insertion int) error
	// Run runs the test of an insertion once.
	Run(ctx context.Context, insertion int) (Verdict, error)
}

// Subject is what a test is made of: a call of this page, or a recorded one.
type Subject struct {
	Call     live.Call
	Recorded *Recorded // nil: Call
}

// Choice is what a person chose for a test.
type Choice struct {
	File  int          // its number in Files
	Name  string       // "": made from the call
	Leave []int        // the numbers of the assertions to be left out
	Parts []draft.Part // of the result, which are expected as well
}

// Draft is a test that could be inserted.
type Draft struct {
	Name       string
	Assertions []Assertion
	Parts      []int // the assertion of each part; -1: nothing can be expected of it
	Diff       []string
	Notes      []string
	Shown      string // stands for the content of the file
	Creates    bool   // the file does not exist yet
}

// Assertion is one line of a test.
type Assertion struct {
	Text     string // as in the suite
	Sentence string // what it requires, in words
	Note     string
}

// Inserted is a test that was written.
type Inserted struct {
	ID    int
	Name  string
	Place string // file:line
	Calls string // what the test calls
}

// Verdict is how a kept test ended.
type Verdict struct {
	Passed bool
	Text   string // the report
}
