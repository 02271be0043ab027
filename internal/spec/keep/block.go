package keep

import (
	"strings"

	"mcptest/internal/base/source"
)

// maxPlaces bounds the lines at the end of a list that are tried as a place, each of which
// costs parsing the suite.
const maxPlaces = 50

// insertInBlock returns the places behind the last item of a list in block style: first the end
// of its own lines, then the lines up to what follows the list.
func (s *surroundings) insertInBlock(list *source.Node) []Edit {
	if len(list.Items) == 0 {
		return nil
	}
	dash := s.findDash(list.Items[len(list.Items)-1])
	if dash.Line == 0 {
		return nil
	}
	body := s.test.renderBlock(strings.Repeat(" ", dash.Col-1))
	end := s.endOfBlock(dash.Line, dash.Col)
	first := s.findLastOwnLine(dash, end) + 1
	spaced := len(list.Items) > 1 && strings.TrimSpace(s.file.Line(dash.Line-1)) == ""
	return s.listPlaces(first, end, body, spaced)
}

// newBlock returns the places for a new list at the end of a suite in block style.
func (s *surroundings) newBlock() []Edit {
	last := s.root.Fields[len(s.root.Fields)-1].Key.Pos
	indent := strings.Repeat(" ", last.Col-1)
	body := append([]string{indent + s.test.entry.Block + ":"}, s.test.renderBlock(indent+"  ")...)
	end := s.endOfDocument(last.Line)
	spaced := end > 1 && strings.TrimSpace(s.file.Line(end-1)) != ""
	places := s.listPlaces(end, end, body, spaced)
	places = append(places, s.listPlaces(last.Line+1, end, body, spaced)...)
	return append(places, s.editBefore(last.Line, body)) // the last value would change behind it
}

// listPlaces returns the insertions of lines before each of the lines from first to end.
func (s *surroundings) listPlaces(first, end int, body []string, spaced bool) (edits []Edit) {
	for line := first; line <= end && len(edits) < maxPlaces; line++ {
		if spaced {
			edits = append(edits, s.editBefore(line, append([]string{""}, body...)))
		}
		edits = append(edits, s.editBefore(line, body))
	}
	return edits
}

// editBefore returns the insertion of lines before a line of the file, or at its end if the
// file has fewer lines.
func (s *surroundings) editBefore(line int, lines []string) Edit {
	text := strings.Join(lines, s.eol)
	if offset := s.file.Offset(source.Pos{Line: line, Col: 1}); offset >= 0 && offset < len(s.file.Data) {
		return Edit{offset, []byte(text + s.eol)}
	}
	end := len(s.file.Data)
	if !s.endsWithLineEnd() {
		return Edit{end, []byte(s.eol + text)}
	}
	return Edit{end, []byte(text + s.eol)}
}

func (s *surroundings) endsWithLineEnd() bool {
	end := len(s.file.Data)
	return end == 0 || s.file.Data[end-1] == '\n' || s.file.Data[end-1] == '\r'
}

// findDash returns the position of the dash of an item.
func (s *surroundings) findDash(item *source.Node) source.Pos {
	pos := item.Pos
	if at, alias := item.Alias(); alias {
		pos = at
	}
	for line := pos.Line; line >= 1; line-- {
		text := s.file.Line(line)
		blanks := len(text) - len(strings.TrimLeft(text, " "))
		rest := text[blanks:]
		if rest == "-" || strings.HasPrefix(rest, "- ") || strings.HasPrefix(rest, "-\t") {
			return source.Pos{File: s.file, Line: line, Col: blanks + 1}
		}
		if strings.HasPrefix(rest, s.test.entry.Block+":") { // the item begins on the line of the key
			return source.Pos{}
		}
	}
	return source.Pos{}
}

// endOfBlock returns the first line after an item that is not part of the list: indented
// no deeper than its dash, and neither blank nor a comment.
func (s *surroundings) endOfBlock(start, dash int) int {
	for line := start + 1; line <= s.file.Lines(); line++ {
		text := s.file.Line(line)
		rest := strings.TrimLeft(text, " ")
		if rest != "" && rest[0] != '#' && len(text)-len(rest) < dash {
			return line
		}
	}
	return s.endOfFile()
}

// endOfFile returns the number of the line behind the last one.
func (s *surroundings) endOfFile() int {
	if s.file.Line(s.file.Lines()) == "" {
		return s.file.Lines()
	}
	return s.file.Lines() + 1
}

// findLastOwnLine returns the last line of an item: what is indented deeper than its dash,
// comments included. The comments and blank lines behind it belong to what follows.
func (s *surroundings) findLastOwnLine(dash source.Pos, end int) int {
	last := dash.Line
	for line := dash.Line + 1; line < end; line++ {
		text := s.file.Line(line)
		rest := strings.TrimLeft(text, " \t")
		if rest != "" && len(text)-len(rest) >= dash.Col {
			last = line
		}
	}
	return last
}

// endOfDocument returns the line of the marker that ends the document, or the end of the
// file.
func (s *surroundings) endOfDocument(from int) int {
	for line := from; line <= s.file.Lines(); line++ {
		text := s.file.Line(line)
		for _, marker := range []string{"...", "---"} {
			if rest, found := strings.CutPrefix(text, marker); found && (rest == "" || rest[0] == ' ') {
				return line
			}
		}
	}
	return s.endOfFile()
}
