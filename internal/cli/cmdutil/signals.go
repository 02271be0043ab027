package cmdutil

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"mcptest/internal/process/proc"

	"mcptest/internal/base/term"
)

// overtime is how long a run may take after the first signal: ten seconds of
// clean-up, and the writing of its reports. It ends a run whose output is not
// being read.
const overtime = 30 * time.Second

// WatchSignals cancels the context at the first SIGINT, SIGTERM or SIGHUP and
// calls kill at the second one, or when the run takes too long to end; kill
// must end the process. SIGQUIT (Ctrl-\) counts as a second signal. stop ends
// the watch; signals are ignored from then on, because the process is about to
// end.
//
// A SIGHUP that was ignored when the program started (nohup) stays ignored.
// From now on a write to a closed pipe is an error and not a signal; the
// programs that are started still get the signal.
func WatchSignals(ctx context.Context, stderr io.Writer, kill func(code int)) (out context.Context, stop func()) {
	out, cancel := context.WithCancelCause(ctx)
	ch := make(chan os.Signal, 4)
	signal.Notify(ch, Signals()...)
	pipe := make(chan os.Signal, 1) // never read: it only keeps SIGPIPE from ending the process
	signal.Notify(pipe, syscall.SIGPIPE)
	done, over := make(chan struct{}), make(chan struct{})
	var killing atomic.Bool
	go func() {
		defer close(over)
		var late <-chan time.Time
		code := 0
		for {
			select {
			case sig := <-ch:
				first := code == 0 && sig != syscall.SIGQUIT
				var name string
				name, code = signalName(sig)
				if !first {
					killing.Store(true)
					kill(code)
					return
				}
				late = time.After(overtime)
				cancel(&proc.Interrupted{Signal: name, Code: code})
				if term.IsTerminal(stderr) {
					fmt.Fprintf(stderr, "\nmcptest: %s: cleaning up; repeat the signal to kill\n", name)
				}
			case <-late:
				killing.Store(true)
				kill(code)
				return
			case <-done:
				return
			}
		}
	}()
	return out, func() {
		// Signals are still caught: the command is ending with its exit
		// code, which another signal must not change.
		if killing.Load() {
			<-over // the second signal's exit code is the one that counts
		}
		close(done)
		cancel(nil)
	}
}

func signalName(sig os.Signal) (string, int) {
	switch sig {
	case os.Interrupt:
		return "SIGINT", 130
	case syscall.SIGHUP:
		return "SIGHUP", 129
	case syscall.SIGQUIT:
		return "SIGQUIT", 131
	default:
		return "SIGTERM", 143
	}
}

// Signals returns the signals that end a program. An ignored SIGHUP (nohup) remains
// ignored.
func Signals() []os.Signal {
	list := []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGQUIT}
	if !signal.Ignored(syscall.SIGHUP) {
		list = append(list, syscall.SIGHUP)
	}
	return list
}
