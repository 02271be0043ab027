//go:build unix && !solaris && !aix

package osfile

import (
	"errors"
	"os"
	"syscall"
)

// TryLock acquires the lock of an open file if no process holds it. The lock ends
// when the file is closed or this process ends; its child processes do not hold it.
func TryLock(f *os.File) (held bool, err error) {
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EINTR) {
		return false, nil
	}
	return err == nil, err
}
