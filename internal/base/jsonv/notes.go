package jsonv

import (
	"slices"
	"strconv"
	"unicode/utf8"
)

// NoteKind is the subject of a Note.
type NoteKind uint8

// The kinds of notes.
const (
	DuplicateKey  NoteKind = iota // a key occurs again in one object (RFC 8259 section 4: SHOULD be unique)
	LoneSurrogate                 // a \u escape is half a surrogate pair (RFC 8259 section 8.2)
	InvalidUTF8                   // a string holds bytes that are not UTF-8 (RFC 8259 section 8.1)
)

// String returns the kind in words.
func (k NoteKind) String() string {
	switch k {
	case DuplicateKey:
		return "duplicate key"
	case LoneSurrogate:
		return "lone surrogate"
	case InvalidUTF8:
		return "invalid UTF-8"
	}
	return "note " + strconv.Itoa(int(k))
}

// Note is a peculiarity of a text that parses but that other parsers may
// refuse or read differently. A string gets at most one note of each kind.
type Note struct {
	Kind    NoteKind
	Offset  int    // of the repeated key (its quote), of the escape, of the byte
	Pointer string // RFC 6901, to the value, or to the member whose key it is about; Offset tells members with one key apart
}

// maxNotes bounds the notes of one text; further repetitions of a problem add no
// information.
const maxNotes = 1000

// mark is a Note before its pointer is known. Pointers are computed at the end, from
// offsets, so that texts without notes pay nothing.
type mark struct {
	kind   NoteKind
	offset int
	at     int    // offset of the value, or of the object when key is set
	key    bool   // about a key; while its object is open, at is the key's offset
	name   string // the key
	done   bool   // at and name are final
}

func (p *parser) mark(m mark) {
	if len(p.marks) < maxNotes {
		p.marks = append(p.marks, m)
	}
}

// finishObject records duplicate keys and completes the marks (those from index first
// on) for keys of the object that begins at open.
func (p *parser) finishObject(c *container, open, first int) {
	for i := first; i < len(p.marks); i++ {
		m := &p.marks[i]
		if !m.key || m.done {
			continue
		}
		key, _, _ := p.scan.scanString(m.at)
		m.name = p.scan.readText(key)
		m.at, m.done = open, true
	}
	if d := p.dups.findFirst(c.keys); d < 0 {
		return
	}
	c.dup = true
	seen := make(map[string]bool, len(c.keys))
	at := p.findKeyOffsets(open)
	for i, k := range c.keys {
		if seen[k] {
			p.mark(mark{kind: DuplicateKey, offset: at[i], at: open, key: true, name: k, done: true})
		}
		seen[k] = true
	}
}

// findKeyOffsets returns the offsets of the keys of the object at open by scanning its
// text again; only objects with duplicates need it.
func (p *parser) findKeyOffsets(open int) (at []int) {
	for i := open + 1; ; {
		var more bool
		if i, more, _ = p.scan.scanSeparator(i, '}', len(at) == 0); !more {
			return at
		}
		at = append(at, i)
		_, i, _ = p.scan.scanKey(i)
		i, _ = p.scan.skip(i, 0)
	}
}

// findInvalid returns the index of the first byte of s that is not UTF-8.
func findInvalid(s string) int {
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return len(s)
}

// finishNotes converts marks to notes, in the order of the text.
func (p *parser) finishNotes(root Value) []Note {
	if len(p.marks) == 0 {
		return nil
	}
	notes := make([]Note, len(p.marks))
	for i, m := range p.marks {
		ptr := findPointer(root, m.at)
		if m.key {
			ptr = AppendPointer(ptr, m.name)
		}
		notes[i] = Note{Kind: m.kind, Offset: m.offset, Pointer: ptr}
	}
	slices.SortStableFunc(notes, func(a, b Note) int { return a.Offset - b.Offset })
	return notes
}

// findPointer returns the pointer to the value that begins at offset, descending
// through the children by their offsets.
func findPointer(v Value, offset int) string {
	ptr := ""
	for v.Offset() != offset && v.c.len() > 0 {
		i, found := slices.BinarySearchFunc(v.c.vals, offset, func(e Value, at int) int { return e.Offset() - at })
		if !found {
			i--
		}
		if i < 0 {
			break
		}
		if v.kind == KindObject {
			ptr = AppendPointer(ptr, v.c.keys[i])
		} else {
			ptr = AppendPointer(ptr, strconv.Itoa(i))
		}
		v = v.c.vals[i]
	}
	return ptr
}
