package osfile

import (
	"context"
	"fmt"
	"os"
	"time"
)

// lockPause is the time between two attempts to acquire the lock.
const lockPause = 20 * time.Millisecond

// Lock waits until this process exclusively holds the lock file at path, which is empty and
// removed by unlock.
func Lock(ctx context.Context, path string) (unlock func(), err error) {
	for {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return nil, err
		}
		held, err := TryLock(f)
		if held && isAt(f, path) {
			return func() {
				_ = os.Remove(path) // before the lock ends, so that it is no other process's
				_ = f.Close()       // which unlocks the file
			}, nil
		}
		_ = f.Close()
		if held { // its last owner has removed it since
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		select {
		case <-time.After(lockPause):
		case <-ctx.Done():
			return nil, fmt.Errorf("another process holds %s", path)
		}
	}
}

// isAt reports whether an open file is still the one at path.
func isAt(f *os.File, path string) bool {
	open, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(path)
	return err == nil && os.SameFile(open, there)
}
