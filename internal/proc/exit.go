package proc

import (
	"fmt"
	"os"
)

// Exit is how a process ended.
type Exit struct {
	Code   int    // exit status; -1 when a signal ended it or nothing is known
	Signal string // "killed", "segmentation fault"; "" when it exited
	Err    error  // set when the outcome could not be read
}

// Success reports whether the program exited with status 0.
func (e Exit) Success() bool { return e.Code == 0 && e.Signal == "" && e.Err == nil }

// Failed reports whether the program ended by a signal or with another status
// than 0.
func (e Exit) Failed() bool { return e.Err == nil && !e.Success() }

// Fault reports whether a signal ended the program that the system sends for its
// own mistakes, or that it sends to itself when it gives up (abort).
func (e Exit) Fault() bool {
	switch e.Signal {
	case "segmentation fault", "bus error", "illegal instruction", "floating point exception", "bad system call",
		"aborted", "abort trap", "trace/breakpoint trap", "trace/BPT trap":
		return true
	}
	return false
}

// String is "exit status 3", "signal: killed" or the reason why it is unknown.
func (e Exit) String() string {
	switch {
	case e.Err != nil:
		return "unknown exit: " + e.Err.Error()
	case e.Signal != "":
		return "signal: " + e.Signal
	}
	return fmt.Sprintf("exit status %d", e.Code)
}

func exitOf(state *os.ProcessState, err error) Exit {
	if err != nil || state == nil {
		if err == nil {
			err = os.ErrProcessDone
		}
		return Exit{Code: -1, Err: err}
	}
	return Exit{Code: state.ExitCode(), Signal: signalName(state)}
}
