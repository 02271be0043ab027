//go:build unix && !solaris && !aix

package auth

import (
	"errors"
	"os"
	"syscall"
)

// tryLock takes the lock of an open file, which ends when it is closed.
func tryLock(f *os.File) (held bool, err error) {
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EINTR) {
		return false, nil
	}
	return err == nil, err
}
