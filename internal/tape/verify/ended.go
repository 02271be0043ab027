package verify

import (
	"mcptest/internal/offer/diff"
	"mcptest/internal/offer/surface"
	"mcptest/internal/process/proc"
	"mcptest/internal/tape/cassette"
)

// ExitTime is how long a server may need to exit after the end of its input, if the
// recorded one did.
const ExitTime = 5 * proc.DefaultGrace

// compareEnd compares how the process of a session ended with the recorded one, if no signal
// ended that.
func (r *Report) compareEnd(recorded *cassette.Exit, now proc.Stopped) {
	if recorded == nil || now.Pid == 0 || now.Exit.Err != nil {
		return
	}
	message := ""
	was := (proc.Exit{Code: recorded.Code, Signal: recorded.Signal})
	switch {
	case now.How > proc.ByEOF:
		message = "the server no longer exits after the end of its input (recorded: " + was.String() + ")"
	case now.Exit.Code != was.Code || now.Exit.Signal != was.Signal:
		message = "the server ends with " + now.Exit.String() + " (recorded: " + was.String() + ")"
	default:
		return
	}
	r.Changes = append(r.Changes, diff.Change{Class: diff.Review, Kind: surface.Server, Message: message})
}
