//go:build !windows

package term

import "io"

// virtualTerminal reports whether a terminal without a name understands
// escape sequences; off Windows nothing says so.
func virtualTerminal(io.Writer) bool { return false }
