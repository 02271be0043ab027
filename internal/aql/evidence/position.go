package evidence

import (
	"bytes"
	"unicode/utf8"

	"mcptest/internal/source"
)

// Locator converts byte offsets to positions. A minified bundle is one line of many
// megabytes, where counting columns from the line's start for each of thousands of
// findings would take minutes; with ascending offsets, it reads the text once.
type Locator struct {
	File *source.File
	last source.Pos
	from int // offset of last
}

// At returns the position of a byte offset. Offsets that increase are cheap.
func (l *Locator) At(offset int) source.Pos {
	if offset < l.from || l.last.Line == 0 || offset > len(l.File.Data) || bytes.ContainsAny(l.File.Data[l.from:offset], "\r\n") {
		l.last = l.File.At(offset)
	} else {
		l.last.Col += utf8.RuneCount(l.File.Data[l.from:offset])
	}
	l.from = offset
	return l.last
}
