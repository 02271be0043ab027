//go:build !linux

package pipe

import (
	"io"
	"os"
)

// Waiter returns a function that does nothing on this system.
func (t *Turn) Waiter(*os.File) func() { return func() {} }

// ReaderGone is not available on this system.
func ReaderGone(*os.File) bool { return false }

// Polled returns r on this system.
func Polled(r io.Reader) io.Reader { return r }

// Source reads a file. On this system it does not know what it has not read yet.
type Source struct{ f *os.File }

// NewSource returns a source that reads f.
func NewSource(f *os.File) *Source { return &Source{f} }

// Read reads into b, and passes what it read to keep.
func (s *Source) Read(b []byte, keep func([]byte)) (int, error) {
	n, err := s.f.Read(b)
	if n > 0 {
		keep(b[:n])
	}
	return n, err
}

// Unread calls count with 0.
func (s *Source) Unread(count func(n int)) { count(0) }
