package keep

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"mcptest/internal/base/osfile"
	"mcptest/internal/base/source"
)

// File is a suite file as it was read.
type File struct {
	Source *source.File
	real   string      // its path with all links resolved
	info   fs.FileInfo // nil: the file does not exist yet
}

// IsNew reports whether the file did not exist when it was read.
func (f *File) IsNew() bool { return f.info == nil }

// New returns a suite file that does not exist yet, with the text that a test is inserted
// into. Write creates it.
func New(path string, text []byte) (*File, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if _, err := os.Lstat(abs); err == nil {
		return nil, &RefusedError{path + " exists"}
	}
	return &File{Source: &source.File{Name: path, Path: path, Data: text}, real: abs}, nil
}

// lockTime is how long to wait for another process that writes the same file.
const lockTime = 20 * time.Second

// Open reads a suite that a test is to be inserted into. It refuses what is not a file, what
// may not be written, and a link to a file outside of its folder.
func Open(path string) (*File, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	folder, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	if real, err = filepath.Abs(real); err != nil {
		return nil, err
	}
	if folder, err = filepath.Abs(folder); err != nil {
		return nil, err
	}
	if rel, err := filepath.Rel(folder, real); err != nil || !filepath.IsLocal(rel) {
		return nil, &RefusedError{fmt.Sprintf("%s is a link to %s, outside of its folder: name that file instead", path, real)}
	}
	info, err := os.Stat(real)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &RefusedError{path + " is not a regular file"}
	}
	writable, err := os.OpenFile(real, os.O_WRONLY, 0)
	if err != nil || info.Mode().Perm()&0o222 == 0 {
		return nil, &RefusedError{path + " may not be written: " + describeProblem(err)}
	}
	_ = writable.Close()
	text, diags := source.Read(path, path)
	if text == nil {
		return nil, &RefusedError{diags[0].Msg}
	}
	return &File{Source: text, real: real, info: info}, nil
}

func describeProblem(err error) string {
	if wrapped, ok := errors.AsType[*fs.PathError](err); ok {
		return wrapped.Err.Error()
	}
	return "its permissions are read-only"
}

// A Change returns the new content of a file that has some content now.
type Change func(now *source.File) ([]byte, error)

// Write replaces the file by the result of a change of its content now. Permissions and links
// remain. The change is called while other processes that insert tests wait.
func (f *File) Write(ctx context.Context, change Change) error {
	return f.runLocked(ctx, func() error {
		data, err := f.readContent()
		if err != nil {
			return &RefusedError{fmt.Sprintf("%s was not written: %v", f.Source.Name, err)}
		}
		after, err := change(&source.File{Name: f.Source.Name, Path: f.Source.Path, Data: data})
		if err != nil {
			return err
		}
		return f.replace(after)
	})
}

// WriteIfUnchanged is Write, but returns a *RefusedError if another process has changed the
// file since it was read.
func (f *File) WriteIfUnchanged(ctx context.Context, change Change) error {
	return f.Write(ctx, func(now *source.File) ([]byte, error) {
		if !bytes.Equal(now.Data, f.Source.Data) {
			return nil, &RefusedError{f.Source.Name + " has changed since it was shown, so nothing was written: repeat the command"}
		}
		return change(now)
	})
}

// runLocked calls change while other processes that insert tests wait.
func (f *File) runLocked(ctx context.Context, change func() error) error {
	ctx, cancel := context.WithTimeout(ctx, lockTime)
	defer cancel()
	dir, base := filepath.Split(f.real)
	unlock, err := osfile.Lock(ctx, filepath.Join(dir, "."+base+".lock"))
	if err != nil {
		return &RefusedError{fmt.Sprintf("%s was not written: %v", f.Source.Name, err)}
	}
	defer unlock()
	return change()
}

// readContent returns what the file contains now. One that is to be created must not exist.
func (f *File) readContent() ([]byte, error) {
	if f.info != nil {
		return os.ReadFile(f.real)
	}
	if _, err := os.Lstat(f.real); err == nil {
		return nil, errors.New("another process has created it, so it has changed")
	}
	return f.Source.Data, nil
}

// Remove removes a file that Write created, if its content is still the given one.
func (f *File) Remove(ctx context.Context, content []byte) error {
	return f.runLocked(ctx, func() error {
		data, err := os.ReadFile(f.real)
		if err != nil {
			return &RefusedError{fmt.Sprintf("%s was not removed: %v", f.Source.Name, err)}
		}
		if !bytes.Equal(data, content) {
			return &RefusedError{f.Source.Name + " has changed since, so it was not removed"}
		}
		return os.Remove(f.real)
	})
}

// replace replaces the content and keeps the permissions and the owner.
func (f *File) replace(data []byte) error {
	if f.info == nil {
		return osfile.Replace(f.real, data, 0o666)
	}
	n, err := osfile.Create(f.real, 0o600)
	if err != nil {
		return &RefusedError{fmt.Sprintf("%s was not written: %v", f.Source.Name, err)}
	}
	_, err = n.Write(data)
	err = errors.Join(err, n.Chmod(f.info.Mode().Perm()), keepOwner(n.File, f.info))
	if err != nil {
		n.Abort()
		return err
	}
	return n.Commit()
}
