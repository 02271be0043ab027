//go:build unix

package testkit

import (
	"syscall"
	"time"
)

// ReadCPUTime returns the processor time that this process has used. Unlike the time on the
// clock, it does not grow while other processes have the processors.
func ReadCPUTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
