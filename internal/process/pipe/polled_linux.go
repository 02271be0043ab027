package pipe

import (
	"io"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Polled returns a reader of r that waits in Go's poller instead of a blocking read.
// With Go 1.26 and 1.27, a garbage collection that begins while another goroutine
// enters a blocking read can stop the program until that read returns: a server that
// handles requests while it waits for the next one then does not respond. The file's
// flags, which it may share with other processes, remain unchanged. A regular file and
// a reader that is not a file are returned as they are.
func Polled(r io.Reader) io.Reader {
	f, ok := r.(*os.File)
	if !ok {
		return r
	}
	raw, err := f.SyscallConn()
	if err != nil {
		return r
	}
	p := polled{Reader: f, raw: raw}
	if p.ready, err = watchFile(raw); err != nil {
		return r
	}
	return p
}

// watchFile returns an epoll instance that watches a file. Go's poller can wait for it
// even if the file itself is in blocking mode.
func watchFile(raw syscall.RawConn) (syscall.RawConn, error) {
	set, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, err
	}
	_ = unix.SetNonblock(set, true) // os.NewFile leaves other files to blocking reads
	f := os.NewFile(uintptr(set), "epoll")
	add := func(fd uintptr) {
		err = unix.EpollCtl(set, unix.EPOLL_CTL_ADD, int(fd), &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)})
	}
	if e := raw.Control(add); e != nil || err != nil {
		f.Close()
		return nil, os.ErrInvalid // a regular file
	}
	return f.SyscallConn()
}

type polled struct {
	io.Reader
	raw, ready syscall.RawConn
}

func (p polled) Read(b []byte) (int, error) {
	// An error of the poller leaves the waiting to the read.
	_ = p.ready.Read(func(uintptr) (arrived bool) {
		closed := p.raw.Control(func(fd uintptr) {
			n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
			arrived = n > 0 || err != nil && err != unix.EINTR
		})
		return arrived || closed != nil
	})
	return p.Reader.Read(b)
}
