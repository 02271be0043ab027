package cassette

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"mcptest/internal/assert/jsonpath"
	"mcptest/internal/base/jsonv"
)

// inMemory is the maximum size of a line whose message is kept in memory.
const inMemory = 64 << 10

// maxLine bounds a line: a message in base64 with its other members.
const maxLine = MaxMessage/3*4 + 1<<20

// maxFrames bounds the lines of a cassette.
const maxFrames = 10_000_000

// Cassette is a recording that has been read. Large messages stay in the file.
type Cassette struct {
	Header
	File   string
	Frames []Frame
	// Warning returns a warning if the last line of the cassette is incomplete;
	// otherwise nil.
	Warning *Error

	src      io.ReaderAt
	f        *os.File
	volatile [][]jsonpath.Step
	failed   atomic.Pointer[error]
}

// Open reads a cassette; errors about its content are of type [*Error].
func Open(path string) (*Cassette, error) {
	f, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	var c *Cassette
	if err == nil {
		c, err = Read(path, f, info.Size())
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	c.f = f
	return c, nil
}

// openRegular opens a file only if it is regular: opening a pipe waits for its writer.
func openRegular(path string) (*os.File, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, &Error{File: path, Says: "not a regular file"}
	}
	return os.Open(path)
}

// Close closes the file of a cassette.
func (c *Cassette) Close() error {
	if c.f == nil {
		return nil
	}
	return c.f.Close()
}

// Read reads a cassette from src, which must stay readable while the cassette is
// used. The name is used in messages.
func Read(name string, src io.ReaderAt, size int64) (*Cassette, error) {
	c := &Cassette{File: name, src: src}
	in := bufio.NewReaderSize(io.NewSectionReader(src, 0, size), 64<<10)
	var offset int64
	for n := 1; ; n++ {
		text, whole, err := readLine(in)
		switch {
		case err == io.EOF && n > 1:
			return c, nil
		case err == io.EOF:
			return nil, c.newError(0, "the file is empty: it is not a cassette, or its recording was killed before the handshake")
		case errors.Is(err, errLong):
			return nil, c.newError(n, "the line is longer than %d MiB", maxLine>>20)
		case err != nil:
			return nil, err
		case n > maxFrames:
			return nil, c.newError(n, "the cassette has more than %d lines", maxFrames)
		}
		if n == 1 {
			err = c.readHeader(text)
		} else {
			err = c.readFrame(text, n, offset)
		}
		if wrong, ok := errors.AsType[*Error](err); ok && !whole && n > 1 {
			wrong.Says = "the last line is cut off and is ignored: the recording ended unexpectedly"
			c.Warning = wrong
			return c, nil
		}
		if err != nil {
			return nil, err
		}
		offset += int64(len(text)) + 1
	}
}

var errLong = errors.New("long line")

// readLine returns the next line without its end, and whether it had one.
func readLine(in *bufio.Reader) (text []byte, whole bool, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if len(text)+len(part) > maxLine {
			return nil, false, errLong
		}
		if len(text)+len(part) > cap(text) { // double the capacity each time
			text = slices.Grow(text, max(len(text), len(part)))
		}
		text = append(text, part...)
		switch {
		case err == nil:
			return text[:len(text)-1], true, nil
		case err == io.EOF && len(text) > 0:
			return text, false, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, false, err
		}
	}
}

// ReadHeader reads only the header of a cassette.
func ReadHeader(path string) (Header, error) {
	f, err := openRegular(path)
	if err != nil {
		return Header{}, err
	}
	defer f.Close()
	c := &Cassette{File: path}
	text, _, err := readLine(bufio.NewReader(f))
	if err == nil {
		err = c.readHeader(text)
	}
	return c.Header, err
}

func (c *Cassette) newError(line int, format string, args ...any) *Error {
	return &Error{c.File, line, fmt.Sprintf(format, args...)}
}

// isCassette reports whether a file begins like a cassette, of any version.
func isCassette(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 64)
	n, _ := io.ReadFull(f, head)
	return bytes.HasPrefix(head[:n], []byte(`{"mcptest_cassette":`))
}

func (c *Cassette) readHeader(text []byte) error {
	if bytes.HasPrefix(text, []byte("\xEF\xBB\xBF")) {
		return c.newError(1, "the file begins with a byte order mark (BOM): remove it")
	}
	if name := jsonv.DetectEncoding(text); name != "" {
		return c.newError(1, "the file is encoded in %s, not UTF-8; %s", name, jsonv.SaveAsUTF8)
	}
	var is struct {
		Version *int `json:"mcptest_cassette"`
	}
	if err := json.Unmarshal(text, &is); err != nil || is.Version == nil {
		return c.newError(1, `not a cassette: expected {"mcptest_cassette": %d, …} in the first line`, Version)
	}
	if *is.Version != Version {
		return c.newError(1, "the cassette has version %d; this program reads version %d: record it again", *is.Version, Version)
	}
	if err := json.Unmarshal(text, &c.Header); err != nil {
		return c.newError(1, "the header cannot be read: %s", reason(err))
	}
	for _, m := range c.Masks {
		if !masks[m] {
			return c.newError(1, "the cassette has the mask %q, which this program does not know: requests could not be compared with it; record it again", m)
		}
	}
	var err error
	if c.volatile, err = parsePaths(c.Volatile); err != nil {
		return c.newError(1, "%v", err)
	}
	switch c.Transport {
	case Stdio, StreamableHTTP, HTTPSSE:
		return nil
	}
	return c.newError(1, "unknown transport %q: expected %s, %s or %s", c.Transport, Stdio, StreamableHTTP, HTTPSSE)
}

// readFrame reads line n, which begins at offset.
func (c *Cassette) readFrame(text []byte, n int, offset int64) error {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil
	}
	f, err := parseFrame(text)
	if err != nil {
		return c.newError(n, "the line cannot be read: %s", reason(err))
	}
	f.Line = n
	if len(text) > inMemory && f.Data != nil {
		f.Data, f.offset, f.size = nil, offset, len(text)
	}
	c.Frames = append(c.Frames, *f)
	return nil
}

// parseLine parses the members of a line. A message is not copied, because it can be
// large.
func parseLine(text []byte) (*line, error) {
	l, rest := &line{}, []byte{'{'}
	err := jsonv.VisitMembers(text, func(key string, val []byte) error {
		if key == "message" {
			l.Message = val
			return nil
		}
		if len(rest) > 1 {
			rest = append(rest, ',')
		}
		rest = append(append(jsonv.AppendString(rest, key), ':'), val...)
		return nil
	})
	if err == nil {
		err = json.Unmarshal(append(rest, '}'), l)
	}
	return l, err
}

// parseFrame parses one line.
func parseFrame(text []byte) (*Frame, error) {
	l, err := parseLine(text)
	if err != nil {
		return nil, err
	}
	ms, err := l.At.Float64()
	if l.At == "" {
		ms, err = 0, nil
	}
	switch {
	case err != nil || ms < 0 || ms > float64(1<<40):
		return nil, fmt.Errorf("at_ms must be a number of milliseconds, got %s", l.At)
	case l.Session == 0:
		return nil, errors.New("session is missing, or not greater than zero")
	case l.Session < 1:
		return nil, fmt.Errorf("session must be greater than zero, got %d", l.Session)
	case l.Stream < 0 || l.Omitted < 0:
		return nil, errors.New("stream and omitted must not be negative")
	case l.Dir != "" && l.Dir != ToServer && l.Dir != FromServer:
		return nil, fmt.Errorf("unknown dir %q: expected %s or %s", l.Dir, ToServer, FromServer)
	case l.Dir == "" && l.End == nil && l.Stderr == "" && l.Note == nil:
		return nil, errors.New("a line needs dir, end, stderr or note")
	}
	f := &Frame{
		Session:      l.Session,
		At:           time.Duration(math.Round(ms*1000)) * time.Microsecond,
		Dir:          l.Dir,
		Stream:       l.Stream,
		HTTP:         l.HTTP,
		Event:        l.Event,
		Stderr:       l.Stderr,
		End:          l.End,
		Note:         l.Note,
		Omitted:      l.Omitted,
		Tail:         l.Tail,
		Unterminated: l.Cut,
	}
	switch {
	case l.Message != nil:
		f.Data = l.Message
	case l.Text != nil:
		f.Data = []byte(*l.Text)
	case l.Bytes != nil:
		f.Data = l.Bytes
	}
	return f, nil
}

func reason(err error) string { return strings.TrimPrefix(err.Error(), "json: ") }

// Has reports whether a frame carries data.
func (f *Frame) Has() bool { return f.Data != nil || f.size > 0 }

// Data returns the data of a frame, from the file if it is large. If the file cannot be
// read any more, it is nil, and Err returns the reason.
func (c *Cassette) Data(f *Frame) []byte {
	data, err := c.Read(f)
	if err != nil {
		c.failed.CompareAndSwap(nil, &err)
	}
	return data
}

// Value returns the message in a frame; it is absent if that is none.
func (c *Cassette) Value(f *Frame) jsonv.Value {
	v, _ := jsonv.Parse(c.Data(f))
	return v
}

// Err returns the first error of Data.
func (c *Cassette) Err() error {
	if err := c.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// Read returns the data of a frame, for callers for whom only this frame matters.
func (c *Cassette) Read(f *Frame) ([]byte, error) {
	if f.size == 0 {
		return f.Data, nil
	}
	text := make([]byte, f.size)
	if _, err := c.src.ReadAt(text, f.offset); err != nil && err != io.EOF {
		return nil, err
	}
	whole, err := parseFrame(text)
	if err != nil {
		return nil, c.newError(f.Line, "the cassette was changed while it was used: %s", reason(err))
	}
	return whole.Data, nil
}
