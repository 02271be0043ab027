package api

import "mcptest/internal/spec/plan"

// Recorder records the sessions of the page, if the command line names a folder for that.
type Recorder interface {
	// Folder returns the folder; "" if nothing is recorded.
	Folder() string
	// Save writes what has passed between the page and a server to a new cassette, and returns its name.
	Save(def *plan.Server) (string, error)
}
