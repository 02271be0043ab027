package explore

import (
	"fmt"

	"mcptest/internal/spec/keep"
)

// refuse returns the reason why a call does not become a test.
func refuse(format string, args ...any) error {
	return &keep.RefusedError{Reason: fmt.Sprintf(format, args...)}
}
