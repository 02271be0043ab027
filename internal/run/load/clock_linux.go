package load

import (
	"syscall"
	"time"
)

// pause sleeps precisely: the timers of Go are late by up to 1.1 ms in an idle process,
// because it waits for the network in whole milliseconds.
func pause(d time.Duration) {
	_ = syscall.Nanosleep(new(syscall.NsecToTimespec(int64(d))), nil)
}

// readCPUTime returns the time of processors that this process has used.
func readCPUTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
