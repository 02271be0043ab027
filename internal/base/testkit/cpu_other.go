//go:build !unix

package testkit

import "time"

// ReadCPUTime returns the time on the clock: this system does not report processor time to
// the package syscall.
func ReadCPUTime() time.Duration { return time.Duration(time.Now().UnixNano()) }
