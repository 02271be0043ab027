package expect

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"mcptest/internal/display"
	"mcptest/internal/jsonv"
)

// Limits of a target's text: no path a person writes comes near them.
const (
	maxPathBytes = 4096
	maxPathSteps = 128
	maxPathInt   = 1<<53 - 1 // RFC 9535 section 2.1: integers stay in the I-JSON range
)

// pathParser reads the segments of a path.
type pathParser struct {
	text string
	i    int
}

func (p *pathParser) parse() (steps []step, offsets []int, err *TargetError) {
	if len(p.text) > maxPathBytes {
		return nil, nil, &TargetError{Offset: 0, Msg: "the path is longer than " + strconv.Itoa(maxPathBytes) + " bytes"}
	}
	if p.text == "" {
		return nil, nil, &TargetError{Msg: "the path is empty", Hint: rootsHint()}
	}
	first := true
	if p.text[0] == '$' {
		p.i, first = 1, false
		if p.i == len(p.text) {
			return nil, nil, &TargetError{Msg: "$ alone is not a target", Hint: rootsHint()}
		}
	}
	for p.i < len(p.text) {
		at := p.i
		s, err := p.segment(first)
		if err != nil {
			return nil, nil, err
		}
		if p.text[at] == '.' {
			at++
		}
		first = false
		steps, offsets = append(steps, s), append(offsets, at)
		if len(steps) > maxPathSteps {
			return nil, nil, &TargetError{Offset: at, Msg: "the path has more than " + strconv.Itoa(maxPathSteps) + " parts"}
		}
	}
	return steps, offsets, nil
}

func (p *pathParser) segment(first bool) (step, *TargetError) {
	switch c := p.text[p.i]; {
	case c == '[':
		return p.bracket()
	case c == '.' && !first:
		p.i++
		return p.name()
	case first:
		return p.name()
	default:
		return step{}, p.unexpected("expected . or [ here")
	}
}

// unexpected reports the character at the parser's place.
func (p *pathParser) unexpected(hint string) *TargetError {
	if p.i >= len(p.text) {
		return &TargetError{Offset: len(p.text), Msg: "the path ends too early", Hint: hint}
	}
	r, size := utf8.DecodeRuneInString(p.text[p.i:])
	if r == utf8.RuneError && size == 1 {
		return &TargetError{Offset: p.i, Msg: "the path is not UTF-8"}
	}
	return &TargetError{Offset: p.i, Msg: "unexpected " + quote(string(r)), Hint: hint}
}

func (p *pathParser) name() (step, *TargetError) {
	from := p.i
	for p.i < len(p.text) {
		r, size := utf8.DecodeRuneInString(p.text[p.i:])
		if r == utf8.RuneError && size == 1 || !nameRune(r, p.i == from) {
			break
		}
		p.i += size
	}
	if p.i > from {
		return step{kind: stepName, name: p.text[from:p.i]}, nil
	}
	if p.i == len(p.text) {
		return step{}, &TargetError{Offset: from, Msg: "a name is missing at the end"}
	}
	switch c := p.text[p.i]; {
	case c == '.':
		return step{}, &TargetError{Offset: from, Msg: "two dots: recursive search is not supported", Hint: "name every part of the path; [*] selects all elements"}
	case c == '*':
		return step{}, &TargetError{Offset: from, Msg: "unexpected \"*\"", Hint: "write [*] for all elements"}
	case '0' <= c && c <= '9':
		return step{}, &TargetError{Offset: from, Msg: "a name cannot start with a digit", Hint: `write [0] for an element, ["0"] for a key`}
	case c == '[':
		return step{}, &TargetError{Offset: from, Msg: "a name is missing after the dot", Hint: "brackets follow without a dot: content[0]"}
	}
	return step{}, p.unexpected(`write other names in brackets and quotes: ["@type"]`)
}

// nameRune reports whether a rune may stand in an unquoted name: RFC 9535's
// member-name-shorthand, and inner hyphens as in header names.
func nameRune(r rune, first bool) bool {
	switch {
	case r == '_' || r >= 0x80 || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z':
		return true
	}
	return !first && (r == '-' || '0' <= r && r <= '9')
}

func (p *pathParser) bracket() (step, *TargetError) {
	open := p.i
	p.i++
	p.spaces()
	s, err := p.selector()
	if err != nil {
		return step{}, err
	}
	p.spaces()
	switch {
	case p.i >= len(p.text):
		return step{}, &TargetError{Offset: open, Msg: "missing closing ]"}
	case p.text[p.i] == ']':
		p.i++
		return s, nil
	case p.text[p.i] == ',':
		return step{}, &TargetError{Offset: p.i, Msg: "one selector in each pair of brackets"}
	}
	return step{}, p.unexpected("expected ] here")
}

func (p *pathParser) selector() (step, *TargetError) {
	if p.i >= len(p.text) {
		return step{}, &TargetError{Offset: p.i - 1, Msg: "missing closing ]"}
	}
	const forms = `expected a number, [*], a slice [a:b] or a quoted key ["name"]`
	switch c := p.text[p.i]; {
	case c == '"' || c == '\'':
		name, err := p.quoted(c)
		return step{kind: stepName, name: name}, err
	case c == '*':
		p.i++
		return step{kind: stepAll}, nil
	case c == ':' || c == '-' || '0' <= c && c <= '9':
		return p.indexOrSlice()
	case c == ']':
		return step{}, &TargetError{Offset: p.i, Msg: "the brackets are empty", Hint: forms}
	case c == '?' || c == '(':
		return step{}, &TargetError{Offset: p.i, Msg: "there are no filters in targets", Hint: "select a list with [*] and use the matcher any or each"}
	case nameRune(rune(c), true):
		return step{}, &TargetError{Offset: p.i, Msg: "a name in brackets needs quotes", Hint: forms}
	}
	return step{}, p.unexpected(forms)
}

func (p *pathParser) indexOrSlice() (step, *TargetError) {
	s := step{kind: stepIndex}
	var err *TargetError
	if p.text[p.i] != ':' {
		if s.from, err = p.integer(); err != nil {
			return step{}, err
		}
		s.has[0] = true
		p.spaces()
	}
	if p.i >= len(p.text) || p.text[p.i] != ':' {
		return s, nil
	}
	s.kind = stepSlice
	p.i++
	p.spaces()
	if p.i < len(p.text) && (p.text[p.i] == '-' || '0' <= p.text[p.i] && p.text[p.i] <= '9') {
		if s.to, err = p.integer(); err != nil {
			return step{}, err
		}
		s.has[1] = true
		p.spaces()
	}
	if p.i < len(p.text) && p.text[p.i] == ':' {
		return step{}, &TargetError{Offset: p.i, Msg: "slices have no step", Hint: "write [a:b]"}
	}
	return s, nil
}

func (p *pathParser) integer() (int, *TargetError) {
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
		return 0, &TargetError{Offset: from, Msg: "a minus sign without a number"}
	case p.text[digits] == '0' && (p.i-digits > 1 || digits > from):
		return 0, &TargetError{Offset: from, Msg: "write the number " + text + " without leading zeros or a minus before zero"}
	case err != nil || n > maxPathInt || n < -maxPathInt:
		return 0, &TargetError{Offset: from, Msg: "the number " + display.Truncate(text, shownKey) + " is too large"}
	}
	return int(n), nil
}

func (p *pathParser) spaces() {
	for p.i < len(p.text) && strings.IndexByte(" \t\n\r", p.text[p.i]) >= 0 {
		p.i++
	}
}

// quoted reads a quoted key with RFC 9535's escapes, the parser standing on
// the opening quote.
func (p *pathParser) quoted(q byte) (string, *TargetError) {
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
			return "", &TargetError{Offset: p.i, Msg: "a control character in a quoted key", Hint: `write it as \u00` + strconv.FormatInt(int64(c)+0x100, 16)[1:]}
		case c == '\\':
			r, err := p.escape(q)
			if err != nil {
				return "", err
			}
			b.WriteRune(r)
		default:
			r, size := utf8.DecodeRuneInString(p.text[p.i:])
			if r == utf8.RuneError && size == 1 {
				return "", &TargetError{Offset: p.i, Msg: "the path is not UTF-8"}
			}
			b.WriteString(p.text[p.i : p.i+size])
			p.i += size
		}
	}
	return "", &TargetError{Offset: open, Msg: "missing closing " + string(rune(q))}
}

var escapes = map[byte]rune{'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', '/': '/', '\\': '\\'}

func (p *pathParser) escape(q byte) (rune, *TargetError) {
	at := p.i
	bad := &TargetError{Offset: at, Msg: "unknown escape in a quoted key", Hint: `JSON's escapes are known: \n, \\, \u00e9, …`}
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
	return 0, &TargetError{Offset: at, Msg: "half of a surrogate pair in a quoted key"}
}

func (p *pathParser) hex4(at int) (rune, bool) {
	if at+4 > len(p.text) {
		return 0, false
	}
	n, err := strconv.ParseUint(p.text[at:at+4], 16, 32)
	return rune(n), err == nil
}

// String writes a step in its shortest form.
func (s step) String() string {
	switch s.kind {
	case stepIndex:
		return "[" + strconv.Itoa(s.from) + "]"
	case stepAll:
		return "[*]"
	case stepSlice:
		out := "["
		if s.has[0] {
			out += strconv.Itoa(s.from)
		}
		out += ":"
		if s.has[1] {
			out += strconv.Itoa(s.to)
		}
		return out + "]"
	}
	return keyPath(s.name)
}

// keyPath writes a key as a path's segment: .name or ["odd name"].
func keyPath(name string) string {
	plain := name != ""
	for i, r := range name {
		plain = plain && r != utf8.RuneError && nameRune(r, i == 0)
	}
	if plain {
		return "." + name
	}
	return "[" + string(jsonv.AppendString(nil, name)) + "]"
}
