package proc

import (
	"context"
	"time"
)

// AwaitIdle waits until the process has ended, or has nothing to do: a process
// that is about to end is still at work. It returns false when the process was
// busy for the whole time d, and when ctx ended. Only Linux shows what a
// process does; elsewhere AwaitIdle gives one that is ending a moment to end.
func (p *Process) AwaitIdle(ctx context.Context, d time.Duration) bool {
	return backoff(d, func() bool {
		select {
		case <-p.exited:
			return true
		default:
			return ctx.Err() != nil || p.idle()
		}
	}) && ctx.Err() == nil
}
