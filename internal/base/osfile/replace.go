package osfile

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// New is the next content of a file. It has a temporary name in the same folder until
// Commit renames it to the file.
type New struct {
	*os.File
	path string
}

// Create creates a temporary file for the next content of the file at path. perm
// applies, before the umask, if the file does not exist yet.
func Create(path string, perm fs.FileMode) (*New, error) {
	dir, base := filepath.Split(path)
	for {
		temp := filepath.Join(dir, fmt.Sprintf(".%s.%08x.tmp", base, rand.Uint32()))
		f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
		if err == nil {
			return &New{f, path}, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
	}
}

// Commit replaces the file, after the new content has reached the disk. It removes the
// temporary file if that fails.
func (n *New) Commit() error {
	return n.rename(n.Sync())
}

// rename closes the new content and renames it to the file, unless there is an error.
func (n *New) rename(err error) error {
	err = errors.Join(err, n.Close())
	if err == nil {
		err = os.Rename(n.Name(), n.path)
	}
	if err != nil {
		_ = os.Remove(n.Name())
	}
	return err
}

// Abort discards the new content. The file is unchanged.
func (n *New) Abort() {
	_ = n.Close()
	_ = os.Remove(n.Name())
}

// Replace replaces the content of a file. If path exists and is not a regular file,
// such as a device, Replace writes to it.
func Replace(path string, data []byte, perm fs.FileMode) error {
	return replace(path, data, perm, (*New).Commit)
}

// ReplaceCache is [Replace] for content that may be lost when the machine loses its power:
// it does not wait for the disk, which takes 5 ms.
func ReplaceCache(path string, data []byte, perm fs.FileMode) error {
	return replace(path, data, perm, func(n *New) error { return n.rename(nil) })
}

func replace(path string, data []byte, perm fs.FileMode, commit func(*New) error) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		if info.IsDir() {
			return errors.New("it is a folder")
		}
		return os.WriteFile(path, data, perm)
	}
	n, err := Create(path, perm)
	if err != nil {
		return err
	}
	if _, err := n.Write(data); err != nil {
		n.Abort()
		return err
	}
	return commit(n)
}
