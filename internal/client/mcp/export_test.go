package mcp

import (
	"strconv"

	"mcptest/internal/client/protocol"
)

// ID is the id of the n-th request of a session, as JSON text.
func ID(n int64) string { return strconv.FormatInt(protocol.IDAt(n), 10) }
