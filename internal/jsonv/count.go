package jsonv

import "bytes"

// CountValues counts the values of one valid JSON text: the text itself, and
// each element and member of its arrays and objects, at every depth. It builds
// nothing. Of a text that is not valid the number means little.
func CountValues(text []byte) int {
	n := 1
	opened := false // an array or object that has no value yet
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case ' ', '\t', '\r', '\n':
			continue
		case ']', '}':
			opened = false
			continue
		}
		if opened {
			n++
			opened = false
		}
		switch text[i] {
		case ',':
			n++
		case '[', '{':
			opened = true
		case '"':
			i = closingQuote(text, i+1)
		}
	}
	return n
}

// closingQuote returns the index of the quote that ends the string whose
// content begins at i, or the length of text.
func closingQuote(text []byte, i int) int {
	for i < len(text) {
		at := bytes.IndexByte(text[i:], '"')
		if at < 0 {
			return len(text)
		}
		end := i + at
		slashes := 0
		for k := end - 1; k >= i && text[k] == '\\'; k-- {
			slashes++
		}
		if slashes%2 == 0 {
			return end
		}
		i = end + 1
	}
	return len(text)
}
