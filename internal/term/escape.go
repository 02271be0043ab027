package term

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Escape makes text from elsewhere (a server, a hook, a suite) safe to print
// on one line of a terminal or a CI log. It keeps printable text and shows
// everything else as the escape sequence a programmer would write: line feed
// as \n, escape as \x1b, DEL as \x7f, C1 controls as \x9b, invalid bytes as
// \xff, bidirectional controls, zero-width and other invisible characters as
// \u202e. The openers of CI commands that are recognised anywhere in a line
// (`##[`, `##vso[`, `##teamcity[`) are broken up, and so is a `::` at the
// start, which GitHub Actions takes for a command.
//
// A backslash is left alone: the result is for reading, not for decoding.
func Escape(s string) string {
	if plain(s) {
		return s
	}
	return escape(s, false)
}

// EscapeLines is Escape for text of several lines: line feeds are kept (CR LF
// becomes LF) and tabs become blanks. Callers that print it put a gutter
// before each line.
func EscapeLines(s string) string {
	if plain(s) {
		return s
	}
	return escape(s, true)
}

// plain reports whether s is printable ASCII without anything to break up.
func plain(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < 0x20 || c >= 0x7f || c == '#' || c == ':' {
			return false
		}
	}
	return true
}

func escape(s string, lines bool) string {
	var b strings.Builder
	b.Grow(len(s) + 16)
	blank := true // nothing but blanks on this line so far
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			switch {
			case lines && c == '\n':
				b.WriteByte('\n')
				blank = true
				i++
				continue
			case lines && c == '\r' && i+1 < len(s) && s[i+1] == '\n':
				i++
				continue
			case lines && c == '\t':
				b.WriteString("    ")
			case c == '\n':
				b.WriteString(`\n`)
			case c == '\r':
				b.WriteString(`\r`)
			case c == '\t':
				b.WriteString(`\t`)
			case c < 0x20 || c == 0x7f:
				fmt.Fprintf(&b, `\x%02x`, c)
			case c == '#' && ciMarker(s[i:]):
				b.WriteString(`\x23`)
			case c == ':' && blank && strings.HasPrefix(s[i:], "::"):
				b.WriteString(`\x3a`)
			default:
				b.WriteByte(c)
			}
			blank = blank && (c == ' ' || lines && c == '\t')
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		blank = blank && unicode.IsSpace(r) && !Invisible(r) // a runner trims more than ASCII
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, c)
		case r < 0xa0:
			fmt.Fprintf(&b, `\x%02x`, r)
		case Invisible(r) && r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		case Invisible(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}

// ciMarker reports whether s opens a command that CI systems recognise
// anywhere in a line: Azure Pipelines and the old GitHub form, TeamCity.
func ciMarker(s string) bool {
	return strings.HasPrefix(s, "##[") || strings.HasPrefix(s, "##vso[") || strings.HasPrefix(s, "##teamcity[")
}

// Invisible reports whether r changes how the text around it is shown, or
// shows nothing: bidirectional controls, zero-width characters, fillers, line
// and paragraph separators, tags, variation selectors of the supplement,
// private use and non-characters. The zero-width joiner and the emoji
// selector U+FE0F count too: hiding text is a worse fault than a split emoji.
func Invisible(r rune) bool {
	switch {
	case r < 0xad:
		return r < 0x20 || r >= 0x7f && r < 0xa0
	case r == 0xad, r == 0x34f, r == 0x61c, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5:
		return true
	case r >= 0x180b && r <= 0x180f:
		return true
	case r >= 0x200b && r <= 0x200f, r >= 0x2028 && r <= 0x202e, r >= 0x2060 && r <= 0x206f:
		return true
	case r == 0x2800, r == 0x3164, r == 0xfeff, r == 0xffa0:
		return true
	case r >= 0xfe00 && r <= 0xfe0f, r >= 0xfff0 && r <= 0xfffb, r == 0xfffe, r == 0xffff:
		return true
	case r >= 0xe000 && r <= 0xf8ff, r >= 0xf0000:
		return true
	case r >= 0x1d173 && r <= 0x1d17a, r >= 0xe0000 && r <= 0xe0fff:
		return true
	}
	return false
}
