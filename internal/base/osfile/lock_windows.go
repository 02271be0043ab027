package osfile

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// TryLock acquires the lock of an open file if no process holds it. The lock ends
// when the file is closed or this process ends; its child processes do not hold it.
// The locked byte is far beyond the end, so that others can read the file.
func TryLock(f *os.File) (held bool, err error) {
	at := windows.Overlapped{Offset: 1 << 30}
	err = windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return false, nil
	}
	return err == nil, err
}
