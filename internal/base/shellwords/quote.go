package shellwords

import (
	"strings"

	"mcptest/internal/base/lists"
)

// Quote writes one word so that Split, and a POSIX shell, read it back as the
// same single word: as it is where that is safe, in single quotes otherwise.
func Quote(word string) string {
	special := func(r rune) bool {
		letter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
		return !letter && !strings.ContainsRune("-_./:,@%+=", r)
	}
	if word != "" && !strings.ContainsFunc(word, special) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// QuoteAll writes words as one command line, a space between them.
func QuoteAll(words []string) string {
	return strings.Join(lists.Map(words, Quote), " ")
}
