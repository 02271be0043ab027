package keep

import (
	"bytes"
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
)

// insertInFlow returns the place at the end of a list or map in flow style, which begins at an
// offset and has the given items (of a map, its keys).
func (s *surroundings) insertInFlow(start int, items []*source.Node, p piece) []Edit {
	b := findBracket(s.file.Data, start)
	if b.close < 0 {
		return nil
	}
	if b.last == start {
		return []Edit{{start + 1, []byte(p.line)}}
	}
	text, at := ", "+p.line, b.last+1
	if s.file.Data[b.last] == ',' {
		text = " " + p.line + ","
	}
	indent, alone := s.indentOf(items)
	if !alone {
		return []Edit{{at, []byte(text)}}
	}
	body := s.indentPiece(p, indent, start, b.last)
	switch {
	case s.file.Data[b.last] == ',':
		text = s.eol + indent + body + ","
	case b.commented: // a comma behind the item would be behind its comment, too
		at = s.endOfLine(b.last)
		text = s.eol + indent + ", " + body
	default:
		text = "," + s.eol + indent + body
	}
	return []Edit{{at, []byte(text)}}
}

// indentOf returns the blanks before the last item, and whether it begins its line.
func (s *surroundings) indentOf(items []*source.Node) (indent string, alone bool) {
	if len(items) == 0 {
		return "", false
	}
	last := items[len(items)-1]
	pos := last.Pos
	if at, alias := last.Alias(); alias {
		pos = at
	}
	line := s.file.Line(pos.Line)
	indent = line[:len(line)-len(strings.TrimLeft(line, " \t"))]
	begins := []rune(line)
	before := string(begins[:min(pos.Col-1, len(begins))])
	if s.test.json { // a key has the position of its value
		before, _, _ = strings.Cut(before, `"`)
	}
	return indent, pos.Line > 1 && strings.TrimSpace(before) == ""
}

// indentPiece returns a piece on several lines if the last item has several lines.
func (s *surroundings) indentPiece(p piece, indent string, start, last int) string {
	from := s.file.At(start).Line
	item := s.file.At(last)
	own := strings.TrimSpace(s.file.Line(item.Line))
	if item.Line == from || !strings.HasPrefix(own, "}") && !strings.HasPrefix(own, "]") {
		return p.line
	}
	outer := s.file.Line(from)
	unit := strings.TrimPrefix(indent, outer[:len(outer)-len(strings.TrimLeft(outer, " \t"))])
	if unit == "" {
		unit = "  "
	}
	var out []string
	for i, line := range p.lines {
		text := strings.TrimLeft(line, "\t")
		line = strings.Repeat(unit, len(line)-len(text)) + text
		if i > 0 {
			line = indent + line
		}
		out = append(out, line)
	}
	return strings.Join(out, s.eol)
}

func (s *surroundings) endOfLine(offset int) int {
	if n := bytes.IndexAny(s.file.Data[offset:], "\r\n"); n >= 0 {
		return offset + n
	}
	return len(s.file.Data)
}

// skipProperties returns the offset of a value behind its anchor, tag, comments and blanks.
func (s *surroundings) skipProperties(offset int) int {
	data := s.file.Data
	for offset >= 0 && offset < len(data) {
		switch data[offset] {
		case ' ', '\t', '\r', '\n':
			offset++
		case '#':
			offset = s.endOfLine(offset)
		case '&', '!':
			for offset < len(data) && !isBlank(data[offset]) {
				offset++
			}
		default:
			return offset
		}
	}
	return offset
}

// bracket is a list or map in flow style.
type bracket struct {
	close     int  // the offset of its end; -1 if there is none
	last      int  // the last byte inside that is neither blank nor comment; its beginning if there is none
	commented bool // a comment follows on the line of last
}

// findBracket finds the end of the list or map that begins at start.
func findBracket(data []byte, start int) bracket {
	b := bracket{close: -1, last: start}
	depth, fresh := 0, true // fresh: a value may begin here, so a quote is one
	for i := start; i < len(data); i++ {
		c := data[i]
		switch {
		case c == '#' && isBlank(data[i-1]):
			b.commented = !bytes.ContainsAny(data[b.last:i], "\r\n")
			for i+1 < len(data) && data[i+1] != '\n' && data[i+1] != '\r' {
				i++
			}
			continue
		case isBlank(c):
			continue
		case fresh && (c == '"' || c == '\''):
			i = endOfQuote(data, i)
			fresh = false
		case fresh && (c == '&' || c == '!'): // a value follows
			isEnd := func(c byte) bool { return isBlank(c) || bytes.IndexByte([]byte(",[]{}"), c) >= 0 }
			for i+1 < len(data) && !isEnd(data[i+1]) {
				i++
			}
		case c == '[' || c == '{':
			depth++
			fresh = true
		case c == ']' || c == '}':
			depth--
			if depth == 0 {
				b.close = i
				return b
			}
			fresh = false
		case c == ',':
			fresh = true
		case c == ':':
			fresh = true
		default:
			fresh = false
		}
		b.last, b.commented = min(i, len(data)-1), false
	}
	return b
}

// endOfQuote returns the offset of the quote that ends the text which begins at start.
func endOfQuote(data []byte, start int) int {
	quote := data[start]
	for i := start + 1; i < len(data); i++ {
		switch {
		case quote == '"' && data[i] == '\\':
			i++
		case data[i] != quote:
		case quote == '\'' && i+1 < len(data) && data[i+1] == quote:
			i++
		default:
			return i
		}
	}
	return len(data)
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// isJSON reports whether a suite is written as JSON.
func isJSON(f *source.File) bool {
	return jsonv.Valid(bytes.TrimPrefix(f.Data, []byte("\xef\xbb\xbf"))) == nil
}
