package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"mcptest/internal/run"
	"mcptest/internal/term"
)

// overtime is how long after the first signal a run may still take: ten
// seconds of clean-up and the writing of its reports. It ends a run whose
// output nobody reads.
const overtime = 30 * time.Second

// watchSignals cancels the context at the first SIGINT, SIGTERM or SIGHUP and
// calls kill at the second one, or when the run takes too long to end; kill
// must end the process. SIGQUIT (Ctrl-\) is such a second signal at once. stop
// ends the watch; signals have no effect from then on, for the process is about
// to end.
//
// A SIGHUP that was ignored when we were started (nohup) stays ignored. A
// write to a closed pipe is an error from now on and no longer a signal; the
// programs we start still get the signal.
func watchSignals(ctx context.Context, stderr io.Writer, kill func(code int)) (out context.Context, stop func()) {
	out, cancel := context.WithCancelCause(ctx)
	ch := make(chan os.Signal, 4)
	want := []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGQUIT}
	if !signal.Ignored(syscall.SIGHUP) {
		want = append(want, syscall.SIGHUP)
	}
	signal.Notify(ch, want...)
	pipe := make(chan os.Signal, 1) // never read: being told of is all it is for
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
				cancel(&run.Interrupted{Signal: name, Code: code})
				if term.IsTerminal(stderr) {
					fmt.Fprintf(stderr, "\nmcptest: %s: ending what was begun; once more kills it\n", name)
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
		// The signals stay ours: the command is ending with its exit code,
		// which one more of them must not change.
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
