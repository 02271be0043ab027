package jsonv

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"unicode/utf8"
)

// SyntaxError describes where and why a text is not JSON (RFC 8259) or exceeds a
// limit.
type SyntaxError struct {
	Offset int    // byte offset of the first invalid byte, or len(text)
	Msg    string // "unexpected 'I', expected a value"
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("not JSON: %s (at byte %d)", e.Msg, e.Offset)
}

func newSyntaxError(offset int, format string, args ...any) *SyntaxError {
	return &SyntaxError{Offset: offset, Msg: fmt.Sprintf(format, args...)}
}

// showByte describes the character at i for a message.
func showByte(data []byte, i int) string {
	r, size := utf8.DecodeRune(data[i:])
	switch {
	case r == utf8.RuneError && size <= 1:
		return fmt.Sprintf("byte 0x%02X", data[i])
	case r < 0x20 || r == 0x7F:
		return fmt.Sprintf("control character 0x%02X", r)
	case r == '\uFEFF':
		return "a byte order mark"
	}
	return fmt.Sprintf("%q", r)
}

// newUnexpectedError returns the error for the byte at i, where want was expected.
func newUnexpectedError(data []byte, i int, want string) *SyntaxError {
	if i >= len(data) {
		return newSyntaxError(len(data), "the text ended, expected %s", want)
	}
	return newSyntaxError(i, "unexpected %s, expected %s", showByte(data, i), want)
}

// skipSpace returns the index of the first byte at or after i that is not white
// space.
func skipSpace(data []byte, i int) int {
	for i < len(data) {
		switch data[i] {
		case ' ', '\n', '\t', '\r':
			i++
		default:
			return i
		}
	}
	return i
}

// strFlags describes the content of a scanned string.
type strFlags uint8

const (
	strEscaped  strFlags = 1 << iota // a backslash
	strNonASCII                      // a byte above 0x7F
)

const (
	swarLow  = 0x0101010101010101
	swarHigh = 0x8080808080808080
)

// scanString checks a string whose content begins at i (after the opening quote) and
// returns the index of the closing quote.
func scanString(data []byte, i int) (int, strFlags, *SyntaxError) {
	start := i
	var flags strFlags
	stop := uint64(swarHigh) // the high bits that stop the word loop: all, until non-ASCII was seen
	for {
		// Eight bytes at a time: a flagged byte is '"', '\\', below 0x20 or above
		// 0x7F. Borrows only disturb bytes after the first flagged one.
		for i+8 <= len(data) {
			w := binary.LittleEndian.Uint64(data[i:])
			q := w ^ swarLow*'"'
			b := w ^ swarLow*'\\'
			m := ((q-swarLow)&^q | (b-swarLow)&^b | (w-swarLow*0x20)&^w) & swarHigh
			m |= w & stop
			if m != 0 {
				i += bits.TrailingZeros64(m) >> 3
				break
			}
			i += 8
		}
		if i >= len(data) {
			return i, flags, newStringEnded(data, start)
		}
		c := data[i]
		switch {
		case c == '"':
			return i, flags, nil
		case c == '\\':
			flags |= strEscaped
			var err *SyntaxError
			if i, err = scanEscape(data, i, start); err != nil {
				return i, flags, err
			}
		case c < 0x20:
			return i, flags, newSyntaxError(i, "%s inside a string must be escaped", showByte(data, i))
		case c >= 0x80:
			flags |= strNonASCII
			stop = 0
			i++
		default:
			i++
		}
	}
}

func newStringEnded(data []byte, start int) *SyntaxError {
	return newSyntaxError(len(data), "the text ended inside a string that began at byte %d", start-1)
}

// scanEscape checks the escape sequence at i and returns the index after it.
func scanEscape(data []byte, i, start int) (int, *SyntaxError) {
	if i+1 >= len(data) {
		return i, newStringEnded(data, start)
	}
	switch data[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 2, nil
	case 'u':
		for j := i + 2; j < i+6; j++ {
			if j >= len(data) {
				return i, newStringEnded(data, start)
			}
			if parseHexDigit(data[j]) < 0 {
				return j, newSyntaxError(j, "unexpected %s, expected four hexadecimal digits after \\u",
					showByte(data, j))
			}
		}
		return i + 6, nil
	}
	return i, newSyntaxError(i+1, "unexpected %s after a backslash in a string", showByte(data, i+1))
}

func parseHexDigit(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// scanNumber checks the number at i and returns the index after it.
func scanNumber(data []byte, i int) (int, *SyntaxError) {
	if i < len(data) && data[i] == '-' {
		i++
	}
	switch {
	case i < len(data) && data[i] == '0':
		i++
		if i < len(data) && isDigit(data[i]) {
			return i, newSyntaxError(i, "a number must not have leading zeros")
		}
	default:
		end := skipDigits(data, i)
		if end == i {
			return i, newUnexpectedError(data, i, "a digit")
		}
		i = end
	}
	if i < len(data) && data[i] == '.' {
		end := skipDigits(data, i+1)
		if end == i+1 {
			return end, newUnexpectedError(data, end, "a digit after the decimal point")
		}
		i = end
	}
	if i < len(data) && (data[i] == 'e' || data[i] == 'E') {
		i++
		if i < len(data) && (data[i] == '+' || data[i] == '-') {
			i++
		}
		end := skipDigits(data, i)
		if end == i {
			return i, newUnexpectedError(data, i, "a digit in the exponent")
		}
		i = end
	}
	return i, nil
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func skipDigits(data []byte, i int) int {
	for i < len(data) && isDigit(data[i]) {
		i++
	}
	return i
}

// scanWord checks that word (true, false, null) is at i.
func scanWord(data []byte, i int, word string) (int, *SyntaxError) {
	for j := range len(word) {
		if i+j >= len(data) {
			return i, newSyntaxError(len(data), "the text ended inside %s", word)
		}
		if data[i+j] != word[j] {
			return i, explainBadWord(data, i)
		}
	}
	return i + len(word), nil
}

// explainBadWord returns the error for letters that do not form a JSON literal.
func explainBadWord(data []byte, i int) *SyntaxError {
	end := i
	for end < len(data) && end-i < 24 && isWordByte(data[end]) {
		end++
	}
	if end-i > 1 {
		return newSyntaxError(i, "unexpected '%s', expected a value", data[i:end])
	}
	return newUnexpectedError(data, i, "a value")
}

func isWordByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || isDigit(c) || c == '_'
}

// explainBadValue returns the error for a byte at i that cannot begin a value.
func explainBadValue(data []byte, i int) *SyntaxError {
	if i >= len(data) {
		if skipSpace(data, 0) == len(data) {
			return newSyntaxError(len(data), "the text is empty, expected a value")
		}
		return newSyntaxError(len(data), "the text ended, expected a value")
	}
	if i == 0 && len(data) >= 3 && data[0] == 0xEF && data[1] == 0xBB && data[2] == 0xBF {
		return newSyntaxError(0, "the text begins with a byte order mark, which JSON does not allow")
	}
	if data[i] == '\'' {
		return newSyntaxError(i, "unexpected '\\'', strings are written in double quotes")
	}
	if isWordByte(data[i]) {
		return explainBadWord(data, i)
	}
	return newUnexpectedError(data, i, "a value")
}

// newExtraComma returns the error for the end of an array or object after a comma.
func newExtraComma(i int, closing byte) *SyntaxError {
	want := "key"
	if closing == ']' {
		want = "value"
	}
	return newSyntaxError(i, "unexpected '%c' after a comma, expected another %s", closing, want)
}
