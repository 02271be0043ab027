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
