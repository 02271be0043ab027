package evidence

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"mcptest/internal/base/jsonv"
)

// ContainsName reports whether a text contains a name as a whole word.
func ContainsName(s, name string) bool {
	for i := 0; name != ""; i++ {
		at := strings.Index(s[i:], name)
		if at < 0 {
			break
		}
		i += at
		before, _ := utf8.DecodeLastRuneInString(s[:i])
		after, _ := utf8.DecodeRuneInString(s[i+len(name):])
		if !IsWordRune(before) && !IsWordRune(after) {
			return true
		}
	}
	return false
}

// ContainsNameInWords reports whether a text contains a name when case and punctuation are
// ignored: "Book ID", "bookId" and "book-id" all name book_id. A longer word that only
// contains the name does not.
func ContainsNameInWords(s, name string) bool {
	if ContainsName(s, name) {
		return true
	}
	parts := splitName(name)
	if len(parts) == 0 {
		return false
	}
	words := strings.FieldsFunc(s, func(r rune) bool { return r != '-' && !IsWordRune(r) })
	var plain []string
	for _, w := range words {
		if letters := keepLetters(w); letters != "" {
			plain = append(plain, letters)
		}
	}
	for i := range plain {
		if beginWithName(plain[i:], parts) {
			return true
		}
	}
	return false
}

// beginWithName reports whether a list of words begins with the parts of a name; a word
// may be several parts in one.
func beginWithName(words, parts []string) bool {
	for len(parts) > 0 && len(words) > 0 {
		used, joined := 0, ""
		for used < len(parts) && len(joined) < len(words[0]) {
			joined += parts[used]
			used++
		}
		if joined != words[0] {
			return false
		}
		words, parts = words[1:], parts[used:]
	}
	return len(parts) == 0
}

// splitName divides a name into its words in lower case: bookId and book_id are book, id.
func splitName(name string) []string {
	var out strings.Builder
	before := rune(0)
	for _, r := range name {
		if unicode.IsUpper(r) && unicode.IsLower(before) {
			out.WriteByte(' ')
		}
		before = r
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			out.WriteRune(unicode.ToLower(r))
		} else {
			out.WriteByte(' ')
		}
	}
	return strings.Fields(out.String())
}

// keepLetters returns the letters and digits of a word in lower case.
func keepLetters(word string) string { return strings.Join(splitName(word), "") }

// IsWordRune reports whether r belongs to a word: a letter, a digit or an underscore.
func IsWordRune(r rune) bool {
	return r == '_' || r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

// HasName reports whether a text or key inside a value contains a name.
func HasName(v jsonv.Value, name string) bool {
	found := false
	VisitTexts(v, func(s string) { found = found || ContainsName(s, name) })
	return found
}

// HasNameInWords reports whether a text or key inside a value contains a name when case
// and punctuation are ignored.
func HasNameInWords(v jsonv.Value, name string) bool {
	found := false
	VisitTexts(v, func(s string) { found = found || ContainsNameInWords(s, name) })
	return found
}

// VisitTexts calls use with every text inside a value, keys included.
func VisitTexts(v jsonv.Value, use func(string)) {
	if v.Kind() == jsonv.KindString {
		use(v.Text())
	}
	for k, e := range v.Children() {
		if v.Kind() == jsonv.KindObject {
			use(k)
		}
		VisitTexts(e, use)
	}
}

// SnakeCase is the form of names that the specification prescribes.
var SnakeCase = Pattern(`^[a-z][a-z0-9_]*$`)
