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

// Spool holds cases that are put in any order and read in plan order. It stores their
// JSON, in memory while there are few and in a temporary file if there are many; a
// case then needs 32 bytes of memory. If the system allows it, the file is unlinked
// immediately, so that a killed process leaves nothing behind.
//
// If the file cannot be created or written, the cases stay in memory, and Err returns
// the reason. Spool is safe for concurrent use; a nil one has no cases.
type Spool struct {
	mu      sync.Mutex
	dir     string
	index   []entry // by index in the plan
	count   int
	buf     []byte   // data that is not in the file yet
	flushed int64    // size of the file
	file    *os.File // nil while everything fits in memory
	remove  string   // the file's name, if it still has one
	err     error    // why the file is no longer used
	bad     error    // why Stored could not store a case
}

// entry is the position of a case. Size 0: the case has not ended yet.
type entry struct {
	offset int64
	size   uint32
	status Status
}

// memory is the size of the cases that are kept in memory.
const memory = 256 << 10

// maxCase limits the JSON of one case, maxCases the number of cases.
const (
	maxCase  = 1 << 30
	maxCases = 5_000_000
)

// NewSpool returns an empty spool. dir is the folder of its file; "" is the system's
// folder for temporary files.
func NewSpool(dir string) *Spool { return &Spool{dir: dir} }

// NewStored returns a spool of cases in this order.
func NewStored(cases ...*Case) *Spool {
	s := NewSpool("")
	for i, c := range cases {
		c.Index = i
		if err := s.Put(c); s.bad == nil {
			s.bad = err
		}
	}
	return s
}

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
	text, err := marshal(fillLists(c))
	if err != nil {
		return fmt.Errorf("test %q: %w", c.Name, err)
	}
	if len(text) > maxCase {
		return fmt.Errorf("test %q: its record has %d bytes, more than can be kept", c.Name, len(text))
	}
	s.index[c.Index] = entry{s.flushed + int64(len(s.buf)), uint32(len(text)), c.Status}
	s.buf = append(s.buf, text...)
	s.count++
	if len(s.buf) >= memory && s.err == nil {
		s.err = s.flush()
	}
	return nil
}

// flush writes the buffer to the file. After a failure, the buffer is unchanged, and
// the next flush overwrites the same part of the file.
func (s *Spool) flush() error {
	if s.file == nil {
		f, err := os.CreateTemp(s.dir, "mcptest-run-*.tmp")
		if err != nil {
			return fmt.Errorf("make a file for the results: %w", err)
		}
		s.file = f
		if os.Remove(f.Name()) != nil { // Windows does not remove open files
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
	if s == nil {
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count
}

// Err returns why the cases had to stay in memory, or nil.
func (s *Spool) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// Close removes the file. The cases cannot be read afterwards.
func (s *Spool) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.index, s.buf, s.count = nil, nil, 0
	f := s.file
	s.file = nil
	if f == nil {
		return nil
	}
	err := f.Close()
	if s.remove != "" {
		err = errors.Join(err, os.Remove(s.remove))
		s.remove = ""
	}
	return err
}

// NotPassed yields the cases that neither passed nor were skipped.
func (s *Spool) NotPassed() iter.Seq2[*Case, error] { return s.Select(Fail, Error, Inconclusive) }

// All yields all cases.
func (s *Spool) All() iter.Seq2[*Case, error] { return s.Select() }

// Select yields the cases of the given statuses in plan order, without
// reading the others; no status means every case.
func (s *Spool) Select(statuses ...Status) iter.Seq2[*Case, error] {
	return func(yield func(*Case, error) bool) {
		for i, raw := range s.walkRaw(statuses) {
			if c, err := decodeStored(i, raw); !yield(c, err) || err != nil {
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

// rawCase is the JSON form of a case.
type rawCase struct {
	text []byte
	err  error
}

// walkRaw returns an iterator over index and JSON of the cases with some statuses.
func (s *Spool) walkRaw(statuses []Status) iter.Seq2[int, rawCase] {
	return func(yield func(int, rawCase) bool) {
		for i := 0; s != nil; i++ {
			s.mu.Lock()
			if i >= len(s.index) {
				s.mu.Unlock()
				if s.bad != nil {
					yield(i, rawCase{err: s.bad})
				}
				return
			}
			e := s.index[i]
			var raw rawCase
			if e.size > 0 && (len(statuses) == 0 || slices.Contains(statuses, e.status)) {
				raw.text, raw.err = s.read(e)
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

// read returns a copy of the bytes of an entry: the buffer moves when a case is put.
func (s *Spool) read(e entry) ([]byte, error) {
	if e.offset >= s.flushed {
		at := e.offset - s.flushed
		return slices.Clone(s.buf[at : at+int64(e.size)]), nil
	}
	text := make([]byte, e.size)
	if n, err := s.file.ReadAt(text, e.offset); n < len(text) {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, fmt.Errorf("read the stored results: %w", err)
	}
	return text, nil
}
