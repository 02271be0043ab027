package keeping

import (
	"fmt"

	"mcptest/internal/base/secret"
	"mcptest/internal/spec/draft"
	"mcptest/internal/spec/keep"
	"mcptest/internal/spec/plan"
	"mcptest/internal/spec/suite"
)

// Request is a request with its answer, and the server that it was sent to.
type Request struct {
	Test draft.Test
	// Server is its name in a suite; otherwise Argv or URL says which one it was.
	Server string
	Argv   []string
	URL    string
	// Redactor knows the secrets of the session.
	Redactor *secret.Redactor
	// Leave are the numbers of the assertions that the test does not get.
	Leave []int
}

// target is the suite that gets a test, as read from a text.
type target struct {
	file     *plan.File
	suite    *suite.Suite
	redactor *secret.Redactor
	names    map[string]bool // of its tests, as they are written
}

// refuse returns the reason why a request is not kept.
func refuse(format string, args ...any) error {
	return &keep.RefusedError{Reason: fmt.Sprintf(format, args...)}
}
