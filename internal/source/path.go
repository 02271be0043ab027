package source

import (
	"strconv"

	"mcptest/internal/display"
)

// PathKey appends a map key to a document path: tools + name is tools.name. A key
// that is not a plain word is written in brackets and quotes.
func PathKey(path, key string) string {
	if !isPlainKey(key) {
		return path + "[" + quote(key) + "]"
	}
	if path == "" {
		return key
	}
	return path + "." + key
}

// PathIndex appends a list index, counted from 0, to a document path.
func PathIndex(path string, i int) string {
	return path + "[" + strconv.Itoa(i) + "]"
}

func isPlainKey(key string) bool {
	if key == "" {
		return false
	}
	for _, r := range key {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-', r == '$', r == '/', r > 0x7F && !display.Hidden(r):
		default:
			return false
		}
	}
	return true
}
