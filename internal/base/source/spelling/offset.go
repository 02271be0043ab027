package spelling

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// FindOffset returns the offset in src of the byte at an offset of text. The scalar
// begins at src[at] and is plain (form 0), quoted (' or ") or a block (|). It returns
// false if src is not a spelling of text.
func FindOffset(src []byte, at int, form byte, text string, offset int) (int, bool) {
	t := trace{src: src, at: SkipProperties(src, at), want: text, until: offset}
	var found bool
	switch form {
	case 0:
		found = t.traceFlow(0)
	case '|':
		found = t.traceLiteral()
	default:
		found = t.skipQuoted(form)
	}
	return t.at, found
}

// SkipProperties returns the offset after the anchor and tag of a value.
func SkipProperties(src []byte, at int) int {
	for at < len(src) && (src[at] == '&' || src[at] == '!') {
		for at < len(src) && !IsBlank(src[at]) {
			at++
		}
		for at < len(src) && IsBlank(src[at]) {
			at++
		}
	}
	return at
}

// IsBlank reports whether c is white space of YAML.
func IsBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// trace follows the source and the text in parallel. It stops if the source is not a
// spelling of the text.
type trace struct {
	src   []byte
	at    int    // in src
	want  string // the whole text
	done  int    // number of bytes of want that src[:at] spells
	until int
}

// emit consumes size source bytes that spell text.
func (t *trace) emit(text string, size int) bool {
	if !strings.HasPrefix(t.want[t.done:], text) {
		return false
	}
	if t.done+len(text) > t.until {
		return true // until lies inside these bytes, which begin at t.at
	}
	t.done += len(text)
	t.at += size
	return true
}

func (t *trace) skipQuoted(quote byte) bool {
	if t.at >= len(t.src) || t.src[t.at] != quote {
		return false
	}
	t.at++
	return t.traceFlow(quote)
}

// traceFlow follows a plain (quote 0) or quoted scalar up to the offset.
func (t *trace) traceFlow(quote byte) bool {
	for {
		if t.done == t.until && !t.skipFold() {
			return true
		}
		if t.at >= len(t.src) {
			return false
		}
		before := t.at
		var ok bool
		c := t.src[t.at]
		switch {
		case IsBlank(c):
			ok = t.skipBlank()
		case quote == '\'' && c == '\'':
			ok = bytes.HasPrefix(t.src[t.at:], []byte("''")) && t.emit("'", 2)
		case quote == '"' && c == '"':
			ok = false
		case quote == '"' && c == '\\':
			ok = t.escape()
		default:
			_, size := utf8.DecodeRune(t.src[t.at:])
			ok = t.emit(string(t.src[t.at:t.at+size]), size)
		}
		if !ok {
			return false
		}
		if t.at == before {
			return true // the offset is inside this unit
		}
	}
}

// skipFold skips a line continuation, which spells nothing, so that the position is
// after it.
func (t *trace) skipFold() bool {
	return bytes.HasPrefix(t.src[t.at:], []byte("\\\n")) || bytes.HasPrefix(t.src[t.at:], []byte("\\\r\n"))
}

// skipBlank follows white space, which is folded across lines.
func (t *trace) skipBlank() bool {
	end, breaks := t.at, 0
	for end < len(t.src) && IsBlank(t.src[end]) {
		if t.src[end] == '\n' || t.src[end] == '\r' && !bytes.HasPrefix(t.src[end:], []byte("\r\n")) {
			breaks++
		}
		end++
	}
	switch breaks {
	case 0:
		return t.emit(string(t.src[t.at]), 1)
	case 1:
		return t.emit(" ", end-t.at)
	}
	return t.emit(strings.Repeat("\n", breaks-1), end-t.at)
}

// escape follows one escape sequence of a double-quoted scalar. The expected text
// gives its meaning, so only its length is needed.
func (t *trace) escape() bool {
	if t.at+1 >= len(t.src) {
		return false
	}
	switch t.src[t.at+1] {
	case 'x':
		return t.emitRune(4)
	case 'u':
		return t.emitRune(6)
	case 'U':
		return t.emitRune(10)
	case '\n', '\r':
		end := t.at + 1
		for end < len(t.src) && IsBlank(t.src[end]) {
			end++
		}
		t.at = end
		return true
	}
	return t.emitRune(2)
}

func (t *trace) emitRune(size int) bool {
	_, length := utf8.DecodeRuneInString(t.want[t.done:])
	return length > 0 && t.at+size <= len(t.src) && t.emit(t.want[t.done:t.done+length], size)
}

// traceLiteral follows a | block: a header line, then lines with a common indentation,
// which is that of the first line with text.
func (t *trace) traceLiteral() bool {
	if t.at >= len(t.src) || t.src[t.at] != '|' {
		return false
	}
	header, rest := cutLine(t.src[t.at:])
	explicit := strings.IndexAny(header, "123456789")
	if comment := strings.IndexByte(header, '#'); comment >= 0 && comment < explicit {
		explicit = -1
	}
	if explicit >= 0 {
		return false // relative to the parent's indentation, which is unknown here
	}
	t.at += rest
	indent := measureIndent(t.src[t.at:])
	for {
		line, size := cutLine(t.src[t.at:])
		if size == 0 {
			return false
		}
		lead := 0
		for lead < indent && lead < len(line) && line[lead] == ' ' {
			lead++
		}
		if lead < indent && lead < len(line) {
			return false // the block has ended
		}
		text := line[lead:]
		if part := t.until - t.done; part <= len(text) {
			t.at += lead
			return t.emit(text[:part], part)
		}
		if !strings.HasPrefix(t.want[t.done:], text+"\n") {
			return false
		}
		t.done += len(text) + 1
		t.at += size
	}
}

// cutLine returns the first line without its line break, and its size including it.
func cutLine(src []byte) (line string, size int) {
	end := bytes.IndexAny(src, "\r\n")
	if end < 0 {
		return string(src), len(src)
	}
	size = end + 1
	if bytes.HasPrefix(src[end:], []byte("\r\n")) {
		size++
	}
	return string(src[:end]), size
}

// measureIndent returns the indentation of the first line that has text.
func measureIndent(src []byte) int {
	for len(src) > 0 {
		line, size := cutLine(src)
		if text := strings.TrimLeft(line, " "); text != "" {
			return len(line) - len(text)
		}
		src = src[size:]
	}
	return 0
}
