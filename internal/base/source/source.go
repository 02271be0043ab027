package source

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// A File is the text that positions refer to. Name, Path and Data must not change
// after its creation; use it by pointer.
type File struct {
	Name string // name in messages
	Path string // absolute; empty for text that has no file
	Data []byte

	once   sync.Once
	starts []int // byte offset of each line's first byte
}

var utf8BOM = []byte("\xef\xbb\xbf")

// findLineStarts finds the lines on first use. A line ends with LF, CR LF or CR, as in
// YAML 1.2.2 section 5.4. The first line starts after a byte order mark.
func (f *File) findLineStarts() []int {
	f.once.Do(func() {
		first := 0
		if bytes.HasPrefix(f.Data, utf8BOM) {
			first = len(utf8BOM)
		}
		starts := make([]int, 1, 1+bytes.Count(f.Data, []byte{'\n'}))
		starts[0] = first
		for i := first; i < len(f.Data); i++ {
			c := f.Data[i]
			if c == '\n' || c == '\r' && (i+1 == len(f.Data) || f.Data[i+1] != '\n') {
				starts = append(starts, i+1)
			}
		}
		f.starts = starts
	})
	return f.starts
}

// Line returns line n (from 1) without its line break, or "" if there is no such
// line.
func (f *File) Line(n int) string { return string(f.cutLine(n)) }

func (f *File) cutLine(n int) []byte {
	if f == nil {
		return nil
	}
	starts := f.findLineStarts()
	if n < 1 || n > len(starts) {
		return nil
	}
	end := len(f.Data)
	if n < len(starts) {
		end = starts[n]
	}
	return bytes.TrimRight(f.Data[starts[n-1]:end], "\r\n")
}

// Lines returns the number of lines, including the one after the last line break,
// which may be empty.
func (f *File) Lines() int { return len(f.findLineStarts()) }

// At returns the position of a byte offset. Offsets outside the data are moved to its
// nearest end.
func (f *File) At(offset int) Pos {
	starts := f.findLineStarts()
	offset = min(max(offset, starts[0]), len(f.Data))
	i, found := slices.BinarySearch(starts, offset)
	if !found {
		i--
	}
	return Pos{File: f, Line: i + 1, Col: utf8.RuneCount(f.Data[starts[i]:offset]) + 1}
}

// findOffset is the inverse of At: it returns the byte offset of a line and column, or -1
// if the file has no such position. The column after a line's last character is
// valid.
func (f *File) findOffset(line, col int) int {
	if f == nil || col < 1 {
		return -1
	}
	text := f.cutLine(line)
	if text == nil && (line < 1 || line > f.Lines()) {
		return -1
	}
	at := 0
	for n := col - 1; n > 0; n-- {
		if at >= len(text) {
			return -1
		}
		_, size := utf8.DecodeRune(text[at:])
		at += size
	}
	return f.findLineStarts()[line-1] + at
}

// Offset returns the byte offset of a position of this file, or -1 if it has no such
// position.
func (f *File) Offset(p Pos) int { return f.findOffset(p.Line, p.Col) }

// A Pos is a position in a file. Line and Col count from 1, Col in code points. The
// zero Pos is unknown; a Pos with only a File is the whole file.
type Pos struct {
	File *File
	Line int
	Col  int
}

// IsZero reports whether the position is unknown.
func (p Pos) IsZero() bool { return p == Pos{} }

// String returns file:line:col, as far as known.
func (p Pos) String() string {
	var b strings.Builder
	if p.File != nil {
		b.WriteString(p.File.Name)
	}
	if p.Line > 0 {
		if b.Len() > 0 {
			b.WriteByte(':')
		}
		b.WriteString(strconv.Itoa(p.Line))
		if p.Col > 0 {
			b.WriteByte(':')
			b.WriteString(strconv.Itoa(p.Col))
		}
	}
	return b.String()
}

// newErrorAt returns an error without a path, for Parse.
func newErrorAt(pos Pos, format string, args ...any) Diagnostic {
	return Diagnostic{Pos: pos, Msg: fmt.Sprintf(format, args...)}
}
