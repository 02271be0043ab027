package proc

import (
	"fmt"
	"slices"
	"strings"
)

// dollar takes `$…` or a backtick part as it is written. Inside double quotes
// a $ before a quote is just a $.
func (s *splitter) dollar(quoted bool) error {
	rest := s.line[s.at:]
	var kind ExpansionKind
	var n int
	closing := ""
	switch {
	case rest[0] == '`':
		kind, n, closing = Substitution, backtickEnd(rest), "`"
	case strings.HasPrefix(rest, "$${"):
		kind, n, closing = Braced, bracedEnd(rest, 3), "}"
	case strings.HasPrefix(rest, "${"):
		kind, n, closing = Braced, bracedEnd(rest, 2), "}"
	case strings.HasPrefix(rest, "$("):
		kind, n, closing = Substitution, substitutionEnd(rest), ")"
	case len(rest) > 1 && (rest[1] == '\'' || rest[1] == '"') && !quoted:
		s.expands(AnsiQuote, s.at, s.at+2)
		s.take(1)
		return nil
	default:
		if n = nameLen(rest[1:]); n == 0 {
			s.take(1) // a $ that means nothing stands for itself
			return nil
		}
		kind, n = Parameter, n+1
	}
	if n < 0 {
		open, _, _ := strings.Cut(rest, " ")
		open = open[:min(len(open), 3)]
		if rest[0] == '$' {
			open = open[:strings.IndexAny(open, "({")+1]
		} else {
			open = "`"
		}
		return &SplitError{Offset: s.at, Msg: fmt.Sprintf("%s is not closed by %s", open, closing), Hint: "put it in single quotes to pass it as it is"}
	}
	s.expands(kind, s.at, s.at+n)
	s.take(n)
	return nil
}

// nameLen is the length of the parameter name at the beginning of s.
func nameLen(s string) int {
	if s == "" {
		return 0
	}
	if strings.IndexByte("@*#?$!-0123456789", s[0]) >= 0 {
		return 1
	}
	n := 0
	for n < len(s) && (s[n] == '_' || s[n]|0x20 >= 'a' && s[n]|0x20 <= 'z' || n > 0 && s[n] >= '0' && s[n] <= '9') {
		n++
	}
	return n
}

func backtickEnd(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '`':
			return i + 1
		}
	}
	return -1
}

// bracedEnd finds the brace that closes the one opened before from; only `${`
// opens another. Quotes mean nothing there: that is how interpolation reads it.
func bracedEnd(s string, from int) int {
	depth := 1
	for i := from; i < len(s); i++ {
		switch {
		case s[i] == '$' && i+1 < len(s) && s[i+1] == '{':
			depth++
			i++
		case s[i] == '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}

// substitutionEnd finds the end of $(…), with quotes and nested parentheses.
func substitutionEnd(s string) int {
	depth := 0
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i + 1
			}
		case '\'', '"':
			n := quoteEnd(s[i:])
			if n < 0 {
				return -1
			}
			i += n - 1
		}
	}
	return -1
}

// quoteEnd is the length of the quoted part at the beginning of s.
func quoteEnd(s string) int {
	for i := 1; i < len(s); i++ {
		if s[i] == '\\' && s[0] == '"' {
			i++
		} else if s[i] == s[0] {
			return i + 1
		}
	}
	return -1
}

// findBraces lists {a,b} and {1..3} when the word has them outside quotes.
func (s *splitter) findBraces() {
	raw := s.line[s.cur.Offset:s.cur.End]
	if s.cur.Quoted || !strings.Contains(raw, "{") {
		return
	}
	for i := 0; i < len(raw); i++ {
		if raw[i] != '{' || i > 0 && raw[i-1] == '$' {
			continue
		}
		end := strings.IndexByte(raw[i:], '}')
		if end < 0 {
			return
		}
		if in := raw[i+1 : i+end]; strings.Contains(in, ",") || strings.Contains(in, "..") {
			from := s.cur.Offset + i
			s.expands(Braces, from, from+end+1)
		}
	}
	slices.SortStableFunc(s.cur.Expands, func(a, b Expansion) int { return a.Offset - b.Offset })
}

var reserved = []string{"!", "{", "}", "case", "do", "done", "elif", "else", "esac", "fi", "for", "if", "then", "until", "while", "[["}

// checkFirst refuses what only a shell understands in the place of a program.
func (s *splitter) checkFirst() error {
	if len(s.words) > 0 {
		return nil
	}
	w := s.line[s.cur.Offset:s.cur.End]
	if slices.Contains(reserved, w) {
		return s.shell(s.cur.Offset, fmt.Sprintf("%s is a word of the shell language", w))
	}
	if name, _, ok := strings.Cut(w, "="); ok && name != "" && nameLen(name) == len(name) && name[0] > '9' {
		return &SplitError{
			Offset: s.cur.Offset, Msg: fmt.Sprintf("%s= before the program sets a variable in a shell only", name),
			Hint: "set it under env:, or write env " + name + "=… PROGRAM",
		}
	}
	return nil
}
