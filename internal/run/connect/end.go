package connect

import (
	"context"
	"fmt"
	"strings"
	"time"

	"mcptest/internal/base/display"
	"mcptest/internal/base/lists"
	"mcptest/internal/process/proc"
)

// Patience is how long a server had time to end if it really ignored the end of its
// input. Without a grace period it had less.
const Patience = time.Second

// IgnoredEOF reports whether a process had time to exit after its input was closed, and
// did not.
func IgnoredEOF(end proc.Stopped) bool {
	return (end.How == proc.ByTerm || end.How == proc.ByKill) && end.Took >= Patience
}

// DescribeUncleanEnd says what was wrong with the end of a server's process after its input was
// closed; "" if it exited with status 0 and left nothing behind.
func DescribeUncleanEnd(end proc.Stopped) string {
	var wrong []string
	switch {
	case IgnoredEOF(end) && end.How == proc.ByTerm:
		wrong = append(wrong, "the server did not exit when its input was closed, and was terminated")
	case IgnoredEOF(end):
		wrong = append(wrong, "the server did not exit when its input was closed, nor on "+proc.TermName+", and was killed")
	case end.How <= proc.ByEOF && !end.Exit.Success(): // its input may be closed before the stop
		wrong = append(wrong, "the server ended with "+end.Exit.String()+" when its input was closed")
	}
	if n := len(end.Leftovers); n > 0 {
		list := lists.Map(end.Leftovers[:min(n, 3)], func(l proc.Leftover) string {
			return fmt.Sprintf("pid %d %s", l.Pid, l.Command)
		})
		if n > len(list) {
			list = append(list, "…")
		}
		wrong = append(wrong, fmt.Sprintf("the server left %s running: %s (stopped now)", display.Count(n, "process"), strings.Join(list, ", ")))
	}
	return strings.Join(wrong, "; ")
}

// Ending limits the end of a session when nothing else does.
func Ending() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), 10*time.Second)
}
