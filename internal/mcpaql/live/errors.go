package live

import (
	"fmt"
	"strings"

	"mcptest/internal/base/display"
)

// NoAdapterError reports that a server could not be tested as an MCP-AQL adapter at
// all.
type NoAdapterError struct {
	Reason string
	Tools  []string // what tools/list named
	Err    error
}

// Error returns the reason in one line.
func (e *NoAdapterError) Error() string {
	s := e.Reason
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	if len(e.Tools) > 0 {
		s += " (its tools: " + display.Truncate(strings.Join(e.Tools, ", "), 300) + ")"
	}
	return s
}

// Unwrap returns the cause.
func (e *NoAdapterError) Unwrap() error { return e.Err }

// BrokenRunError reports that this program failed in the middle of a run. The
// evidence returned with it holds what was seen until then.
type BrokenRunError struct {
	Value any    // the value of the panic
	Stack string // the stack of the panic
}

// Error states that the failure is not the adapter's fault.
func (e *BrokenRunError) Error() string {
	return fmt.Sprintf("the run was ended by an error in this program, not in the adapter: %v", e.Value)
}
