package detach

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"mcptest/internal/osfile"
)

// ErrNothing reports that no environment is running here.
var ErrNothing = errors.New("nothing is running here")

// lock is the right to start or stop the environment of a folder: a lock on a
// file in the folder. It ends with the process.
type lock struct{ f *os.File }

// takeLock takes the lock of the folder dir, which make creates if need be.
// Without make the error is ErrNothing when there is no folder. who is what
// others are shown as the holder of the lock.
func takeLock(dir, who string, make func() error) (*lock, error) {
	name := filepath.Join(dir, "lock")
	for range 10 {
		if make != nil {
			if err := make(); err != nil {
				return nil, fmt.Errorf("create the directory for --setup-only: %w", err)
			}
		} else if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
			return nil, ErrNothing
		}
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
		if errors.Is(err, fs.ErrNotExist) {
			continue // its holder has just removed the folder
		}
		if err != nil {
			return nil, fmt.Errorf("open the lock file of --setup-only: %w", err)
		}
		held, err := osfile.TryLock(f)
		if err != nil {
			f.Close()
			return nil, fmt.Errorf("lock %s: %w", name, err)
		}
		if !held {
			defer f.Close()
			return nil, fmt.Errorf("another mcptest is using the environment of --setup-only here%s: wait until it has finished", holder(f))
		}
		if !same(f, name) {
			f.Close()
			continue // a lock on a file that was removed locks nothing
		}
		_ = f.Truncate(0)
		_, _ = f.WriteAt(fmt.Appendf(nil, "pid %d, %s", os.Getpid(), who), 0)
		return &lock{f: f}, nil
	}
	return nil, fmt.Errorf("cannot lock %s: it is a symbolic link, or another mcptest keeps removing it", name)
}

// same reports whether the open file is still the one of that name, and no
// link leads to it: its content is about to be replaced.
func same(f *os.File, name string) bool {
	mine, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(name)
	return err == nil && os.SameFile(mine, there)
}

// holder is what the holder of a lock wrote into its file.
func holder(f *os.File) string {
	text := make([]byte, 200)
	n, _ := f.ReadAt(text, 0)
	who := strings.TrimSpace(string(text[:n]))
	if who == "" {
		return ""
	}
	return " (" + who + ")"
}

// release ends the lock.
func (l *lock) release() {
	if l != nil {
		_ = l.f.Close()
	}
}
