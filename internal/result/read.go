package result

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// Read reads a record in either form: the JSON of WriteJSON or the log of a
// LogWriter. Close the Run when done.
func Read(rd io.Reader) (*Run, error) {
	br := bufio.NewReaderSize(rd, 64<<10)
	head, _ := br.Peek(len(eventHead) + 64)
	if bytes.HasPrefix(bytes.TrimLeft(head, " \t\r\n"), []byte(eventHead)) {
		return Fold(br)
	}
	return ReadJSON(br)
}

// ReadJSON reads a record that WriteJSON wrote. The text is read in one pass;
// the cases are checked and kept in a Spool, so a record of any number of
// tests can be read. Errors say the line. Close the Run when done.
func ReadJSON(rd io.Reader) (*Run, error) {
	spool := NewSpool("")
	r := &Run{Cases: spool}
	s := &splitter{r: bufio.NewReaderSize(rd, 64<<10), line: 1}
	if err := s.record(r, spool); err != nil {
		spool.Close()
		return nil, err
	}
	return r, nil
}

// splitter cuts a JSON text into the members of its top level and the
// elements of "tests" without holding more than one of them.
type splitter struct {
	r    *bufio.Reader
	line int // of the next byte
	buf  []byte
}

func (s *splitter) errorf(line int, format string, args ...any) error {
	return fmt.Errorf("line %d: %w", line, fmt.Errorf(format, args...))
}

func (s *splitter) record(r *Run, spool *Spool) error {
	if c, err := s.next(); err != nil || c != '{' {
		return s.errorf(s.line, "this is no record of a run: want an object of the schema %q", Schema)
	}
	fields := map[string]any{
		"schema": &r.Schema, "tool": &r.Tool, "suites": &r.Suites, "started": &r.Started,
		"duration_ms": &r.DurationMS, "exit_code": &r.ExitCode, "interrupted": &r.Interrupted,
		"parallel": &r.Parallel, "command": &r.Command, "dir": &r.Dir, "shard": &r.Shard, "summary": &r.Summary, "phases": &r.Phases,
		"metric_rollups": &r.Rollups, "findings": &r.Findings, "servers": &r.Servers, "notes": &r.Notes,
	}
	counted := Run{}
	missing := []string{"schema", "tool", "started", "duration_ms", "exit_code", "summary", "tests", "servers"}
	err := s.sequence('}', func() error {
		name, err := s.memberName()
		if err != nil {
			return err
		}
		missing = slices.DeleteFunc(missing, func(m string) bool { return m == name })
		if name == "tests" {
			return s.tests(&counted, spool)
		}
		return s.field(name, fields[name])
	})
	if err != nil {
		return err
	}
	if err := checkSchema(r.Schema); err != nil {
		return err
	}
	if c, err := s.next(); err != io.EOF {
		return s.errorf(s.line, "%q after the end of the record", c)
	}
	if err := sameCounts(r.Summary, counted.Summary); err != nil {
		return err
	}
	if len(missing) > 0 {
		return fmt.Errorf("the record is damaged: it has no %q", missing[0])
	}
	return nil
}

// sameCounts compares what a record's summary says with what was counted.
func sameCounts(said, counted Summary) error {
	for _, c := range []struct {
		what       string
		said, have int
	}{
		{"tests", said.Total, counted.Total},
		{"passed", said.Passed, counted.Passed},
		{"failed", said.Failed, counted.Failed},
		{"errored", said.Errored, counted.Errored},
		{"skipped", said.Skipped, counted.Skipped},
	} {
		if c.said != c.have {
			return fmt.Errorf("the record is damaged: its summary counts %d %s, and it holds %d", c.said, c.what, c.have)
		}
	}
	return nil
}

func (s *splitter) memberName() (string, error) {
	line := s.line
	raw, err := s.value()
	if err != nil {
		return "", err
	}
	var name string
	if json.Unmarshal(raw, &name) != nil {
		return "", s.errorf(line, "want a member's name in quotes")
	}
	if c, err := s.next(); err != nil || c != ':' {
		return "", s.errorf(s.line, "want a colon after %q", name)
	}
	return name, nil
}

func (s *splitter) field(name string, into any) error {
	if _, err := s.peek(); err != nil {
		return err
	}
	line := s.line
	raw, err := s.value()
	if err != nil {
		return err
	}
	if into == nil {
		var any json.RawMessage
		into = &any
	}
	if err := json.Unmarshal(raw, into); err != nil {
		var se *json.SyntaxError
		if errors.As(err, &se) {
			line += bytes.Count(raw[:min(int(se.Offset), len(raw))], []byte("\n"))
		}
		return s.errorf(line, "%w", plainError(name, err))
	}
	return nil
}

// tests reads the list of cases into the spool.
func (s *splitter) tests(counted *Run, spool *Spool) error {
	if c, err := s.next(); err != nil || c != '[' {
		return s.errorf(s.line, `"tests": want a list`)
	}
	return s.sequence(']', func() error {
		if _, err := s.peek(); err != nil {
			return err
		}
		line := s.line
		raw, err := s.value()
		if err != nil {
			return err
		}
		c := &Case{Index: spool.Len()}
		d := scanner{s: string(raw)}
		if d.next() != '{' {
			d.fail("want an object, got %s", d.seen())
		}
		if decodeCase(&d, c); d.err != nil {
			line += bytes.Count(raw[:min(d.err.offset, len(raw))], []byte("\n"))
			return s.errorf(line, "test %d: %s", c.Index+1, d.err.msg)
		}
		counted.Summary.add(c)
		return spool.Put(c)
	})
}

// sequence reads what is separated by commas up to end.
func (s *splitter) sequence(end byte, item func() error) error {
	for first := true; ; first = false {
		c, err := s.peek()
		if err != nil {
			return err
		}
		switch {
		case c == end:
			_, err := s.next()
			return err
		case first:
		case c == ',':
			if _, err := s.next(); err != nil {
				return err
			}
		default:
			return s.errorf(s.line, "want a comma or %q, got %q", end, c)
		}
		if err := item(); err != nil {
			return err
		}
	}
}

// next skips white space and consumes the byte after it. At the end of the
// text the error is io.EOF.
func (s *splitter) next() (byte, error) {
	for {
		c, err := s.r.ReadByte()
		if err != nil {
			return 0, err
		}
		switch c {
		case '\n':
			s.line++
		case ' ', '\t', '\r':
		default:
			return c, nil
		}
	}
}

// peek is next without consuming, in places where the text must go on.
func (s *splitter) peek() (byte, error) {
	c, err := s.next()
	if err != nil {
		return 0, s.ended(err)
	}
	return c, s.r.UnreadByte()
}

func (s *splitter) ended(err error) error {
	if err == io.EOF {
		return s.errorf(s.line, "the record ends too early")
	}
	return s.errorf(s.line, "read the record: %w", err)
}

// value returns the text of the value that follows, valid until the next
// call. Only its extent is looked at; who decodes it finds its faults.
func (s *splitter) value() ([]byte, error) {
	if _, err := s.peek(); err != nil {
		return nil, err
	}
	s.buf = s.buf[:0]
	var v extent
	for {
		_, err := s.r.Peek(1)
		if err != nil {
			if v.scalar && err == io.EOF {
				return s.buf, nil
			}
			return nil, s.ended(err)
		}
		chunk, _ := s.r.Peek(s.r.Buffered())
		n, done := v.feed(chunk)
		s.buf = append(s.buf, chunk[:n]...)
		s.line += bytes.Count(chunk[:n], []byte("\n"))
		if _, err := s.r.Discard(n); err != nil {
			return nil, s.ended(err)
		}
		if done {
			return s.buf, nil
		}
		if len(s.buf) > maxCase {
			return nil, s.errorf(s.line, "a value of more than %d bytes", maxCase)
		}
	}
}

// extent finds the end of a JSON value that comes in pieces.
type extent struct {
	depth  int
	quoted bool
	escape bool
	scalar bool // a number or a word
}

// feed returns how many bytes of b belong to the value and whether it ends
// with them.
func (v *extent) feed(b []byte) (n int, done bool) {
	for i := 0; i < len(b); i++ {
		c := b[i]
		switch {
		case v.escape:
			v.escape = false
		case v.quoted:
			switch c {
			case '\\':
				v.escape = true
			case '"':
				v.quoted = false
				if v.depth == 0 {
					return i + 1, true
				}
			}
		case v.scalar && v.depth == 0:
			if c == ',' || c == '}' || c == ']' || c == ':' || c <= ' ' {
				return i, true
			}
		case c == '"':
			v.quoted = true
		case c == '{' || c == '[':
			v.depth++
		case c == '}' || c == ']':
			if v.depth--; v.depth <= 0 {
				return i + 1, true
			}
		case v.depth == 0:
			v.scalar = true
		}
	}
	return len(b), false
}
