package shellwords

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"mcptest/internal/base/lazy"
	"mcptest/internal/base/placeholder"
)

// Word is one argument of a command line.
type Word struct {
	// Text is the word without its quotes and backslashes. What a shell would
	// expand is in it as written.
	Text string
	// Expands lists what a shell would have expanded, in order. Placeholders
	// (`${…}`) are not in it.
	Expands []Expansion
}

// Expansion is a part of a word that a shell would have replaced.
type Expansion struct {
	Offset int    // in the line, bytes
	Text   string // as written
}

// SplitError explains why a line is not one program with its arguments.
type SplitError struct {
	Offset int // in the line, bytes
	Msg    string
	Hint   string // may be empty
}

func (e *SplitError) Error() string { return fmt.Sprintf("at byte %d: %s", e.Offset, e.Msg) }

const (
	asIs = "put it in single quotes to pass it as it is"
)

// Argv is like Split and returns only the texts of the words.
func Argv(line string) (argv []string, err error) {
	words, err := Split(line)
	for _, w := range words {
		argv = append(argv, w.Text)
	}
	return argv, err
}

// Split cuts a line into words as a POSIX shell does (IEEE Std 1003.1, Shell
// Command Language, sections 2.2 and 2.3), but expands nothing: `$NAME`,
// `$(…)`, backticks, `~`, globs and braces stay as they are written and are
// listed in Word.Expands, so that the caller can warn. `${…}` with everything in
// it (a dot, spaces, quotes) is one part of one word, so that values can be
// inserted afterwards without changing the number of words; `$${` is its escaped
// form.
//
// An operator (| & ; < > ( ) and a newline between words), a reserved word or
// an assignment before the program is a *SplitError, and so are an unclosed
// quote, `${`, `$(` or backtick and a NUL byte. An empty line, or one that
// contains only a comment, has no words.
func Split(line string) ([]Word, error) {
	if i := strings.IndexByte(line, 0); i >= 0 {
		return nil, &SplitError{Offset: i, Msg: "a NUL byte can't be part of an argument"}
	}
	s := splitter{}
	if err := s.mask(line); err != nil {
		return nil, err
	}
	end := 0
	for w, err := range syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).WordsSeq(bytes.NewReader(s.masked)) {
		at, fault := 0, (*SplitError)(nil)
		if err != nil {
			at, fault = s.explainSyntaxError(err)
		} else {
			at = int(w.Pos().Offset())
		}
		i := bytes.IndexByte(s.masked[end:max(end, at)], '\n')
		if len(s.words) > 0 && i >= 0 {
			fault = &SplitError{s.from[end+i], "a new line begins another command", noShell()}
		} else if fault == nil {
			end = int(w.End().Offset())
			fault = s.add(w, len(s.words) == 0)
		}
		if fault != nil {
			return nil, fault
		}
	}
	return s.words, nil
}

// splitter reads the words of a line from what a parser of the shell language
// finds in masked, which is line with letters changed and none moved.
type splitter struct {
	line   []byte // without escaped newlines
	masked []byte
	from   []int // for each byte of line, its offset in what the user wrote

	words   []Word
	text    []byte
	expands []Expansion
}

// mask fills line and masked: placeholders, whose names are not valid in a
// shell, comments, and all bytes that mean nothing to a shell are replaced by
// slashes.
func (s *splitter) mask(line string) *SplitError {
	quote, start := byte(0), true // start: at the beginning of a word
	for i := 0; i < len(line); {
		c, n, hidden := line[i], 1, false
		rest := line[i:]
		switch {
		case quote == '\'' && c != quote:
		case strings.HasPrefix(rest, "\\\n"):
			i += 2
			continue
		case strings.HasPrefix(rest, "$${"), strings.HasPrefix(rest, "${"):
			if n, hidden = placeholder.End(rest, 0), true; n < 0 {
				open, _, _ := strings.Cut(rest, "{")
				return &SplitError{i, open + "{ is not closed by }", asIs}
			}
		case c == '#' && start && quote == 0:
			s.keep("#", i, false)
			i++
			n, hidden = strings.IndexByte(rest[1:]+"\n", '\n'), true
		case c == '\\':
			n = min(2, len(rest))
		case (c == '\'' || c == '"') && (quote == 0 || quote == c):
			quote ^= c
		}
		start = quote == 0 && n == 1 && strings.IndexByte(" \t\n", c) >= 0
		s.keep(line[i:i+n], i, hidden)
		i += n
	}
	s.from = append(s.from, len(line))
	return nil
}

func (s *splitter) keep(part string, at int, hidden bool) {
	s.line = append(s.line, part...)
	for i, c := range []byte(part) {
		if hidden || c > '~' || c < ' ' && c != '\t' && c != '\n' {
			c = '/'
		}
		s.masked = append(s.masked, c)
		s.from = append(s.from, at+i)
	}
}

// explainSyntaxError explains an error of the parser, and returns its place in masked.
func (s *splitter) explainSyntaxError(err error) (int, *SplitError) {
	var pe syntax.ParseError
	if !errors.As(err, &pe) {
		return 0, &SplitError{Msg: err.Error(), Hint: asIs}
	}
	at := min(int(pe.Pos.Offset()), len(s.line))
	e := &SplitError{Offset: s.from[at], Msg: pe.Text, Hint: asIs}
	switch c := append(s.line[at:len(s.line):len(s.line)], ' ')[0]; c {
	case '\'', '"':
		e.Msg, e.Hint = fmt.Sprintf("the quote %c is not closed", c), ""
	case '`':
		e.Msg = "` is not closed by `"
	case '$':
		e.Msg = "$( is not closed by )"
	default:
		if op, ok := strings.CutSuffix(pe.Text, "` is not a valid word"); ok {
			e.Msg, e.Hint = op[1:]+" is a shell operator", noShell()
		}
	}
	return at, e
}

// add adds a word without its quotes. What only a shell understands is refused
// as the first word, in the place of the program.
func (s *splitter) add(w *syntax.Word, first bool) *SplitError {
	s.text, s.expands = nil, nil
	s.addParts(w.Parts, false)
	s.words = append(s.words, Word{Text: string(s.text), Expands: s.expands})
	at := int(w.Pos().Offset())
	raw := string(s.line[at:w.End().Offset()])
	name, _, assigned := strings.Cut(raw, "=")
	switch {
	case !first:
	case slices.Contains(reserved, raw):
		return &SplitError{s.from[at], raw + " is a shell keyword", noShell()}
	case assigned && syntax.ValidName(name):
		return &SplitError{
			s.from[at], "a variable before the program is set only in a shell",
			"set it under env:, or write env " + name + "=… PROGRAM",
		}
	}
	return nil
}

var reserved = []string{"!", "{", "}", "case", "do", "done", "elif", "else", "esac", "fi", "for", "if", "then", "until", "while", "[["}

// addParts adds the parts of a word. A backslash in double quotes is special only
// before $ ` " and \ (section 2.2.3).
func (s *splitter) addParts(parts []syntax.WordPart, quoted bool) {
	for i, p := range parts {
		from, to := int(p.Pos().Offset()), int(p.End().Offset())
		switch p := p.(type) {
		case *syntax.Lit:
			if !quoted {
				s.checkPatterns(from, to, i == 0)
			}
			if i+1 < len(parts) && !quoted && string(s.masked[from:to]) == "$" && strings.IndexByte("'\"", s.masked[to]) >= 0 {
				s.expand(from, to+1) // $'…' and $"…" of bash
			}
			for i := from; i < to; i++ {
				if s.masked[i] == '\\' && i+1 < to && (!quoted || strings.IndexByte("$`\"\\", s.masked[i+1]) >= 0) {
					i++
				}
				s.text = append(s.text, s.line[i])
			}
		case *syntax.SglQuoted:
			s.text = append(s.text, s.line[from+1:to-1]...)
		case *syntax.DblQuoted:
			s.addParts(p.Parts, true)
		default: // $NAME, $(…), `…`
			s.expand(from, to)
			s.text = append(s.text, s.line[from:to]...)
		}
	}
}

func (s *splitter) expand(from, to int) {
	s.expands = append(s.expands, Expansion{s.from[from], string(s.line[from:to])})
}

// checkPatterns lists the globs, brace expansions and the tilde in an unquoted part.
func (s *splitter) checkPatterns(from, to int, first bool) {
	for _, m := range shellPattern().FindAllIndex(s.masked[from:to], -1) {
		if c := s.masked[from+m[0]]; c != '\\' && (c != '~' || first) {
			s.expand(from+m[0], from+m[1])
		}
	}
}

var shellPattern = lazy.Regexp(`(?s)\\.|^~|[*?]|\[[^\]]+\]|\{[^}]*(?:,|\.\.)[^}]*\}`)
