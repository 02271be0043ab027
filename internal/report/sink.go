package report

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"

	"mcptest/internal/base/osfile"
	"mcptest/internal/base/syserr"
)

// Spec is one requested report.
type Spec struct {
	Format Format
	Path   string // "": standard output
}

// ParseSpec parses `name` or `name=path`; the path "-" is standard output.
func ParseSpec(s string) (Spec, error) {
	name, path, has := strings.Cut(s, "=")
	f, err := Find(strings.TrimSpace(name))
	if err != nil {
		return Spec{}, err
	}
	if has && path == "" {
		return Spec{}, fmt.Errorf("reporter %q: no path after the equals sign", s)
	}
	if path == "-" || path == "/dev/stdout" {
		path = ""
	}
	if err := osfile.CheckPath(path); err != nil {
		return Spec{}, err
	}
	return Spec{f, path}, nil
}

// ParseSpecs parses several specs and rejects two with the same destination.
func ParseSpecs(args []string) ([]Spec, error) {
	var out []Spec
	taken := map[string]string{}
	for _, arg := range args {
		s, err := ParseSpec(arg)
		if err != nil {
			return nil, err
		}
		if direct, _, err := findTarget(s.Path); err == nil && direct {
			out = append(out, s) // several reports may be written to a device or a pipe
			continue
		}
		at := osfile.Place(s.Path)
		if other, ok := taken[at]; ok {
			if s.Path == "" {
				return nil, fmt.Errorf("reporters %q and %q both write to standard output: give one a file, as in %s=report%s", other, s.Format.Name, s.Format.Name, s.Format.Ext)
			}
			return nil, fmt.Errorf("reporters %q and %q both write to %s", other, s.Format.Name, s.Path)
		}
		taken[at] = s.Format.Name
		out = append(out, s)
	}
	return out, nil
}

// Sink is the destination of one report. A file appears under its name only when
// Commit is called: a Sink writes to a temporary file in the same folder, syncs it
// and renames it. It rejects a symbolic link to a file, because the rename would
// replace the link, and writing through it would change a file that the user did not
// name. It writes directly to devices, pipes and files that this process has already
// open (/dev/stderr).
//
// Every error contains the path.
type Sink struct {
	path   string // "" for standard output
	buf    *bufio.Writer
	file   *os.File    // nil for standard output
	next   *osfile.New // nil if written directly
	live   bool
	err    error
	closed bool
}

// OpenLiveSink opens a sink for a report that is read while it grows, and that is
// useful if the program is killed: it writes directly to the named file.
func OpenLiveSink(path string, stdout io.Writer) (*Sink, error) {
	s := &Sink{path: path, live: true}
	if path == "" || path == "-" {
		s.path, s.buf = "", bufio.NewWriterSize(stdout, 16<<10)
		return s, nil
	}
	direct, _, err := findTarget(path)
	switch {
	case err != nil:
	case direct:
		s.file, err = openDirect(path)
	default:
		s.file, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	}
	return s.discardOnError(err)
}

// discardOnError returns the sink, whose file was opened unless err is set.
func (s *Sink) discardOnError(err error) (*Sink, error) {
	if err != nil {
		return nil, s.wrap(err)
	}
	s.buf = bufio.NewWriterSize(s.file, 16<<10)
	return s, nil
}

// OpenSink opens a sink for path; "" and "-" mean stdout. It reports problems of the
// folder before the run starts.
func OpenSink(path string, stdout io.Writer) (*Sink, error) {
	if path == "" || path == "-" {
		return &Sink{buf: bufio.NewWriterSize(stdout, 16<<10)}, nil
	}
	s := &Sink{path: path}
	return s.discardOnError(s.open())
}

// Temp returns the name of the temporary file, or "" if there is none. A caller that
// may be killed before Commit must remove it.
func (s *Sink) Temp() string {
	if s.next == nil {
		return ""
	}
	return s.next.Name()
}

// findTarget examines the destination: whether to write directly, and the mode of the new
// file otherwise.
func findTarget(path string) (direct bool, mode fs.FileMode, err error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, 0o666, nil
	case err != nil:
		return false, 0, err
	case isOpened(path):
		return true, 0, nil
	}
	link := info.Mode()&fs.ModeSymlink != 0
	if link {
		if to, err := os.Stat(path); err == nil {
			info = to
		}
	}
	switch {
	case info.IsDir():
		return false, 0, errors.New("it is a directory")
	case !info.Mode().IsRegular() && info.Mode()&fs.ModeSymlink == 0:
		return true, 0, nil
	case link:
		return false, 0, errors.New("it is a symbolic link; name the file itself, or - for standard output")
	}
	return false, info.Mode().Perm(), nil
}

// isOpened reports whether path names a file that this process has open.
func isOpened(path string) bool {
	return path == "/dev/stderr" || strings.HasPrefix(path, "/dev/fd/") || strings.HasPrefix(path, "/proc/self/fd/")
}

// openDirect opens a device or a pipe. It appends to a file that others write to.
func openDirect(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil || info.Mode()&fs.ModeNamedPipe == 0 {
		return os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	}
	// Opening a pipe waits without a limit until a process reads from it.
	for end := time.Now().Add(readerTime); ; time.Sleep(20 * time.Millisecond) {
		file, err := os.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK, 0)
		if err == nil || !errors.Is(err, syscall.ENXIO) {
			return file, err
		}
		if time.Now().After(end) {
			return nil, errors.New("no process reads from this pipe")
		}
	}
}

// readerTime is how long to wait for a reader of a pipe.
const readerTime = 2 * time.Second

func (s *Sink) open() error {
	direct, mode, err := findTarget(s.path)
	if err != nil {
		return err
	}
	if direct {
		s.file, err = openDirect(s.path)
		return err
	}
	s.next, err = osfile.Create(s.path, mode)
	if err == nil {
		s.file = s.next.File
	}
	return err
}

func (s *Sink) wrap(err error) error {
	if err == nil {
		return nil
	}
	name := cmp.Or(s.path, "standard output")
	if pe, ok := errors.AsType[*fs.PathError](err); ok { // its path is that of the temporary file
		err = pe.Err
	}
	return fmt.Errorf("write %s: %w", name, syserr.Plain(err))
}

// Write appends to the report.
func (s *Sink) Write(p []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	n, err := s.buf.Write(p)
	if err != nil {
		s.err = s.wrap(err)
	}
	if s.live {
		return n, s.Flush()
	}
	return n, s.err
}

// Flush writes buffered data, for reports that are read while they grow.
func (s *Sink) Flush() error {
	if s.err == nil {
		s.err = s.wrap(s.buf.Flush())
	}
	return s.err
}

// Commit makes the report appear under its name. It returns the first error of the
// sink; after an error it leaves no files behind.
func (s *Sink) Commit() error {
	if s.closed {
		return s.err
	}
	if s.Flush() != nil {
		s.Abort()
		return s.err
	}
	s.closed = true
	if s.file == nil {
		return nil
	}
	if s.next != nil {
		s.err = s.wrap(s.next.Commit())
	} else {
		s.err = s.wrap(s.file.Close())
	}
	return s.err
}

// Abort removes the temporary file. It does nothing after Commit.
func (s *Sink) Abort() {
	if s.closed {
		return
	}
	s.closed = true
	if s.file == nil {
		return
	}
	if s.next != nil {
		s.next.Abort()
	} else {
		s.file.Close()
	}
}
