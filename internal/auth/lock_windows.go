package auth

import (
	"errors"
	"os"
	"syscall"
	"unsafe"
)

// tryLock takes the lock of an open file, which ends when it is closed.
func tryLock(f *os.File) (held bool, err error) {
	const (
		exclusive     = 2
		immediately   = 1
		lockViolation = syscall.Errno(33)
	)
	var at syscall.Overlapped
	ok, _, err := syscall.NewLazyDLL("kernel32.dll").NewProc("LockFileEx").Call(
		f.Fd(), exclusive|immediately, 0, 1, 0, uintptr(unsafe.Pointer(&at)))
	if ok != 0 {
		return true, nil
	}
	if errors.Is(err, lockViolation) || errors.Is(err, syscall.ERROR_IO_PENDING) {
		return false, nil
	}
	return false, err
}
