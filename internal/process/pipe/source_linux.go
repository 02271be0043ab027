package pipe

import (
	"io"
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// Source reads a pipe whose reader must be able to tell how much of what was written
// it has not kept yet.
type Source struct {
	f   *os.File
	mu  sync.Mutex // held from a read until its data is kept
	raw syscall.RawConn
}

// NewSource returns a source that reads f. A regular file never has unread data.
func NewSource(f *os.File) *Source {
	s := &Source{f: f}
	if info, err := f.Stat(); err == nil && !info.Mode().IsRegular() {
		s.raw, _ = f.SyscallConn()
	}
	return s
}

// Read reads into b, and passes what it read to keep before [Source.Unread] counts it
// as read.
func (s *Source) Read(b []byte, keep func([]byte)) (n int, err error) {
	if s.raw == nil {
		if n, err = s.f.Read(b); n > 0 {
			keep(b[:n])
		}
		return n, err
	}
	waitErr := s.raw.Read(func(fd uintptr) bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		for {
			if n, err = unix.Read(int(fd), b); err != unix.EINTR {
				break
			}
		}
		if n > 0 {
			keep(b[:n])
		}
		return err != unix.EAGAIN
	})
	switch {
	case waitErr != nil:
		return 0, waitErr
	case err != nil:
		return 0, os.NewSyscallError("read", err)
	case n == 0:
		return 0, io.EOF
	}
	return n, nil
}

// Unread calls count with the number of bytes that were written to the pipe but not
// read yet. Meanwhile nothing is read.
func (s *Source) Unread(count func(n int)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	if s.raw != nil {
		_ = s.raw.Control(func(fd uintptr) { n, _ = unix.IoctlGetInt(int(fd), unix.TIOCINQ) })
	}
	count(n)
}
