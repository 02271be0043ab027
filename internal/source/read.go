package source

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// Read reads a file that is to be shown under name. The size is looked at
// first, so that a huge file is refused without being read; what is not a
// regular file (a directory, a device that never ends) is refused too, except
// for a pipe, which is read up to the limit. The file is nil when there are
// diagnostics.
func Read(path, name string) (*File, Diagnostics) {
	f := &File{Name: name, Path: path}
	if abs, err := filepath.Abs(path); err == nil {
		f.Path = abs
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, Diagnostics{unreadable(name, err)}
	case info.IsDir():
		return nil, Diagnostics{{Pos: Pos{File: f}, Code: "unreadable", Msg: "this is a directory, not a file"}}
	case !info.Mode().IsRegular() && info.Mode()&fs.ModeNamedPipe == 0:
		return nil, Diagnostics{{Pos: Pos{File: f}, Code: "unreadable", Msg: "this is not a regular file"}}
	case info.Size() > MaxSize:
		return nil, Diagnostics{tooLarge(f, info.Size())}
	}
	if info.Mode()&fs.ModeNamedPipe != 0 {
		f.Data, err = readPipe(path)
	} else {
		f.Data, err = readFile(path, info.Size())
	}
	if err != nil {
		return nil, Diagnostics{unreadable(name, err)}
	}
	if len(f.Data) > MaxSize {
		return nil, Diagnostics{tooLarge(&File{Name: f.Name, Path: f.Path}, int64(len(f.Data)))}
	}
	return f, nil
}

// readFile reads a regular file, which may have grown since it was looked at.
func readFile(path string, size int64) ([]byte, error) {
	in, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return readUpTo(in, size, MaxSize+1)
}

// writerTime is how long a pipe may take to give all that it has.
const writerTime = 10 * time.Second

var errNoWriter = errors.New("no process writes to this pipe")

// readPipe reads a named pipe without waiting for ever for somebody who writes
// to it, as opening one usually does. Until then it reads as empty.
func readPipe(path string) ([]byte, error) {
	in, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	end := time.Now().Add(writerTime)
	_ = in.SetReadDeadline(end)
	for time.Now().Before(end) {
		data, err := readUpTo(in, 0, MaxSize+1)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			break
		}
		if len(data) > 0 || err != nil {
			return data, err
		}
		time.Sleep(10 * time.Millisecond)
	}
	return nil, errNoWriter
}

// readUpTo reads at most limit bytes into a slice that is large enough from the
// beginning when size is true.
func readUpTo(in io.Reader, size, limit int64) ([]byte, error) {
	var b bytes.Buffer
	b.Grow(int(size) + bytes.MinRead)
	_, err := b.ReadFrom(io.LimitReader(in, limit))
	return b.Bytes(), err
}

// unreadable says why a file can't be read without repeating its path, which
// the position already shows.
func unreadable(name string, err error) Diagnostic {
	d := Diagnostic{Pos: Pos{File: &File{Name: name}}, Code: "unreadable"}
	var path *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		d.Msg = "no such file"
	case errors.Is(err, fs.ErrPermission):
		d.Msg = "no permission to read the file"
	case errors.Is(err, syscall.ENOTDIR):
		d.Msg = "no such file"
	case errors.As(err, &path):
		d.Msg = "can't read the file: " + path.Err.Error()
	default:
		d.Msg = "can't read the file: " + err.Error()
	}
	return d
}
