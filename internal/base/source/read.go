package source

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"mcptest/internal/base/syserr"
)

// Read reads a file, which messages call name. It rejects a large file by its size
// without reading it, and anything that is not a regular file (a directory, an
// endless device), except a pipe, which it reads up to the limit. The file is nil if
// there are diagnostics.
func Read(path, name string) (*File, Diagnostics) {
	f := &File{Name: name, Path: path}
	if abs, err := filepath.Abs(path); err == nil {
		f.Path = abs
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, Diagnostics{explainUnreadable(name, err)}
	case info.IsDir():
		return nil, Diagnostics{{Pos: Pos{File: f}, Code: "unreadable", Msg: "this is a directory, not a file"}}
	case !info.Mode().IsRegular() && info.Mode()&fs.ModeNamedPipe == 0:
		return nil, Diagnostics{{Pos: Pos{File: f}, Code: "unreadable", Msg: "this is not a regular file"}}
	case info.Size() > MaxSize:
		return nil, Diagnostics{explainTooLarge(f, info.Size())}
	}
	if info.Mode()&fs.ModeNamedPipe != 0 {
		f.Data, err = readPipe(path)
	} else {
		f.Data, err = readFile(path, info.Size())
	}
	if err != nil {
		return nil, Diagnostics{explainUnreadable(name, err)}
	}
	if len(f.Data) > MaxSize {
		return nil, Diagnostics{explainTooLarge(&File{Name: f.Name, Path: f.Path}, int64(len(f.Data)))}
	}
	return f, nil
}

// readFile reads a regular file, which may have grown.
func readFile(path string, size int64) ([]byte, error) {
	in, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return readUpTo(in, size, MaxSize+1)
}

// writerTime limits the time for reading a pipe.
const writerTime = 10 * time.Second

var errNoWriter = errors.New("no process writes to this pipe")

// readPipe reads a named pipe without blocking until a process opens it for writing.
// Without a writer it is empty.
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

// readUpTo reads at most limit bytes into a slice allocated for size.
func readUpTo(in io.Reader, size, limit int64) ([]byte, error) {
	var b bytes.Buffer
	b.Grow(int(size) + bytes.MinRead)
	_, err := b.ReadFrom(io.LimitReader(in, limit))
	return b.Bytes(), err
}

// explainUnreadable describes why a file cannot be read, without its path, which the
// position contains.
func explainUnreadable(name string, err error) Diagnostic {
	d := Diagnostic{Pos: Pos{File: &File{Name: name}}, Code: "unreadable"}
	path, named := errors.AsType[*fs.PathError](err)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		d.Msg = "no such file"
		if named {
			d.Msg += Parenthesis(Suggest(filepath.ToSlash(findNearName(name, path.Path))))
		}
	case errors.Is(err, fs.ErrPermission):
		d.Msg = "no permission to read the file"
	case syserr.Is(err, syscall.ENOTDIR):
		d.Msg = "no such file"
	case named:
		d.Msg = "can't read the file: " + syserr.Text(path.Err)
	default:
		d.Msg = "can't read the file: " + syserr.Text(err)
	}
	return d
}

// findNearName returns the name of a file near a missing one, written like the name of that.
func findNearName(name, path string) string {
	near := FindNearFile(path)
	if near == "" || !strings.HasSuffix(filepath.ToSlash(path), filepath.ToSlash(name)) {
		return near
	}
	root := filepath.ToSlash(path[:len(path)-len(name)])
	if short, below := strings.CutPrefix(near, root); below {
		return short
	}
	return near
}

// ReadBeside reads a file that a suite names, relative to the file it is written in; nil
// if a mistake was reported. opened is called with its name.
func (d *Decoder) ReadBeside(n *Node, path, name string, opened func(name string)) *File {
	if n.Origin == FromServer {
		d.Errorf(n, path, "the server under test must not choose the file")
		return nil
	}
	if !filepath.IsAbs(name) && n.Pos.File != nil {
		name = filepath.Join(filepath.Dir(n.Pos.File.Path), name)
	}
	opened(name)
	f, ds := Read(name, name)
	if ds.HasErrors() {
		d.Errorf(n, path, "%s", ds[0].Msg)
		return nil
	}
	return f
}
