package osfile_test

import (
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"mcptest/internal/base/osfile"
)

// One holder at a time has the lock, although each removes its file at the end; and none is left.
func TestLockIsExclusiveAndLeavesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.lock")
	var holders atomic.Int32
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			for range 5 {
				unlock, err := osfile.Lock(t.Context(), path)
				if err != nil {
					t.Error(err)
					return
				}
				if n := holders.Add(1); n != 1 {
					t.Errorf("%d holders", n)
				}
				runtime.Gosched()
				holders.Add(-1)
				unlock()
			}
		})
	}
	all.Wait()
	if _, err := os.Stat(path); err == nil && runtime.GOOS != "windows" {
		t.Error("the lock file is left")
	}
}
