//go:build !windows

package term

import "io"

// enableVirtualTerminal reports whether a terminal without a name understands
// escape sequences; off Windows nothing says so.
func enableVirtualTerminal(io.Writer) bool { return false }
