package apps

import (
	"slices"
	"strings"
)

// A scriptReader reads a script once, as far as it takes to tell code from comments, texts and
// patterns.
type scriptReader struct {
	js       string
	at       int
	previous byte   // the last one of code that is no blank
	word     string // that ends there; "" if it is no word
	owner    string // the word before the last dot
	found    func(use, string)
}

// scanScript finds addresses that a script connects to, where they are written in the call:
// fetch("https://…").
func scanScript(js string, found func(use, string)) {
	r := &scriptReader{js: js, found: found}
	for r.at < len(r.js) {
		r.step()
	}
}

// step reads one character or one thing that hides others.
func (r *scriptReader) step() {
	c := r.js[r.at]
	switch {
	case strings.HasPrefix(r.js[r.at:], "//"):
		r.skipTo("\n")
	case strings.HasPrefix(r.js[r.at:], "/*"):
		r.skipTo("*/")
	case c == '"' || c == '\'' || c == '`':
		r.readText()
		r.see(c, "")
	case c == '/' && r.beginsPattern():
		r.skipPattern()
		r.see('/', "pattern")
	case isWordByte(c):
		r.readWord()
	default:
		r.at++
		if !strings.ContainsRune(" \t\r\n", rune(c)) {
			r.see(c, "")
		}
	}
}

// see remembers what was read last.
func (r *scriptReader) see(c byte, word string) {
	if c == '.' {
		r.owner = r.word
	} else if word == "" {
		r.owner = ""
	}
	r.previous, r.word = c, word
}

// skipTo skips to the end of a comment, which may be missing.
func (r *scriptReader) skipTo(end string) {
	n := strings.Index(r.js[r.at+2:], end)
	if n < 0 {
		r.at = len(r.js)
		return
	}
	r.at += 2 + n + len(end)
}

// readText reads a text in quotes and returns it.
func (r *scriptReader) readText() string {
	quote := r.js[r.at]
	r.at++
	start := r.at
	for r.at < len(r.js) {
		c := r.js[r.at]
		if c == quote || c == '\n' && quote != '`' {
			text := r.js[start:r.at]
			r.at++
			return text
		}
		if c == '\\' {
			r.at++
		}
		r.at++
	}
	r.at = len(r.js)
	return ""
}

// beforePatterns are words after which a slash begins a pattern.
var beforePatterns = []string{"return", "typeof", "case", "in", "of", "delete", "void", "do", "else"}

// beginsPattern reports whether a slash begins a pattern and does not divide.
func (r *scriptReader) beginsPattern() bool {
	if r.word != "" {
		return slices.Contains(beforePatterns, r.word)
	}
	return strings.IndexByte(`)]"'`+"`", r.previous) < 0 || r.previous == 0
}

// skipPattern skips a pattern with its flags. A line break ends one that is not closed.
func (r *scriptReader) skipPattern() {
	inSet := false
	for r.at++; r.at < len(r.js); r.at++ {
		c := r.js[r.at]
		switch {
		case c == '\\':
			r.at++
		case c == '[':
			inSet = true
		case c == ']':
			inSet = false
		case c == '\n' || c == '/' && !inSet:
			r.at++
			return
		}
	}
	r.at = len(r.js)
}

// connecting are the functions that connect to the address in their first argument.
var connecting = []string{"fetch", "WebSocket", "EventSource"}

// windows are the names of the object that has these functions.
var windows = []string{"window", "globalThis", "self"}

// readWord reads a word, and the address if it is a call that connects.
func (r *scriptReader) readWord() {
	start := r.at
	for r.at < len(r.js) && isWordByte(r.js[r.at]) {
		r.at++
	}
	word := r.js[start:r.at]
	isMember := r.previous == '.' && !slices.Contains(windows, r.owner)
	r.see(r.js[r.at-1], word)
	if isMember || !slices.Contains(connecting, word) {
		return
	}
	at := r.at
	r.skipBlanks()
	if r.at == len(r.js) || r.js[r.at] != '(' {
		r.at = at
		return
	}
	r.at++
	r.see('(', "")
	r.skipBlanks()
	if r.at < len(r.js) && strings.IndexByte("\"'`", r.js[r.at]) >= 0 {
		address := r.readText()
		r.see('"', "")
		if !strings.Contains(address, "${") {
			r.found(useConnection, address)
		}
	}
}

func (r *scriptReader) skipBlanks() {
	for r.at < len(r.js) && strings.IndexByte(" \t\r\n", r.js[r.at]) >= 0 {
		r.at++
	}
}

// isWordByte reports whether a byte is part of a word.
func isWordByte(c byte) bool {
	return c == '$' || c != '-' && isNameByte(c)
}
