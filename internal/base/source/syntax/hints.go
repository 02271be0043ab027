package syntax

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"mcptest/internal/base/display"
)

// openQuote returns where a line above opens a text with the quote and does not close it.
func (s syntaxPlace) openQuote(mark string) Pos {
	for n := s.at.Line - 1; n >= max(s.start.Line, 1); n-- {
		line := string(s.f.Line(n))
		for _, opens := range []string{": ", "- ", "[", "{", ", "} {
			if before, text, ok := strings.Cut(line, opens+mark); ok && !strings.Contains(text, mark) {
				return Pos{Line: n, Col: utf8.RuneCountInString(before+opens) + 1}
			}
		}
	}
	return Pos{}
}

// suggestSingleQuotes returns the hint for a text with backslashes in double quotes.
func (s syntaxPlace) suggestSingleQuotes() string {
	before := s.before()
	if at := strings.LastIndex(before, `"`); at >= 0 {
		text, _, ok := strings.Cut(before[at+1:]+s.after(), `"`)
		if ok && !strings.Contains(text, "'") {
			return "in single quotes a backslash is an ordinary character: '" + text + "'"
		}
	}
	return `write \\ for a backslash, or use single quotes`
}

// suggestComment returns the hint for a "#" that hides the rest of a list or map in brackets.
func (s syntaxPlace) suggestComment() string {
	_, text, ok := strings.Cut(string(s.f.Line(max(s.start.Line, s.at.Line))), " #")
	if ok && text != "" && text[0] != ' ' {
		return `"#" begins a comment, here ` + quote(display.Truncate("#"+text, shownText)) + ": put the text in quotes if it is part of a value"
	}
	return ""
}

// suggestTwoKeys returns the hint for a map without braces as the value of a key, such as
// matcher: not: {…}. The inner value begins with the text next, and the hint shows it
// as value.
func (s syntaxPlace) suggestTwoKeys(next, value string) string {
	at := max(strings.LastIndex(s.before(), ": "), 0)
	word := strings.TrimPrefix(s.before()[at:], ": ")
	key := s.before()[strings.LastIndexAny(s.before()[:at], " {,")+1 : at]
	if !strings.HasPrefix(s.after(), ": "+next) || key == "" || strings.ContainsAny(word, " {}[]\"',") {
		return ""
	}
	return "write " + key + ": {" + word + ": " + value + "}"
}

// suggestQuotes returns the hint for a bracket that ends a plain text too early: that of a
// placeholder, a path template, or a target.
func (s syntaxPlace) suggestQuotes() string {
	before, after := s.before(), s.after()
	last, _ := utf8.DecodeLastRuneInString(before)
	switch {
	case strings.HasPrefix(after, "{{"), strings.HasPrefix(after, "{") && !unicode.IsSpace(last) && !strings.ContainsRune("}]\"'", last):
	case strings.HasPrefix(after, "[") && (last == '_' || unicode.IsLetter(last) || unicode.IsDigit(last)):
	default:
		return ""
	}
	if strings.HasPrefix(after, "[") && !strings.Contains(after[:strings.IndexAny(after+",", ",}")], "]") {
		return `text with a "[" is put in quotes inside { } and [ ], and this "[" is never closed`
	}
	start := 0
	for _, opens := range []string{": ", ", ", "{", "["} {
		if i := strings.LastIndex(before, opens); i >= 0 {
			start = max(start, i+len(opens))
		}
	}
	end, depth := len(after), 0
	for i, r := range after {
		switch {
		case r == '{' || r == '[':
			depth++
		case depth > 0 && (r == '}' || r == ']'):
			depth--
		case depth == 0 && strings.ContainsRune(",}]", r):
			end = min(end, i)
		}
	}
	text := strings.TrimSpace(before[start:] + after[:end])
	return "inside { } and [ ], quote text that contains {…} or […]: " + quote(display.Truncate(text, shownText))
}
