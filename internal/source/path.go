package source

import (
	"strconv"

	"mcptest/internal/display"
)

// PathKey extends a document path by a map key: tools + name is tools.name. A
// key that would not read well after a dot is put in brackets and quotes.
func PathKey(path, key string) string {
	if !isPlainKey(key) {
		return path + "[" + quote(key) + "]"
	}
	if path == "" {
		return key
	}
	return path + "." + key
}

// PathIndex extends a document path by a list index, counted from 0.
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
