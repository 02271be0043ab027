package jsonpath

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
)

// Limits of a path's text, far above the needs of handwritten paths.
const (
	maxBytes = 4096
	maxSteps = 128
	maxDepth = 8
	shownInt = 40        // columns of a number in a message
	maxInt   = 1<<53 - 1 // RFC 9535 section 2.1: integers stay in the I-JSON range
)

// Step is one segment of a path: a name, an index, all or a slice.
type Step struct {
	Kind Kind
	Name string
	From int // of an index, or the first bound of a slice
	to   int
	has  [2]bool // the bounds of a slice that are given
	By   []Step  // the path to the name or index, in a placeholder
}

// Kind is what a step selects.
type Kind uint8

// The kinds of steps; All and Slice select several values.
const (
	Name Kind = iota
	Index
	Computed // a name or index computed by another path
	All
	Slice
)

// Error is a mistake in a path's text.
type Error struct {
	Offset    int // of the mistake, in bytes
	Msg, Hint string
}

// Error returns the message.
func (e *Error) Error() string { return e.Msg }

// Parse parses a path, which may begin with $. offsets are the offsets of the steps
// in text.
func Parse(text string) (steps []Step, offsets []int, err *Error) {
	return (&parser{text: text}).parse()
}

// Prefix parses the path at the beginning of text in the syntax of placeholders and
// returns its length. Such a path selects one value, so [*] and slices are invalid;
// brackets may contain a path, and names may begin with a digit or contain $.
func Prefix(text string) (steps []Step, n int, err *Error) {
	p := parser{text: text, depth: 1}
	steps, _, err = p.parse()
	return steps, p.i, err
}

// parser parses the segments of a path.
type parser struct {
	text  string
	i     int
	depth int // nesting of paths in brackets; always 0 in a target
}

func (p *parser) parse() (steps []Step, offsets []int, err *Error) {
	if len(p.text) > maxBytes {
		return nil, nil, &Error{Offset: 0, Msg: "the path is longer than " + strconv.Itoa(maxBytes) + " bytes"}
	}
	first := true
	if p.depth == 0 && strings.HasPrefix(p.text, "$") {
		p.i, first = 1, false
	}
	for first && p.depth > 0 || p.i < len(p.text) {
		at := p.i
		if p.depth > 0 && !first && p.text[at] != '.' && p.text[at] != '[' {
			break
		}
		s, err := p.segment(first)
		if err != nil {
			return nil, nil, err
		}
		if p.text[at] == '.' {
			at++
		}
		first = false
		steps, offsets = append(steps, s), append(offsets, at)
		if len(steps) > maxSteps {
			return nil, nil, &Error{Offset: at, Msg: "the path has more than " + strconv.Itoa(maxSteps) + " parts"}
		}
	}
	return steps, offsets, nil
}

func (p *parser) segment(first bool) (Step, *Error) {
	rest := p.text[p.i:]
	switch {
	case strings.HasPrefix(rest, "["):
		return p.bracket()
	case strings.HasPrefix(rest, ".") && !first:
		p.i++
		return p.name()
	case first:
		return p.name()
	default:
		return Step{}, p.unexpectedError("expected . or [ here")
	}
}

// unexpectedError reports the character at the current position.
func (p *parser) unexpectedError(hint string) *Error {
	if p.i >= len(p.text) {
		return &Error{Offset: len(p.text), Msg: "the path ends too early", Hint: hint}
	}
	r, size := utf8.DecodeRuneInString(p.text[p.i:])
	if r == utf8.RuneError && size == 1 {
		return &Error{Offset: p.i, Msg: "the path is not UTF-8"}
	}
	return &Error{Offset: p.i, Msg: "unexpected " + string(jsonv.AppendString(nil, string(r))), Hint: hint}
}

func (p *parser) name() (Step, *Error) {
	from := p.i
	for p.i < len(p.text) {
		r, size := utf8.DecodeRuneInString(p.text[p.i:])
		if r == utf8.RuneError && size == 1 || !nameRune(r, p.i == from) && !p.placeholderRune(r) {
			break
		}
		p.i += size
	}
	if p.i > from {
		return Step{Kind: Name, Name: p.text[from:p.i]}, nil
	}
	if p.i == len(p.text) {
		return Step{}, &Error{Offset: from, Msg: "a name is missing at the end"}
	}
	c := p.text[p.i]
	switch {
	case c == '.':
		return Step{}, &Error{Offset: from, Msg: "two dots: recursive search is not supported", Hint: "name every part of the path; [*] selects all elements"}
	case c == '*':
		return Step{}, &Error{Offset: from, Msg: "unexpected \"*\"", Hint: "write [*] for all elements"}
	case '0' <= c && c <= '9':
		return Step{}, &Error{Offset: from, Msg: "a name cannot start with a digit", Hint: `write [0] for an element, ["0"] for a key`}
	case c == '[':
		return Step{}, &Error{Offset: from, Msg: "a name is missing after the dot", Hint: "brackets follow without a dot: content[0]"}
	}
	return Step{}, p.unexpectedError(`write other names in brackets and quotes: ["@type"]`)
}

// nameRune reports whether a rune may be part of an unquoted name: RFC 9535's
// member-name-shorthand, and inner hyphens as in header names.
func nameRune(r rune, first bool) bool {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', r == '_', r >= 0x80:
		return true
	}
	return !first && (r == '-' || '0' <= r && r <= '9')
}

// placeholderRune reports whether a rune may also be part of a name of a
// placeholder.
func (p *parser) placeholderRune(r rune) bool {
	return p.depth > 0 && (r == '$' || r == '-' || '0' <= r && r <= '9')
}

func (p *parser) bracket() (Step, *Error) {
	open := p.i
	p.i++
	p.spaces()
	s, err := p.selector()
	if err != nil {
		return Step{}, err
	}
	p.spaces()
	switch {
	case p.i >= len(p.text):
		return Step{}, &Error{Offset: open, Msg: "missing closing ]"}
	case p.text[p.i] == ']' && p.depth > 0 && s.Kind >= All:
		return Step{}, &Error{Offset: open, Msg: "a placeholder takes one value, not several"}
	case p.text[p.i] == ']':
		p.i++
		return s, nil
	case p.text[p.i] == ',':
		return Step{}, &Error{Offset: p.i, Msg: "expected one selector in each pair of brackets"}
	}
	return Step{}, p.unexpectedError("expected ] here")
}

func (p *parser) selector() (Step, *Error) {
	if p.i >= len(p.text) {
		return Step{}, &Error{Offset: p.i - 1, Msg: "missing closing ]"}
	}
	const forms = `expected a number, [*], a slice [a:b] or a quoted key ["name"]`
	c := p.text[p.i]
	switch {
	case c == '"' || c == '\'':
		name, err := p.parseQuoted(c)
		return Step{Kind: Name, Name: name}, err
	case c == '*':
		p.i++
		return Step{Kind: All}, nil
	case c == ':' || c == '-' || '0' <= c && c <= '9':
		return p.indexOrSlice()
	case c == ']':
		return Step{}, &Error{Offset: p.i, Msg: "the brackets are empty", Hint: forms}
	case c == '?' || c == '(':
		return Step{}, &Error{Offset: p.i, Msg: "targets do not support filters", Hint: "select a list with [*] and use the matcher any or each"}
	case p.depth > maxDepth:
		return Step{}, &Error{Offset: p.i, Msg: "paths are nested too deeply"}
	case p.depth > 0 && nameRune(rune(c), true):
		inner := parser{text: p.text, i: p.i, depth: p.depth + 1}
		by, _, err := inner.parse()
		p.i = inner.i
		return Step{Kind: Computed, By: by}, err
	case nameRune(rune(c), true):
		return Step{}, &Error{Offset: p.i, Msg: "a name in brackets needs quotes", Hint: forms}
	}
	return Step{}, p.unexpectedError(forms)
}

func (p *parser) indexOrSlice() (Step, *Error) {
	s := Step{Kind: Index}
	var err *Error
	if p.text[p.i] != ':' {
		if s.From, err = p.integer(); err != nil {
			return Step{}, err
		}
		s.has[0] = true
		p.spaces()
	}
	if p.i >= len(p.text) || p.text[p.i] != ':' {
		return s, nil
	}
	s.Kind = Slice
	p.i++
	p.spaces()
	if p.i < len(p.text) && (p.text[p.i] == '-' || '0' <= p.text[p.i] && p.text[p.i] <= '9') {
		if s.to, err = p.integer(); err != nil {
			return Step{}, err
		}
		s.has[1] = true
		p.spaces()
	}
	if p.i < len(p.text) && p.text[p.i] == ':' {
		return Step{}, &Error{Offset: p.i, Msg: "slices do not support a step", Hint: "write [a:b]"}
	}
	return s, nil
}

func (p *parser) integer() (int, *Error) {
	from := p.i
	if p.text[p.i] == '-' {
		p.i++
	}
	digits := p.i
	for p.i < len(p.text) && '0' <= p.text[p.i] && p.text[p.i] <= '9' {
		p.i++
	}
	text := p.text[from:p.i]
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case p.i == digits:
		return 0, &Error{Offset: from, Msg: "a minus sign without a number"}
	case p.text[digits] == '0' && (p.i-digits > 1 || digits > from):
		return 0, &Error{Offset: from, Msg: "write the number " + text + " without leading zeros or a minus before zero"}
	case err != nil || n > maxInt || n < -maxInt:
		return 0, &Error{Offset: from, Msg: "the number " + display.Truncate(text, shownInt) + " is too large"}
	}
	return int(n), nil
}

func (p *parser) spaces() {
	for p.i < len(p.text) && strings.IndexByte(" \t\n\r", p.text[p.i]) >= 0 {
		p.i++
	}
}

// parseQuoted parses a quoted key with RFC 9535's escapes. The current position is the
// opening quote.
func (p *parser) parseQuoted(q byte) (string, *Error) {
	open := p.i
	p.i++
	var b strings.Builder
	for p.i < len(p.text) {
		c := p.text[p.i]
		switch {
		case c == q:
			p.i++
			return b.String(), nil
		case c < 0x20:
			return "", &Error{Offset: p.i, Msg: "a control character in a quoted key", Hint: `write it as \u00` + strconv.FormatInt(int64(c)+0x100, 16)[1:]}
		case c == '\\':
			r, err := p.escape(q)
			if err != nil {
				return "", err
			}
			b.WriteRune(r)
		default:
			r, size := utf8.DecodeRuneInString(p.text[p.i:])
			if r == utf8.RuneError && size == 1 {
				return "", &Error{Offset: p.i, Msg: "the path is not UTF-8"}
			}
			b.WriteString(p.text[p.i : p.i+size])
			p.i += size
		}
	}
	return "", &Error{Offset: open, Msg: "missing closing " + string(rune(q))}
}

var escapes = map[byte]rune{'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', '/': '/', '\\': '\\'}

func (p *parser) escape(q byte) (rune, *Error) {
	at := p.i
	bad := &Error{Offset: at, Msg: "unknown escape in a quoted key", Hint: `use JSON's escapes: \n, \\, \u00e9, …`}
	if at+1 >= len(p.text) {
		return 0, bad
	}
	c := p.text[at+1]
	if r, ok := escapes[c]; ok || c == q {
		p.i += 2
		if c == q {
			r = rune(q)
		}
		return r, nil
	}
	if c != 'u' {
		return 0, bad
	}
	hi, ok := p.hex4(at + 2)
	if !ok {
		return 0, bad
	}
	p.i = at + 6
	if !utf16.IsSurrogate(hi) {
		return hi, nil
	}
	if strings.HasPrefix(p.text[p.i:], `\u`) {
		if lo, ok := p.hex4(p.i + 2); ok {
			if r := utf16.DecodeRune(hi, lo); r != utf8.RuneError {
				p.i += 6
				return r, nil
			}
		}
	}
	return 0, &Error{Offset: at, Msg: "half of a surrogate pair in a quoted key"}
}

func (p *parser) hex4(at int) (rune, bool) {
	if at+4 > len(p.text) {
		return 0, false
	}
	n, err := strconv.ParseUint(p.text[at:at+4], 16, 32)
	return rune(n), err == nil
}

// String returns the shortest form of a step.
func (s Step) String() string {
	switch s.Kind {
	case Index:
		return "[" + strconv.Itoa(s.From) + "]"
	case All:
		return "[*]"
	case Slice:
		out := "["
		if s.has[0] {
			out += strconv.Itoa(s.From)
		}
		out += ":"
		if s.has[1] {
			out += strconv.Itoa(s.to)
		}
		return out + "]"
	}
	return Key(s.Name)
}

// Key formats a key as a path segment: .name or ["odd name"].
func Key(name string) string {
	plain := name != ""
	for i, r := range name {
		plain = plain && r != utf8.RuneError && nameRune(r, i == 0)
	}
	if plain {
		return "." + name
	}
	return "[" + string(jsonv.AppendString(nil, name)) + "]"
}
