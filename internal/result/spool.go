package result

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"sync"
)

// Spool is Cases that are put in any order and read in plan order. The cases
// are kept in their JSON form, in memory while there are few and in a
// temporary file once there are many; a case then costs 16 bytes of memory.
// The file has no name from the moment it is made (where the system allows
// that), so nothing is left behind by a process that is killed.
//
// A file that can't be made or written is no failure of the run: the cases
// stay in memory, and Err tells why. Spool is safe for concurrent use.
type Spool struct {
	mu      sync.Mutex
	dir     string
	index   []entry // by place in the plan
	count   int
	buf     []byte   // what is not in the file yet
	flushed int64    // size of the file
	file    *os.File // nil while everything fits in memory
	remove  string   // the file's name, when it still has one
	err     error    // why nothing more goes into the file
}

// entry says where a case is. Size 0: the case did not end yet.
type entry struct {
	offset int64
	size   uint32
	status uint8
}

// memory is how many bytes of cases are kept before they go to the file, and
// how many are read from it at once.
const (
	memory = 256 << 10
	window = 64 << 10
)

// maxCase bounds the JSON form of one case, maxCases their number.
const (
	maxCase  = 1 << 30
	maxCases = 5_000_000
)

// NewSpool returns an empty spool. Dir is where its file is made when there
// are too many cases for memory; "" is the system's folder for such files.
func NewSpool(dir string) *Spool { return &Spool{dir: dir} }

// Put stores a case under its index. There may be one per index.
func (s *Spool) Put(c *Case) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.Index < 0 || c.Index >= maxCases {
		return fmt.Errorf("test %q has the index %d, outside 0 to %d", c.Name, c.Index, maxCases-1)
	}
	if c.Index < len(s.index) && s.index[c.Index].size > 0 {
		return fmt.Errorf("test %q (index %d) ended twice", c.Name, c.Index)
	}
	if n := c.Index + 1; n > len(s.index) {
		s.index = slices.Grow(s.index, n-len(s.index))[:n]
	}
	text, err := marshal(listed(c))
	if err != nil {
		return fmt.Errorf("test %q: %w", c.Name, err)
	}
	if len(text) > maxCase {
		return fmt.Errorf("test %q: its record has %d bytes, more than can be kept", c.Name, len(text))
	}
	s.index[c.Index] = entry{s.flushed + int64(len(s.buf)), uint32(len(text)), statusCode(c.Status)}
	s.buf = append(s.buf, text...)
	s.count++
	if len(s.buf) >= memory && s.err == nil {
		s.err = s.flush()
	}
	return nil
}

// flush moves the buffer to the file. After a failure the buffer is still
// whole: it is written at a fixed place, which then does not count.
func (s *Spool) flush() error {
	if s.file == nil {
		f, err := os.CreateTemp(s.dir, "mcptest-run-*.tmp")
		if err != nil {
			return fmt.Errorf("make a file for the results: %w", err)
		}
		s.file = f
		if os.Remove(f.Name()) != nil { // Windows keeps open files
			s.remove = f.Name()
		}
	}
	if _, err := s.file.WriteAt(s.buf, s.flushed); err != nil {
		return fmt.Errorf("write the results to a temporary file: %w", err)
	}
	s.flushed += int64(len(s.buf))
	s.buf = s.buf[:0]
	return nil
}

// Len returns the number of cases.
func (s *Spool) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count
}

// Err returns why the cases had to stay in memory, nil when they did not.
func (s *Spool) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// Close gives the file back. The cases can't be read afterwards.
func (s *Spool) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.index, s.buf, s.count = nil, nil, 0
	f := s.file
	if s.file = nil; f == nil {
		return nil
	}
	err := f.Close()
	if s.remove != "" {
		err = errors.Join(err, os.Remove(s.remove))
		s.remove = ""
	}
	return err
}

// All yields the cases in plan order.
func (s *Spool) All() iter.Seq2[*Case, error] { return s.Select() }

// Select yields the cases of the given statuses in plan order, without
// reading the others; no status means every case.
func (s *Spool) Select(statuses ...Status) iter.Seq2[*Case, error] {
	return func(yield func(*Case, error) bool) {
		for i, raw := range s.raw(statuses) {
			c, err := decodeStored(i, raw)
			if !yield(c, err) || err != nil {
				return
			}
		}
	}
}

func decodeStored(i int, raw rawCase) (*Case, error) {
	if raw.err != nil {
		return nil, raw.err
	}
	c := &Case{Index: i}
	if err := unmarshalCase(raw.text, c); err != nil {
		return nil, fmt.Errorf("read a stored result: %w", err)
	}
	return c, nil
}

// rawCase is the JSON form of a case, valid until the next one is read.
type rawCase struct {
	text []byte
	err  error
}

// raw yields index and JSON form of the cases of some statuses.
func (s *Spool) raw(statuses []Status) iter.Seq2[int, rawCase] {
	var wanted [5]bool
	for _, st := range statuses {
		wanted[statusCode(st)] = true
	}
	return func(yield func(int, rawCase) bool) {
		var r windowReader
		for i := 0; ; i++ {
			s.mu.Lock()
			if i >= len(s.index) {
				s.mu.Unlock()
				return
			}
			e := s.index[i]
			var raw rawCase
			if e.size > 0 && (len(statuses) == 0 || wanted[e.status]) {
				raw.text, raw.err = s.read(&r, e)
			}
			s.mu.Unlock()
			if raw.text == nil && raw.err == nil {
				continue
			}
			if !yield(i, raw) || raw.err != nil {
				return
			}
		}
	}
}

// windowReader is the part of the file that one reader has at hand.
type windowReader struct {
	buf  []byte
	from int64
}

// read returns the bytes of an entry. Those in memory are copied, because
// the buffer moves when a case is put.
func (s *Spool) read(r *windowReader, e entry) ([]byte, error) {
	if e.offset >= s.flushed {
		at := e.offset - s.flushed
		return slices.Clone(s.buf[at : at+int64(e.size)]), nil
	}
	if at := e.offset - r.from; at >= 0 && at+int64(e.size) <= int64(len(r.buf)) {
		return r.buf[at : at+int64(e.size)], nil
	}
	n := int(min(max(window, int64(e.size)), s.flushed-e.offset))
	r.buf = slices.Grow(r.buf[:0], n)[:n]
	r.from = e.offset
	got, err := s.file.ReadAt(r.buf, e.offset)
	r.buf = r.buf[:got]
	if got < int(e.size) {
		r.buf = r.buf[:0]
		if err == nil || err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, fmt.Errorf("read the stored results: %w", err)
	}
	return r.buf[:e.size], nil
}

func statusCode(s Status) uint8 {
	switch s {
	case Pass:
		return 1
	case Fail:
		return 2
	case Skip:
		return 3
	}
	return 4 // Error
}

// Select yields the cases of the given statuses in order, and skips the
// others as cheaply as the sequence can; no status means every case.
func Select(cases Cases, statuses ...Status) iter.Seq2[*Case, error] {
	if cases == nil {
		return func(func(*Case, error) bool) {}
	}
	if s, ok := cases.(*Spool); ok {
		return s.Select(statuses...)
	}
	return func(yield func(*Case, error) bool) {
		for c, err := range cases.All() {
			if err == nil && len(statuses) > 0 && !slices.Contains(statuses, c.Status) {
				continue
			}
			if !yield(c, err) {
				return
			}
		}
	}
}
