package osfile

import (
	"context"
	"fmt"
	"os"
	"time"
)

// lockPause is the time between two attempts to acquire the lock.
const lockPause = 20 * time.Millisecond

// Lock waits until this process exclusively holds the lock file at path, which stays
// empty.
func Lock(ctx context.Context, path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		held, err := TryLock(f)
		if held {
			return func() { _ = f.Close() }, nil // closing unlocks the file
		}
		if err != nil {
			_ = f.Close()
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		select {
		case <-time.After(lockPause):
		case <-ctx.Done():
			_ = f.Close()
			return nil, fmt.Errorf("another process holds %s", path)
		}
	}
}
