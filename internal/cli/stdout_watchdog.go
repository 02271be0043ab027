package cli

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"time"

	"mcptest/internal/process/proc"

	"mcptest/internal/base/term"
)

// unreadTime limits how long standard output may block after a signal; a single write
// may take a third of it. While a write blocks, no test can end and no cleanup can be
// reported.
const unreadTime = 6 * time.Second

// output is a writer that records when the current write began.
type output struct {
	to    io.Writer
	since atomic.Int64 // UnixNano at which the current write began; 0: none
}

// Write writes p to the underlying writer.
func (o *output) Write(p []byte) (int, error) {
	o.since.Store(time.Now().UnixNano())
	defer o.since.Store(0)
	return o.to.Write(p)
}

// watchOutput returns a writer that replaces out. It ends the process with kill if a
// write blocks after limit has passed since ctx was interrupted. It does not watch a
// terminal, because a user who stopped it can continue it. stop ends the watch.
func watchOutput(ctx context.Context, out io.Writer, limit time.Duration, kill func(code int)) (watched io.Writer, stop func()) {
	if term.IsTerminal(out) {
		return out, func() {}
	}
	o := &output{to: out}
	done := make(chan struct{})
	go func() {
		select {
		case <-ctx.Done():
		case <-done:
			return
		}
		var by *proc.Interrupted
		if !errors.As(context.Cause(ctx), &by) {
			return
		}
		signalled := time.Now().UnixNano()
		tick := time.NewTicker(limit / 20)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case now := <-tick.C:
				since := o.since.Load()
				at := now.UnixNano()
				if since != 0 && at-signalled >= int64(limit) && at-since >= int64(limit)/3 {
					kill(by.Code)
					return
				}
			}
		}
	}()
	return o, func() { close(done) }
}
