package jsonv

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// ParsePointer splits a JSON Pointer (RFC 6901) into its unescaped tokens; the
// pointer to the whole document has none.
func ParsePointer(ptr string) ([]string, error) {
	if ptr == "" {
		return nil, nil
	}
	if ptr[0] != '/' {
		return nil, fmt.Errorf("JSON pointer %q must begin with '/'", ptr)
	}
	tokens := strings.Split(ptr[1:], "/")
	for i, t := range tokens {
		for j := 0; j < len(t); j++ {
			if t[j] == '~' && (j+1 == len(t) || t[j+1] != '0' && t[j+1] != '1') {
				return nil, fmt.Errorf("JSON pointer %q: '~' must be followed by 0 or 1", ptr)
			}
		}
		tokens[i] = strings.ReplaceAll(strings.ReplaceAll(t, "~1", "/"), "~0", "~")
	}
	return tokens, nil
}

// AppendPointer returns ptr with one more token, escaped (RFC 6901 section 3).
func AppendPointer(ptr, token string) string {
	if strings.ContainsAny(token, "~/") {
		token = strings.ReplaceAll(strings.ReplaceAll(token, "~", "~0"), "/", "~1")
	}
	return ptr + "/" + token
}

// Pointer returns the value that an RFC 6901 pointer refers to; false when there is
// none or the pointer is malformed.
func (v Value) Pointer(ptr string) (Value, bool) {
	tokens, err := ParsePointer(ptr)
	if err != nil {
		return Value{}, false
	}
	for _, t := range tokens {
		i, ok := parseArrayIndex(t)
		switch {
		case v.kind != KindArray:
			v = v.Lookup(t)
		case ok:
			v = v.At(i)
		default:
			return Value{}, false
		}
	}
	return v, !v.IsAbsent()
}

// parseArrayIndex parses a token as RFC 6901 section 4 allows: digits without leading
// zeros.
func parseArrayIndex(token string) (int, bool) {
	if token == "" || len(token) > 9 || token[0] == '0' && len(token) > 1 {
		return 0, false
	}
	for i := range len(token) {
		if !isDigit(token[i]) {
			return 0, false
		}
	}
	i, err := strconv.Atoi(token)
	return i, err == nil
}

// JoinKey returns a readable path extended by a key: items.id, or items["a key"] when
// the key is not a plain word.
func JoinKey(path, key string) string {
	if !isPlainKey(key) {
		return path + "[" + string(AppendString(nil, key)) + "]"
	}
	if path == "" {
		return key
	}
	return path + "." + key
}

// JoinIndex returns a readable path extended by an index: items[0].
func JoinIndex(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

func isPlainKey(key string) bool {
	for i, c := range key {
		letter := c == '_' || c == '$' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || c != '-' && (c < '0' || c > '9')) {
			return false
		}
	}
	return key != ""
}

// FindPosition returns the line and column of a byte offset in data, both counted from 1,
// the column in characters. An offset beyond the end is treated as the end.
func FindPosition(data []byte, offset int) (line, col int) {
	before := data[:max(0, min(offset, len(data)))]
	line = 1 + bytes.Count(before, []byte("\n"))
	before = before[bytes.LastIndexByte(before, '\n')+1:]
	return line, 1 + utf8.RuneCount(before)
}
