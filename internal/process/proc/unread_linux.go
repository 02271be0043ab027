package proc

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// unreadMost limits the part of an unread input that is examined, in bytes.
const unreadMost = 1 << 20

// rest returns the remaining data in the pipe.
func (s *stdinPipe) rest() []byte {
	raw, err := s.f.SyscallConn()
	if err != nil {
		return nil
	}
	var out []byte
	_ = raw.Control(func(fd uintptr) {
		// The kernel's list of open files gives access to the other end of a pipe.
		r, err := unix.Open(fmt.Sprintf("/proc/self/fd/%d", fd), unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
		if err != nil {
			return
		}
		defer unix.Close(r)
		buf := make([]byte, 64<<10)
		for len(out) < unreadMost {
			n, err := unix.Read(r, buf)
			if n <= 0 || err != nil {
				return
			}
			out = append(out, buf[:n]...)
		}
	})
	return out
}

// waiting returns the number of bytes in the pipe.
func (s *stdinPipe) waiting() (n int) {
	if raw, err := s.f.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { n, _ = unix.IoctlGetInt(int(fd), unix.TIOCINQ) })
	}
	return n
}

// waiting returns the number of bytes in the pipe.
func (w *wire) waiting() (n int) {
	if raw, err := w.f.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { n, _ = unix.IoctlGetInt(int(fd), unix.TIOCINQ) })
	}
	return n
}
