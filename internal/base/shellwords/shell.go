package shellwords

import (
	"path/filepath"
	"runtime"
	"strings"

	"mcptest/internal/base/lists"
)

// QuoteForShell writes one word of a command line that a person pastes into the shell of
// this system. It is Quote, except on Windows, where it is for cmd and PowerShell.
func QuoteForShell(word string) string {
	if runtime.GOOS == "windows" {
		return quoteForWindows(word)
	}
	return Quote(word)
}

// QuotePathForShell is QuoteForShell for a path, which is written with slashes: all shells
// and programs read them, and a backslash is something else in the shells of other systems.
func QuotePathForShell(path string) string { return QuoteForShell(filepath.ToSlash(path)) }

// QuoteAllForShell writes the words of a command line that a person pastes into the shell of
// this system, a space between them.
func QuoteAllForShell(words []string) string {
	return strings.Join(lists.Map(words, QuoteForShell), " ")
}

// SpellVariable writes a variable of the environment as a part of such a command line
// that is in double quotes.
func SpellVariable(name string) string {
	if runtime.GOOS == "windows" {
		return "%" + name + "%"
	}
	return "$" + name
}

// WrapInShell returns how a suite runs a line of a shell, for hints.
func WrapInShell() string {
	if runtime.GOOS == "windows" {
		return "cmd /c '…'"
	}
	return "bash -c '…'"
}

// noShell is the hint for what only a shell understands.
func noShell() string { return "hooks run one program, not a shell; write " + WrapInShell() }

// quoteForWindows writes one word so that cmd passes it on unchanged: in double quotes,
// because cmd knows no others. PowerShell reads it the same way, unless it contains a double
// quote, a backquote, or a dollar sign before a name. A %NAME% of a variable is replaced by
// cmd; nothing on its command line prevents that.
//
// \" is a quote for the program, but ends the quotes for cmd. Operators that are outside of
// them for cmd get its escape, ^.
func quoteForWindows(word string) string {
	if word != "" && !strings.ContainsFunc(word, isSpecialOnWindows) {
		return word
	}
	var b strings.Builder
	b.WriteByte('"')
	backslashes := 0
	inQuotes := true // for cmd
	for i := range len(word) {
		c := word[i]
		switch {
		case c == '"':
			b.WriteString(strings.Repeat(`\`, backslashes+1))
			inQuotes = !inQuotes
		case !inQuotes && strings.IndexByte("&|<>^", c) >= 0:
			b.WriteByte('^')
		}
		b.WriteByte(c)
		if c == '\\' {
			backslashes++
		} else {
			backslashes = 0
		}
	}
	b.WriteString(strings.Repeat(`\`, backslashes))
	if !inQuotes {
		b.WriteByte('^') // cmd must not take the last quote for the first of others
	}
	b.WriteByte('"')
	return b.String()
}

// isSpecialOnWindows reports whether a word with the character is quoted: a comma is the
// operator of lists in PowerShell, @ and ~ have meanings at the beginning of a word.
func isSpecialOnWindows(r rune) bool {
	isLetterOrDigit := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	return !isLetterOrDigit && !strings.ContainsRune(`-_./:\+=`, r)
}
