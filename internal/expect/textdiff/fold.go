package textdiff

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// FoldCase maps texts that differ only in case to the same text: every character
// becomes the smallest one of its simple case-folding orbit (Unicode CaseFolding.txt,
// status C and S), so that ſ, s and S are equal.
func FoldCase(s string) string {
	ascii := true
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			ascii = false
			break
		}
	}
	if ascii {
		return strings.ToUpper(s)
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			b.WriteByte(s[i])
		} else {
			b.WriteRune(smallestFold(r))
		}
		i += size
	}
	return b.String()
}

func smallestFold(r rune) rune {
	least := r
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		least = min(least, f)
	}
	return least
}
