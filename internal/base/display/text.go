package display

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
)

// cells measures text as most terminals draw it: escape sequences take no space, wide
// characters two columns, ambiguous characters one.
var cells = displaywidth.Options{ControlSequences: true}

// Width returns the number of columns that s occupies on a terminal.
func Width(s string) int {
	for i := 0; i < len(s); i++ {
		if s[i] < 0x20 || s[i] >= 0x7f {
			return cells.String(s)
		}
	}
	return len(s)
}

const (
	ellipsis = "…"
	// MaxBytes bounds a column in bytes: otherwise zero-width characters and escape
	// sequences could make a text of one column arbitrarily long.
	MaxBytes = 16
)

// Truncate shortens s to at most n columns and n*[MaxBytes] bytes. If text was cut,
// the last column is an ellipsis. A character is never split, and the escape
// sequences of a palette are kept.
func Truncate(s string, n int) string {
	if n <= 0 {
		return ""
	}
	if len(s) <= n {
		return s
	}
	if most := n * MaxBytes; len(s) > most {
		for most > 0 && !utf8.RuneStart(s[most]) {
			most--
		}
		s = s[:most] + ellipsis
	}
	return cells.TruncateString(s, n, ellipsis)
}

// Middle is like Truncate, but leaves out the middle: the end of a message often says what to
// do.
func Middle(s string, n int) string {
	if len(s) <= n {
		return s
	}
	if short := Truncate(s, n); short == s {
		return s
	}
	const most = 256 // of the end
	tail := []rune(s[max(0, len(s)-n*MaxBytes):])
	keep := min(n/3, most)
	tail = tail[max(0, len(tail)-keep):]
	for len(tail) > 0 && Width(string(tail)) > keep {
		tail = tail[1:]
	}
	return Truncate(s, n-keep) + string(tail)
}

// OneLine formats s for the middle of a sentence: runs of white space become one
// space, and hidden characters become escapes.
func OneLine(s string) string { return Escape(strings.Join(strings.Fields(s), " ")) }

// Count formats a number of items: 1 test, 2 tests, 3 properties.
func Count(n int, noun string) string { return strconv.Itoa(n) + " " + Plural(n, noun) }

// Thousands formats a number with commas: 8,000.
func Thousands(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// Plural returns the form of a regular noun for a number.
func Plural(n int, noun string) string {
	if n == 1 {
		return noun
	}
	for _, end := range []string{"s", "x", "ch", "sh"} {
		if strings.HasSuffix(noun, end) {
			return noun + "es"
		}
	}
	stem, ok := strings.CutSuffix(noun, "y")
	if ok && stem != "" && !strings.ContainsRune("aeiou", rune(stem[len(stem)-1])) {
		return stem + "ies"
	}
	return noun + "s"
}

// Alternatives joins words for a sentence: "a", "a or b", "a, b or c".
func Alternatives(words []string, conjunction string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " " + conjunction + " " + words[last]
}

// Article adds "a" or "an" before a noun, depending on its first letter.
func Article(noun string) string {
	if noun != "" && strings.ContainsRune("aeiouAEIOU", rune(noun[0])) {
		return "an " + noun
	}
	return "a " + noun
}

// Sentence capitalizes s and adds a full stop. A first word that is not plain lower
// case (a name, a flag, a path) is kept.
func Sentence(s string) string {
	if s == "" {
		return ""
	}
	first, _, _ := strings.Cut(s, " ")
	if !strings.ContainsFunc(first, func(r rune) bool { return (r < 'a' || r > 'z') && !strings.ContainsRune(",:-'", r) }) {
		s = strings.ToUpper(s[:1]) + s[1:]
	}
	if !strings.HasSuffix(s, ellipsis) && !strings.ContainsAny(s[len(s)-1:], ".!?") {
		s += "."
	}
	return s
}

// List joins words with commas; of more than most it shows the first ones.
func List(words []string, most int) string {
	if len(words) > most {
		words = append(words[:most:most], "…")
	}
	return strings.Join(words, ", ")
}
