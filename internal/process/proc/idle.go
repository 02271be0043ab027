package proc

import (
	"context"
	"time"
)

// AwaitIdle waits until the process has exited or is idle: a process that is about to
// exit is still busy. It returns false if the process was busy for the whole duration
// d, or ctx ended. Only Linux shows whether a process is busy; elsewhere AwaitIdle
// waits for a short time.
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
