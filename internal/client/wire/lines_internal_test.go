package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"mcptest/internal/base/testkit"
)

// lineLog records the lines that a LineReader reports.
type lineLog struct {
	got  []string
	keep bool
	held [][]byte // kept lines and a copy of each
}

func (l *lineLog) OnFrame(f Frame) bool {
	mark := ""
	if f.Unterminated {
		mark = "…"
	}
	l.got = append(l.got, fmt.Sprintf("%d:%s%s", f.Offset, f.Raw, mark))
	if l.keep {
		l.held = append(l.held, f.Raw, bytes.Clone(f.Raw))
	}
	return l.keep
}

func (l *lineLog) OnOversize(o OversizeMessage) {
	if !o.Done {
		l.got = append(l.got, fmt.Sprintf("%d:long", o.Offset))
		return
	}
	l.got = append(l.got, fmt.Sprintf("%d:long of %d ending in %s", o.Offset, o.Size, o.Tail[max(0, len(o.Tail)-3):]))
}

func readAll(r io.Reader, limit int, drain int64, log *lineLog) (error, *LineReader) { //nolint:staticcheck // the error is what the tests look at first
	l := NewLineReader(r, limit, drain)
	for {
		if err := l.ReadLines(log); err != nil {
			return err, l
		}
	}
}

func TestLines(t *testing.T) {
	x := func(n int) string { return strings.Repeat("x", n) }
	for _, tc := range []struct {
		in   string
		want []string
	}{
		{"", nil},
		{"a\nb\n", []string{"0:a", "2:b"}},
		{"a\r\nb\r\n\r\n", []string{"0:a", "3:b", "6:"}},
		{"a\n\nb", []string{"0:a", "2:", "3:b…"}},
		{x(10) + "\n" + x(11) + "\r\ny\n", []string{"0:" + x(10), "11:long", "11:long of 12 ending in xx\r", "24:y"}},
		{x(10) + "\r\ny\n", []string{"0:" + x(10), "12:y"}},
		{x(100_000) + "abc\ny\n", []string{"0:long", "0:long of 100003 ending in abc", "100004:y"}},
		{x(100_000), []string{"0:long", "0:long of 100000 ending in xxx"}},
		{x(100_000) + "\n" + x(50) + "\n", []string{"0:long", "0:long of 100000 ending in xxx", "100001:long", "100001:long of 50 ending in xxx"}},
	} {
		for name, r := range map[string]io.Reader{
			"whole": strings.NewReader(tc.in), "bytes": iotest.OneByteReader(strings.NewReader(tc.in)),
			"halves": iotest.HalfReader(strings.NewReader(tc.in)), "data with EOF": iotest.DataErrReader(strings.NewReader(tc.in)),
		} {
			var log lineLog
			if err, _ := readAll(r, 10, 1<<30, &log); err != io.EOF {
				t.Error(err)
			}
			if d := cmp.Diff(tc.want, log.got); d != "" {
				t.Errorf("%.20q in %s: %s", tc.in, name, d)
			}
		}
	}
}

// endless is a line without a newline.
type endless struct{ n int64 }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	e.n += int64(len(p))
	return len(p), nil
}

func TestEndlessLine(t *testing.T) {
	src := &endless{}
	var log lineLog
	err, l := readAll(src, 1<<20, 16<<20, &log)
	if !errors.Is(err, errEndless) {
		t.Errorf("error %v, want %v", err, errEndless)
	}
	testkit.Equal(t, "the number of messages", len(log.got), 1)
	if src.n > 18<<20 || len(l.buf) > keepBuffer {
		t.Errorf("read %d bytes, want at most %d; the buffer has %d, want at most %d", src.n, 18<<20, len(l.buf), keepBuffer)
	}
}

// Kept lines are not overwritten by later reads, and a large buffer is released.
func TestKeptLines(t *testing.T) {
	var in bytes.Buffer
	for i := range 50 {
		in.WriteString(strings.Repeat(string(rune('a'+i%26)), i*i*i) + "\n")
	}
	log := lineLog{keep: true}
	if err, _ := readAll(&in, 1<<20, 1<<30, &log); err != io.EOF {
		t.Error(err)
	}
	for i := 0; i < len(log.held); i += 2 {
		if !bytes.Equal(log.held[i], log.held[i+1]) {
			t.Errorf("line %d changed", i/2)
		}
	}
	in.WriteString(strings.Repeat("x", 8<<20) + "\n")
	in.WriteString("y\n")
	l := NewLineReader(&in, 16<<20, 1<<30)
	for err := error(nil); err == nil; err = l.ReadLines(&lineLog{}) {
	}
	if len(l.buf) > keepBuffer {
		t.Errorf("buffer of %d bytes", len(l.buf))
	}
}

// The lines do not depend on how the stream is divided into reads.
func FuzzLines(f *testing.F) {
	f.Add([]byte("a\nbb\r\nccc"), uint8(3), uint8(10))
	f.Add([]byte(strings.Repeat("x", 100)+"\n{}\n"), uint8(7), uint8(5))
	f.Add([]byte("\n\r\n\r\r\n"), uint8(1), uint8(1))
	f.Add([]byte("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"), byte('\x00'), byte('\x02')) // reaches code that no other seed does
	f.Fuzz(func(t *testing.T, in []byte, piece, limit uint8) {
		lim := int(limit) + 1
		var log lineLog
		err, _ := readAll(&pieces{in, int(piece) + 1}, lim, 1<<30, &log)
		if err != io.EOF {
			t.Fatal(err)
		}
		var want []string
		for off := 0; off < len(in); {
			line, _, ended := bytes.Cut(in[off:], []byte("\n"))
			cut := line
			if ended {
				cut = bytes.TrimSuffix(line, []byte("\r"))
			}
			// Without a newline, a line is too long only if its last byte can't be \r.
			switch {
			case ended && len(cut) > lim, !ended && len(cut) > lim+1:
				want = append(want, fmt.Sprintf("%d:long", off))
			case ended:
				want = append(want, fmt.Sprintf("%d:%s", off, cut))
			default:
				want = append(want, fmt.Sprintf("%d:%s…", off, cut))
			}
			if off += len(line); ended {
				off++
			}
		}
		got := slices.DeleteFunc(log.got, func(s string) bool { return strings.Contains(s, ":long of ") })
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
	})
}

// pieces returns n bytes per read.
type pieces struct {
	rest []byte
	n    int
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(b, p.rest[:min(p.n, len(p.rest))])
	p.rest = p.rest[n:]
	return n, nil
}
