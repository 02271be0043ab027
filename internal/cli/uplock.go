package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"mcptest/internal/osfile"
)

// errNothingUp says that there is no folder of a world.
var errNothingUp = errors.New("nothing is running here")

// upLock is the right to bring up or to end the world of a folder: a lock on a
// file in the folder, held by one process at a time and gone with it.
type upLock struct{ f *os.File }

// lockUp takes the lock of the folder dir, which make creates if need be.
// Without make the error is errNothingUp when there is no folder. Somebody else
// who has the lock is a mistake of the user's; who says what we are about.
func lockUp(dir, who string, make func() error) (*upLock, error) {
	name := filepath.Join(dir, "lock")
	for range 10 {
		if make != nil {
			if err := make(); err != nil {
				return nil, fail(exitInvalid, "create the directory for --setup-only: %v", err)
			}
		} else if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
			return nil, errNothingUp
		}
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
		if errors.Is(err, fs.ErrNotExist) {
			continue // whoever had it has just taken the folder away
		}
		if err != nil {
			return nil, fail(exitInvalid, "open the lock file of --setup-only: %v", err)
		}
		held, err := osfile.TryLock(f)
		if err != nil {
			f.Close()
			return nil, fail(exitInvalid, "lock %s: %v", name, err)
		}
		if !held {
			defer f.Close()
			return nil, fail(exitInvalid, "another mcptest is using the environment of --setup-only here%s: wait until it has finished", holder(f))
		}
		if !same(f, name) {
			f.Close()
			continue // a lock on a file that is no longer there holds nobody off
		}
		_ = f.Truncate(0)
		_, _ = f.WriteAt(fmt.Appendf(nil, "pid %d, %s", os.Getpid(), who), 0)
		return &upLock{f: f}, nil
	}
	return nil, fail(exitInvalid, "cannot lock %s: it is a symbolic link, or another mcptest keeps removing it", name)
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

// holder says who has a lock, from what they wrote into its file.
func holder(f *os.File) string {
	text := make([]byte, 200)
	n, _ := f.ReadAt(text, 0)
	who := strings.TrimSpace(string(text[:n]))
	if who == "" {
		return ""
	}
	return " (" + who + ")"
}

// release gives the lock back.
func (l *upLock) release() {
	if l != nil {
		_ = l.f.Close()
	}
}
