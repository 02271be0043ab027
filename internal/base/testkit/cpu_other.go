//go:build !unix

package testkit

import "time"

// CPUTime returns the time on the clock: this system does not report processor time to
// the package syscall.
func CPUTime() time.Duration { return time.Duration(time.Now().UnixNano()) }
