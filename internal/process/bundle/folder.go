package bundle

import (
	"archive/zip"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"mcptest/internal/base/osfile"
)

// Folders chooses the folders of bundles, one for each bundle, so that a suite that is read
// several times gets the same program. The zero value is ready to use; so is nil, with which
// each program has a folder of its own.
type Folders struct {
	mu    sync.Mutex
	known map[string]*Folder
}

// newFolder returns the folder of a bundle, which does not exist yet.
func (f *Folders) newFolder(b *Bundle) *Folder {
	if f == nil {
		return newFolder()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.known == nil {
		f.known = map[string]*Folder{}
	}
	if f.known[b.stamp] == nil {
		f.known[b.stamp] = newFolder()
	}
	return f.known[b.stamp]
}

// prefix begins the names of the folders, in the folder for temporary files.
const prefix = "mcptest-bundle-"

// A Folder is where a bundle is unpacked: its content, an empty folder to start it in, and a
// lock that is held as long as it is used.
type Folder struct {
	path string

	mu sync.Mutex
}

func newFolder() *Folder {
	random := make([]byte, 8)
	_, _ = rand.Read(random) // never fails
	return &Folder{path: filepath.Join(os.TempDir(), prefix+hex.EncodeToString(random))}
}

func (f *Folder) content() string { return filepath.Join(f.path, "bundle") }
func (f *Folder) empty() string   { return filepath.Join(f.path, "empty") }

// Owner removes folders when the processes in them have ended. release is called before.
type Owner interface {
	OwnDir(path string, release func())
}

// create makes the folder, locks it and gives it to its owner.
func (f *Folder) create(owner Owner) error {
	if err := os.Mkdir(f.path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	lock, err := os.OpenFile(filepath.Join(f.path, lockName), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	if _, err := osfile.TryLock(lock); err != nil {
		_ = lock.Close()
		return err
	}
	owner.OwnDir(f.path, func() { _ = lock.Close() })
	if err := os.MkdirAll(f.empty(), 0o700); err != nil {
		return err
	}
	return os.MkdirAll(f.content(), 0o700)
}

const lockName = "lock"

// staleAge is the age from which on an unlocked folder is left over: a younger one may be
// about to be locked.
const staleAge = time.Minute

// removeStale removes the folders of runs that were killed together with their watchdogs:
// no process holds their locks.
func removeStale(own string) {
	left, _ := filepath.Glob(filepath.Join(osfile.EscapeGlob(os.TempDir()), prefix+"*"))
	for _, dir := range left {
		if dir != own {
			removeUnlocked(dir)
		}
	}
}

func removeUnlocked(dir string) {
	path := filepath.Join(dir, lockName)
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || time.Since(info.ModTime()) < staleAge {
		return
	}
	lock, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return // it is another user's
	}
	held, err := osfile.TryLock(lock)
	if err == nil && held {
		_ = os.RemoveAll(filepath.Join(dir, "bundle"))
	}
	_ = lock.Close()
	if err == nil && held {
		_ = os.RemoveAll(dir)
	}
}

// unpack writes the files of the archive below dir. The names were checked.
func (b *Bundle) unpack(dir string) error {
	a, d := b.open()
	if d != nil {
		return errors.New(d.Msg)
	}
	defer a.Close()
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, e := range a.File {
		name := filepath.FromSlash(cleanName(e.Name))
		if isFolder(e) {
			err = root.MkdirAll(name, 0o700)
		} else if err = root.MkdirAll(filepath.Dir(name), 0o700); err == nil {
			err = unpackFile(root, name, e)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", quoteName(e.Name), err)
		}
	}
	return nil
}

// unpackFile writes one file, with the permissions that the archive has. While it is open, no
// process may be started: a process has the open files of its parent for a moment, and a
// program that is open for writing can't be run ("text file busy").
func unpackFile(root *os.Root, name string, e *zip.File) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	in, err := e.Open()
	if err != nil {
		return err
	}
	defer in.Close()
	mode := unixMode(e) | 0o600
	if mode == 0o600 {
		mode = 0o644
	}
	out, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	n, err := io.Copy(out, io.LimitReader(in, int64(e.UncompressedSize64)+1))
	if closing := out.Close(); err == nil {
		err = closing
	}
	if err == nil && uint64(n) != e.UncompressedSize64 {
		err = fmt.Errorf("it has %d bytes in place of %d", n, e.UncompressedSize64)
	}
	return err
}

// Verify reads every entry to its end, so that damage is found that the directory of the
// archive does not show.
func (b *Bundle) Verify() error {
	a, d := b.open()
	if d != nil {
		return errors.New(d.Msg)
	}
	defer a.Close()
	for _, e := range a.File {
		if isFolder(e) {
			continue
		}
		in, err := e.Open()
		if err == nil {
			_, err = io.Copy(io.Discard, io.LimitReader(in, int64(e.UncompressedSize64)+1))
			_ = in.Close()
		}
		if err != nil {
			return fmt.Errorf("%s is damaged: %w", quoteName(e.Name), err)
		}
	}
	return nil
}
