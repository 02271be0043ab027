package secret

import "strings"

// Matches reports whether masked matches text; each [Mask] in it matches any text.
func Matches(masked, text string) bool {
	pieces := strings.Split(masked, Mask)
	first, last := pieces[0], pieces[len(pieces)-1]
	if len(pieces) == 1 || len(text) < len(first)+len(last) || !strings.HasPrefix(text, first) || !strings.HasSuffix(text, last) {
		return masked == text
	}
	text = text[len(first) : len(text)-len(last)]
	for _, piece := range pieces[1 : len(pieces)-1] {
		at := strings.Index(text, piece)
		if at < 0 {
			return false
		}
		text = text[at+len(piece):]
	}
	return true
}
