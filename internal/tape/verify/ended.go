package verify

import (
	"errors"

	"mcptest/internal/client/wire"
	"mcptest/internal/offer/diff"
	"mcptest/internal/offer/surface"
	"mcptest/internal/process/proc"
	"mcptest/internal/tape/cassette"
)

// ExitTime is how long a server may need to exit after the end of its input, if the
// recorded one did.
const ExitTime = 5 * proc.DefaultGrace

// ended compares how the process of a session ended with the recorded one, if no signal
// ended that.
func (r *Report) ended(recorded *cassette.Exit, now proc.Stopped) {
	if recorded == nil || now.Pid == 0 || now.Exit.Err != nil {
		return
	}
	message := ""
	switch was := (proc.Exit{Code: recorded.Code, Signal: recorded.Signal}); {
	case now.How > proc.ByEOF:
		message = "the server no longer exits after the end of its input (recorded: " + was.String() + ")"
	case now.Exit.Code != was.Code || now.Exit.Signal != was.Signal:
		message = "the server ends with " + now.Exit.String() + " (recorded: " + was.String() + ")"
	default:
		return
	}
	r.Changes = append(r.Changes, diff.Change{Class: diff.Review, Kind: surface.Server, Message: message})
}

// crashedAgain reports a crash that is recorded too.
func (r *Report) crashedAgain(call *cassette.Call, label string, err error) {
	closed := new(wire.ClosedError)
	was, _ := call.Crashed()
	if errors.As(err, &closed) && closed.Exited && was != nil && (closed.Exit.Code != was.Code || closed.Exit.Signal != was.Signal) {
		r.Changes = append(r.Changes, changeOf(call, diff.Review, "", "the server crashes with %s (recorded: %s)", closed.Exit, proc.Exit{Code: was.Code, Signal: was.Signal}))
		return
	}
	r.Notes = append(r.Notes, label+"the server crashed, as recorded")
}
