package mcp

import (
	"fmt"
	"strconv"
)

// TooManyValuesError ends a call whose answer has more values than Limits.Values.
// That is no breach of the protocol: it is our limit. As text such an answer
// may be small; as a tree it would take some sixty bytes for each value.
type TooManyValuesError struct {
	Method string
	Limit  int
}

// Error returns e.g. "the answer to tools/call has more than 1,000,000 JSON
// values (limit: --max-values 1000000)".
func (e *TooManyValuesError) Error() string {
	return fmt.Sprintf("the answer to %s has more than %s JSON values (limit: --max-values %d)", e.Method, thousands(e.Limit), e.Limit)
}

// thousands writes a number with commas.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
