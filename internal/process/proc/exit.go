package proc

import (
	"cmp"
	"fmt"
	"os"
)

// Exit is the exit status of a process.
type Exit struct {
	Code   int    // exit status; -1 after a signal or if unknown
	Signal string // "killed", "segmentation fault"; "" if it exited
	Err    error  // set if the status could not be read
}

// Success reports whether the program exited with status 0.
func (e Exit) Success() bool { return e.Code == 0 && e.Signal == "" && e.Err == nil }

// Failed reports whether a signal ended the program, or its exit status is not 0.
func (e Exit) Failed() bool { return e.Err == nil && !e.Success() }

// Fault reports whether the program was ended by a signal of the system for an error
// such as a segmentation fault, or by abort.
func (e Exit) Fault() bool {
	switch e.Signal {
	case "segmentation fault", "bus error", "illegal instruction", "floating point exception", "bad system call",
		"aborted", "abort trap", "trace/breakpoint trap", "trace/BPT trap":
		return true
	}
	return false
}

// String returns "exit status 3", "signal: killed" or the reason why it is unknown.
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
		return Exit{Code: -1, Err: cmp.Or(err, os.ErrProcessDone)}
	}
	return Exit{Code: state.ExitCode(), Signal: signalName(state)}
}
