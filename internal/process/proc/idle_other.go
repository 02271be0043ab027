//go:build !linux

package proc

import (
	"context"
	"time"
)

// endTime is the time given to a process that is about to exit.
const endTime = 20 * time.Millisecond

func (p *Process) idle() bool {
	waitFor(context.Background(), p.exited, endTime)
	return true
}

// awaitExit does nothing: Process.Wait waits.
func awaitExit(int) {}

func sleepBriefly(d time.Duration) { time.Sleep(d) }
