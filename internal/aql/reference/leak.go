package reference

import (
	"strings"
	"unicode/utf8"
)

// LeaksLikeReference implements the prototype's test of a message: eight patterns,
// ASCII case ignored, white space as in JavaScript.
func LeaksLikeReference(s string) bool {
	low := lowerASCII(s)
	for _, part := range []string{"typeerror", "referenceerror", "syntaxerror", "/src/", "/node_modules/"} {
		if strings.Contains(low, part) {
			return true
		}
	}
	for _, ext := range []string{".ts:", ".js:"} {
		for rest := low; ; {
			i := strings.Index(rest, ext)
			if i < 0 {
				break
			}
			rest = rest[i+len(ext):]
			if rest != "" && '0' <= rest[0] && rest[0] <= '9' {
				return true
			}
		}
	}
	return wordAfterAt(low)
}

// wordAfterAt finds "at", white space, and then something else.
func wordAfterAt(s string) bool {
	for {
		i := strings.Index(s, "at")
		if i < 0 {
			return false
		}
		s = s[i+2:]
		rest := s
		for rest != "" {
			r, n := utf8.DecodeRuneInString(rest)
			if !Blank(r) {
				break
			}
			rest = rest[n:]
		}
		if rest != "" && len(rest) < len(s) {
			return true
		}
	}
}

func lowerASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}
