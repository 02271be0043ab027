package engine

import "strconv"

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isHexDigit(c byte) bool { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }

// consists reports whether every byte of a text is of a kind.
func consists(text string, of func(c byte) bool) bool {
	for i := range len(text) {
		if !of(text[i]) {
			return false
		}
	}
	return true
}

// leadingDigits returns how many digits a text begins with.
func leadingDigits(text string) int {
	n := 0
	for n < len(text) && isDigit(text[n]) {
		n++
	}
	return n
}

// integer returns a decimal integer, which may have a sign.
func integer(text string) (int, bool) {
	n, err := strconv.Atoi(text)
	return n, err == nil
}
