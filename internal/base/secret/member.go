package secret

import (
	"slices"
	"strings"
)

// A member of JSON whose whole name is that of a password or a key is certain: its
// value is masked even if it is a number or has spaces, and so are the texts and
// numbers in an object or a list. Names in other text are ambiguous, see
// credential.go.

// member finds the value of the member with the name s[a:b].
func member(s string, a, b int) place {
	quote := quoteAt(s, b)
	if quote == "" || !strings.HasSuffix(s[:a], quote) {
		return place{}
	}
	name := s[a:b]
	k := blanks(s, b+len(quote))
	if k < len(s) && s[k] == ',' && (strings.HasSuffix(before(s[:a-len(quote)]), quote+"name"+quote) || strings.HasSuffix(before(s[:a-len(quote)]), quote+"key"+quote)) {
		k = blanks(s, k+1) // {"name":"password","value":…}
		if value := quote + "value" + quote; strings.HasPrefix(s[k:], value) {
			k = blanks(s, k+len(value))
		}
	}
	if k >= len(s) || s[k] != ':' {
		return place{}
	}
	k = blanks(s, k+1)
	switch {
	case k >= len(s):
	case s[k] == '{' || s[k] == '[':
		return place{start: k, end: k + 1, quote: quote, nested: true}
	case strings.HasPrefix(s[k:], quote):
		return leaf(s, k+len(quote), quote, name)
	case s[k] == '-' || s[k]-'0' < 10:
		if end := span(s, k, numberChar); end-k > 2 && !strings.HasSuffix(name, "s") { // "secrets": 120 is a count
			return place{start: k, end: end, value: s[k:end], named: true, quote: quote}
		}
	}
	return place{}
}

// leaf finds the text that begins at start, unless it describes a value.
func leaf(s string, start int, quote, name string) place {
	end := closing(s[:min(len(s), start+maxValue)], start, quote[len(quote)-1], len(quote)-1)
	v := s[start:end]
	if end-start < 3 || strings.HasPrefix(v, Mask) || placeholder(v) || strings.EqualFold(v, name) || prose(v) && describing(v) {
		return place{}
	}
	return place{start: start, end: end, value: v, named: true}
}

// leaves finds the texts and numbers in the object or list at k, and where it ends.
// It finds none in a JSON Schema, which only describes a credential.
func leaves(s string, k int, quote string) (out []place, end int) {
	s = s[:min(len(s), k+maxValue)]
	depth, name := 0, ""
	for i := k; i < len(s); {
		switch c := s[i]; {
		case c == '{' || c == '[':
			depth++
			i++
		case c == '}' || c == ']':
			i++
			if depth--; depth == 0 {
				return out, i
			}
		case strings.HasPrefix(s[i:], quote):
			start := i + len(quote)
			end := closing(s, start, quote[len(quote)-1], len(quote)-1)
			i = min(end+len(quote), len(s))
			if next := blanks(s, i); next < len(s) && s[next] == ':' {
				name, i = s[start:end], next+1
				if schemaMember(name, s[blanks(s, i):], quote) {
					return nil, k + 1
				}
			} else if p := leaf(s, start, quote, name); p.end > 0 && !property(name) {
				out = append(out, p)
			}
		case c == '-' || c-'0' < 10:
			end := span(s, i, numberChar)
			if end-i > 2 && !property(name) {
				out = append(out, place{start: i, end: end, value: s[i:end], named: true, quote: quote})
			}
			i = max(end, i+1)
		default:
			i++
		}
	}
	return out, len(s)
}

// schemaMember reports whether a member is one of a JSON Schema.
func schemaMember(name, value, quote string) bool {
	switch name {
	case "$ref", "anyOf", "oneOf", "allOf", "enum", "const", "properties":
		return true
	case "type":
		for _, t := range []string{"string", "number", "integer", "boolean", "object", "array", "null"} {
			if strings.HasPrefix(value, quote+t+quote) {
				return true
			}
		}
		return strings.HasPrefix(value, "[")
	}
	return false
}

// property reports whether a member describes a credential.
func property(name string) bool {
	for word := range splitWords(name) {
		if word = strings.ToLower(word); about[word] || details[word] {
			return true
		}
	}
	return false
}

// details are additional words of such names, within the value of a credential.
var details = set("message code title label placeholder reason detail created updated")

// describing reports whether a sentence is about a credential, such as the message
// of a validation.
func describing(v string) bool {
	words := strings.FieldsFunc(strings.ToLower(v), func(r rune) bool { return r < 'a' || r > 'z' })
	return slices.ContainsFunc(words, func(word string) bool { return describes[word] })
}

var describes = set(`
	must should cannot required characters minimum maximum too invalid incorrect optional password passphrase secret credential
	credentials key`)

// quoteAt returns the quote at k with the backslashes before it, "" for none.
func quoteAt(s string, k int) string {
	end := span(s[:min(len(s), k+32)], k, func(c byte) bool { return c == '\\' })
	if end < len(s) && (s[end] == '"' || s[end] == '\'') {
		return s[k : end+1]
	}
	return ""
}

// before returns s without the colon and the blanks at its end.
func before(s string) string {
	return strings.TrimRight(s[max(0, len(s)-maxName):], ": ")
}

// blanks returns the end of the white space at k.
func blanks(s string, k int) int {
	return span(s, k, func(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' })
}

func numberChar(c byte) bool { return c-'0' < 10 || strings.IndexByte("+-.eE", c) >= 0 }
