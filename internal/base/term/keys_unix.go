//go:build linux || darwin || freebsd || netbsd || openbsd

package term

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// EnterKeyMode makes a terminal deliver keys without waiting for Enter and without
// showing them; Ctrl-C still is a signal. restore undoes it.
func EnterKeyMode(f *os.File) (restore func(), err error) {
	fd := int(f.Fd())
	before, err := unix.IoctlGetTermios(fd, getTermios)
	if err != nil {
		return nil, fmt.Errorf("read the state of the terminal: %w", err)
	}
	mode := *before
	mode.Lflag &^= unix.ICANON | unix.ECHO
	mode.Cc[unix.VMIN], mode.Cc[unix.VTIME] = 1, 0
	if err := unix.IoctlSetTermios(fd, setTermios, &mode); err != nil {
		return nil, fmt.Errorf("set the state of the terminal: %w", err)
	}
	return func() { _ = unix.IoctlSetTermios(fd, setTermios, before) }, nil
}
