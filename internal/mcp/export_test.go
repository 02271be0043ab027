package mcp

import "strconv"

// ID is the id of the n-th request of a session, as JSON text.
func ID(n int64) string { return strconv.FormatInt(idAt(n), 10) }
