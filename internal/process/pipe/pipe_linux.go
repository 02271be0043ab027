package pipe

import (
	"os"

	"golang.org/x/sys/unix"
)

// patience is how long a reader waits in the kernel for a response, in milliseconds,
// before it leaves that to Go's poller. A server that responds sooner does not cost
// the way through Go's scheduler, whose idle threads and monitor thread take CPU
// time from the server.
const patience = 1

// Waiter returns a function that waits briefly until data is in f, unless another
// reader has the turn. One goroutine at a time may call it.
func (t *Turn) Waiter(f *os.File) func() {
	raw, err := f.SyscallConn()
	if err != nil {
		return func() {}
	}
	fds := []unix.PollFd{{Events: unix.POLLIN}}
	wait := func(fd uintptr) {
		fds[0].Fd = int32(fd)
		_, _ = unix.Poll(fds, patience)
	}
	return func() {
		if t.taken.CompareAndSwap(false, true) {
			_ = raw.Control(wait)
			t.taken.Store(false)
		}
	}
}

// ReaderGone reports whether no process can read from a pipe or socket any more. It
// is available on Linux.
func ReaderGone(f *os.File) (gone bool) {
	raw, err := f.SyscallConn()
	if err != nil {
		return false
	}
	_ = raw.Control(func(fd uintptr) {
		poll := []unix.PollFd{{Fd: int32(fd)}}
		n, err := unix.Poll(poll, 0)
		gone = err == nil && n > 0 && poll[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0
	})
	return gone
}
