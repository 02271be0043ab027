package proc

import (
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// reap reaps a dead child that no other goroutine waits for.
func reap(pid int) {
	var ws syscall.WaitStatus
	_, _ = syscall.Wait4(pid, &ws, syscall.WNOHANG, nil)
}

// awaitExit waits until a child has exited. Process.Wait would block a thread, and
// one of the scheduler's processors until it is retaken, which delays other work by
// up to 10 ms.
func awaitExit(pid int) {
	fd, err := unix.PidfdOpen(pid, unix.PIDFD_NONBLOCK)
	if err != nil {
		return // a kernel before 5.10
	}
	f := os.NewFile(uintptr(fd), "pidfd")
	defer f.Close()
	if raw, err := f.SyscallConn(); err == nil {
		_ = raw.Read(func(fd uintptr) bool {
			n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
			return n > 0 || err != nil && err != unix.EINTR
		})
	}
}

// sleepBriefly is a short time.Sleep, which the poller of Go's runtime would round up to a
// millisecond.
func sleepBriefly(d time.Duration) {
	_ = syscall.Nanosleep(new(syscall.NsecToTimespec(d.Nanoseconds())), nil)
}
