package secret

import (
	"encoding/base64"
	"strings"
	"unicode/utf8"
)

// Classes of bytes, and the parts of a text: runs, quotes, values after a name. Quotes and
// line ends may be escaped, as in a string of JSON.

// maxName bounds how far a name is read around the word that was found, and maxValue how
// far a value in quotes is.
const (
	maxName  = 64
	maxValue = 16 << 10
)

func digit(c byte) bool      { return c-'0' < 10 }
func upper(c byte) bool      { return c-'A' < 26 }
func letter(c byte) bool     { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func alnum(c byte) bool      { return digit(c) || letter(c) }
func hexDigit(c byte) bool   { return digit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }
func upperDigit(c byte) bool { return digit(c) || upper(c) }
func word(c byte) bool       { return alnum(c) || c == '_' }
func wordDash(c byte) bool   { return word(c) || c == '-' }
func urlPath(c byte) bool    { return wordDash(c) || c == '/' }
func nameChar(c byte) bool   { return wordDash(c) || c == '.' || c == '~' || c == '%' }
func base64Char(c byte) bool { return wordDash(c) || c == '+' || c == '/' }
func keyChar(c byte) bool    { return alnum(c) || c == '+' || c == '/' || c == '=' }
func blank(c byte) bool      { return c == ' ' }
func backslash(c byte) bool  { return c == '\\' }
func whiteSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }
func numberChar(c byte) bool { return digit(c) || strings.IndexByte("+-.eE", c) >= 0 }

// tokenChar is the alphabet of RFC 6750 section 2.1 (b64token).
func tokenChar(c byte) bool { return base64Char(c) || c == '.' || c == '~' || c == '=' }

func authorityChar(c byte) bool { return c > ' ' && strings.IndexByte("/?#\"'<>\\`", c) < 0 }
func queryChar(c byte) bool     { return c > ' ' && strings.IndexByte("&#;\"'<>\\`)", c) < 0 }
func valueChar(c byte) bool     { return c > ' ' && strings.IndexByte("&,;\"'<>\\`}", c) < 0 }
func cookieChar(c byte) bool    { return c > ' ' && strings.IndexByte("=;,\"'\\`", c) < 0 }
func headerChar(c byte) bool    { return c >= ' ' && strings.IndexByte("\"'\\`", c) < 0 }

// scanSpan returns the end of the run of bytes of a class that starts at i.
func scanSpan(s string, i int, class func(byte) bool) int {
	for i < len(s) && class(s[i]) {
		i++
	}
	return i
}

// consistsOf reports whether s consists of bytes of a class.
func consistsOf(s string, class func(byte) bool) bool { return scanSpan(s, 0, class) == len(s) }

// skip returns the end of the run of at most so many of some characters.
func skip(s string, i int, chars string, most int) int {
	for most > 0 && i < len(s) && strings.IndexByte(chars, s[i]) >= 0 {
		i++
		most--
	}
	return i
}

// cut reports whether the text was truncated at i: it ends there or an ellipsis follows.
func cut(s string, i int) bool {
	rest := s[i:]
	return rest == "" || strings.HasPrefix(rest, ellipsis) || strings.HasPrefix(rest, "...")
}

const ellipsis = "…"

// isBoundary reports whether a word may begin at i: at the start, after a character that
// belongs to no word, or after an escape sequence.
func isBoundary(s string, i int) bool {
	return i == 0 || !wordDash(s[i-1]) ||
		i >= 2 && s[i-2] == '\\' && strings.IndexByte("nrtbf", s[i-1]) >= 0 ||
		i >= 3 && s[i-3] == '%' && hexDigit(s[i-2]) && hexDigit(s[i-1]) ||
		i >= 6 && s[i-6] == '\\' && s[i-5] == 'u' && hexDigit(s[i-4]) && hexDigit(s[i-1])
}

// quoteAt returns the quote at k with the backslashes before it, "" for none.
func quoteAt(s string, k int) string {
	end := scanSpan(s[:min(len(s), k+32)], k, backslash)
	if end < len(s) && (s[end] == '"' || s[end] == '\'') {
		return s[k : end+1]
	}
	return ""
}

// findClosing returns where the content of a quote ends: at the next one of its kind that is
// not escaped itself.
func findClosing(s string, i int, quote string) int {
	slashes, n := 0, len(quote)-1
	for ; i < len(s); i++ {
		switch s[i] {
		case '\\':
			slashes++
			continue
		case quote[n]:
			if slashes%(2*(n+1)) == n {
				return i - n
			}
		}
		slashes = 0
	}
	return len(s)
}

// findValue finds the text after a name that ends at k: after quotes, a colon
// or an equals sign and blanks, within quotes or as long as the class holds.
// quote is the length of the quote, 0 when there is none. All is 0 when there
// is no value, or when it is masked already.
func findValue(s string, k int, class func(byte) bool) (start, end, quote int) {
	k = skip(s, k, `"'\`, 4)
	k = skip(s, k, " ", 2)
	if k >= len(s) || s[k] != ':' && s[k] != '=' {
		return 0, 0, 0
	}
	k = skip(s, k+1, " ", 4)
	if strings.HasPrefix(s[k:], Mask) {
		return 0, 0, 0
	}
	return findContent(s, skip(s, k, "[", 1), class)
}

// findArgument finds the word after a flag that ends at k, in a command line or a
// list of words.
func findArgument(s string, k int) (start, end int) {
	j := skip(s, k, `"'\`, 4)
	next := skip(s, skip(s, j, ",", 1), " ", 4)
	if next == j || strings.HasPrefix(s[next:], Mask) {
		return 0, 0
	}
	start, end, _ = findContent(s, next, valueChar)
	return start, end
}

// findContent finds what is quoted at k, or the run of a class.
func findContent(s string, k int, class func(byte) bool) (start, end, quote int) {
	open := scanSpan(s, k, backslash)
	if open < len(s) && open-k < 8 && strings.IndexByte("\"'`", s[open]) >= 0 {
		start = open + 1
		if strings.HasPrefix(s[start:], Mask) {
			return 0, 0, 0
		}
		return start, findClosing(s[:min(len(s), start+maxValue)], start, s[k:start]), start - k
	}
	end = scanSpan(s, k, class)
	for end > k && s[end-1] == ' ' {
		end--
	}
	if end == k || s[k] == '{' {
		return 0, 0, 0
	}
	return k, end, 0
}

// decodeBase64 decodes a text in either alphabet, without padding.
func decodeBase64(s string) (text string, ok bool) {
	enc := base64.RawStdEncoding
	if strings.ContainsAny(s, "-_") {
		enc = base64.RawURLEncoding
	}
	b, err := enc.DecodeString(s)
	if err != nil || !utf8.Valid(b) {
		return "", false
	}
	return string(b), true
}
