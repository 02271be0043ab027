package engine

import (
	"strings"
	"unicode/utf8"

	"mcptest/internal/base/jsonv"
)

// surrogateMask moves lone surrogates into a private use plane, where they stay
// distinct and count as one character each.
const surrogateMask = 0xF0000 - 0xD800

// maskSurrogates makes a text with lone surrogates one that patterns understand.
func maskSurrogates(s string) string {
	if strings.IndexByte(s, 0xED) < 0 || utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if r, ok := jsonv.DecodeSurrogate(s[i:]); ok {
			b.WriteRune(r + surrogateMask)
			i += 3
			continue
		}
		b.WriteByte(s[i])
		i++
	}
	return b.String()
}
