package proc

import (
	"fmt"
	"slices"
	"strings"
)

// Word is one argument of a command line.
type Word struct {
	// Text is the word after quotes and backslashes were taken away. What a
	// shell would expand is still there as written.
	Text string
	// Offset and End are the bytes of the line it was written in.
	Offset, End int
	// Quoted tells whether any part of it was quoted or escaped.
	Quoted bool
	// Expands lists what a shell would have replaced and Split left as it is.
	Expands []Expansion

	pieces []piece // where runs of Text come from
}

// Literal tells whether a shell would have taken the word as it is.
func (w Word) Literal() bool { return len(w.Expands) == 0 }

// At is the offset in the line of byte i of Text.
func (w Word) At(i int) int {
	for _, p := range slices.Backward(w.pieces) {
		if i >= p.text {
			return p.line + i - p.text
		}
	}
	return w.Offset
}

// piece says that Text from text on was written at line.
type piece struct{ text, line int }

// ExpansionKind tells what a shell would have done with a part of a word.
type ExpansionKind uint8

// The kinds of expansion.
const (
	Parameter    ExpansionKind = iota // $NAME, $1, $?
	Braced                            // ${…}, also $${…}: the suite's own interpolation
	Substitution                      // $(…), `…`, $((…))
	Tilde                             // ~ at the beginning
	Glob                              // * ? […]
	Braces                            // {a,b} {1..3}, in bash and zsh
	AnsiQuote                         // $'…' $"…", in bash
)

func (k ExpansionKind) String() string {
	return [...]string{"parameter", "braced parameter", "command substitution", "tilde", "glob", "brace expansion", "dollar quote"}[k]
}

// Expansion is a part of a word that a shell would have replaced.
type Expansion struct {
	Kind   ExpansionKind
	Offset int    // in the line, bytes
	Text   string // as written
}

// SplitError says why a line is not one program with its arguments.
type SplitError struct {
	Offset int // in the line, bytes
	Msg    string
	Hint   string // "" = nothing to say
}

func (e *SplitError) Error() string { return fmt.Sprintf("at byte %d: %s", e.Offset, e.Msg) }

const (
	noShell  = "hooks run one program, not a shell; write bash -c '…'"
	operator = "|&;<>()"
)

// Split cuts a line into words as a POSIX shell does (IEEE Std 1003.1, Shell
// Command Language, sections 2.2 and 2.3), but expands nothing: `$NAME`,
// `${…}`, `$(…)`, backticks, `~`, globs and braces stay as they are written
// and are listed in Word.Expands, so that the caller can warn. `${…}` with all
// it holds (a dot, spaces, quotes) is one part of one word, so that values can
// be put in afterwards without changing the number of words; `$${` counts as
// its escaped form.
//
// This is not a parser of the shell language: those refuse `${steps.x}`, which
// names no parameter there. The tests compare it with one, and with sh.
//
// An operator (| & ; < > ( ) and a line end between words), a reserved word or
// an assignment before the program is a *SplitError, and so are a quote or
// `${`, `$(` or backtick that is not closed and a NUL byte. An empty line, or
// one that holds a comment only, has no words.
func Split(line string) ([]Word, error) {
	s := &splitter{line: line}
	if i := strings.IndexByte(line, 0); i >= 0 {
		return nil, &SplitError{Offset: i, Msg: "a NUL byte can't be part of an argument"}
	}
	for s.skipBlanks() {
		if len(s.words) > 0 && s.newline >= 0 {
			return nil, s.shell(s.newline, "a new line begins another command")
		}
		if err := s.word(); err != nil {
			return nil, err
		}
	}
	return s.words, s.err
}

// splitter walks over a line once.
type splitter struct {
	line    string
	at      int
	newline int // the first line end between the last word and here, or -1
	words   []Word
	err     error

	cur  Word
	text strings.Builder
}

func (s *splitter) shell(offset int, msg string) *SplitError {
	return &SplitError{Offset: offset, Msg: msg, Hint: noShell}
}

// skipBlanks goes to the next word and tells whether there is one. Line ends
// before the first word and after the last are allowed: YAML block text has
// them.
func (s *splitter) skipBlanks() bool {
	s.newline = -1
	for s.at < len(s.line) {
		switch c := s.line[s.at]; {
		case c == ' ' || c == '\t':
			s.at++
		case c == '\n':
			if s.newline < 0 {
				s.newline = s.at
			}
			s.at++
		case c == '#':
			if i := strings.IndexByte(s.line[s.at:], '\n'); i >= 0 {
				s.at += i
			} else {
				s.at = len(s.line)
			}
		case strings.HasPrefix(s.line[s.at:], "\\\n"):
			s.at += 2
		default:
			return true
		}
	}
	return false
}

// word reads one word.
func (s *splitter) word() error {
	s.cur = Word{Offset: s.at}
	s.text.Reset()
	for s.at < len(s.line) {
		c := s.line[s.at]
		if c == ' ' || c == '\t' || c == '\n' {
			break
		}
		if strings.IndexByte(operator, c) >= 0 {
			return s.shell(s.at, fmt.Sprintf("%s is an operator of a shell", s.operatorText()))
		}
		if err := s.unquoted(c); err != nil {
			return err
		}
	}
	s.cur.Text, s.cur.End = s.text.String(), s.at
	s.findBraces()
	if err := s.checkFirst(); err != nil {
		return err
	}
	s.words = append(s.words, s.cur)
	return nil
}

// operatorText is the operator at the present place, as written.
func (s *splitter) operatorText() string {
	rest := s.line[s.at:]
	for _, op := range []string{"<<-", "&&", "||", ";;", "<<", ">>", "<&", ">&", "<>", ">|", "|&", "&>"} {
		if strings.HasPrefix(rest, op) {
			return op
		}
	}
	return rest[:1]
}

// unquoted takes the next part of a word outside quotes.
func (s *splitter) unquoted(c byte) error {
	switch c {
	case '\\':
		s.backslash()
	case '\'':
		return s.single()
	case '"':
		return s.double()
	case '$', '`':
		return s.dollar(false)
	case '*', '?':
		s.expands(Glob, s.at, s.at+1)
		s.take(1)
	case '[':
		if i := strings.IndexAny(s.line[s.at:], "] \t\n"); i > 1 && s.line[s.at+i] == ']' {
			s.expands(Glob, s.at, s.at+i+1)
		}
		s.take(1)
	case '~':
		if s.at == s.cur.Offset {
			s.expands(Tilde, s.at, s.at+1)
		}
		s.take(1)
	default:
		n := strings.IndexAny(s.line[s.at:], " \t\n\\'\"$`*?[~"+operator)
		if n < 0 {
			n = len(s.line) - s.at
		}
		s.take(n)
	}
	return nil
}

// take copies n bytes as they are.
func (s *splitter) take(n int) {
	s.mark()
	s.text.WriteString(s.line[s.at : s.at+n])
	s.at += n
}

// mark remembers where the next byte of the text comes from.
func (s *splitter) mark() {
	s.cur.pieces = append(s.cur.pieces, piece{s.text.Len(), s.at})
}

func (s *splitter) expands(k ExpansionKind, from, to int) {
	s.cur.Expands = append(s.cur.Expands, Expansion{k, from, s.line[from:to]})
}

// backslash outside quotes keeps the next character; before a line end both
// go; at the end of the line it stands for itself.
func (s *splitter) backslash() {
	if s.at+1 == len(s.line) {
		s.take(1)
		return
	}
	s.at++
	if s.line[s.at] == '\n' {
		s.at++
		return
	}
	s.cur.Quoted = true
	s.take(1)
}

func (s *splitter) single() error {
	start := s.at
	s.cur.Quoted = true
	s.at++
	n := strings.IndexByte(s.line[s.at:], '\'')
	if n < 0 {
		return &SplitError{Offset: start, Msg: "the quote ' is not closed"}
	}
	s.take(n)
	s.at++
	return nil
}

// double takes a part in double quotes (section 2.2.3): a backslash is one only
// before $ ` " \ and a line end.
func (s *splitter) double() error {
	start := s.at
	s.cur.Quoted = true
	s.at++
	for s.at < len(s.line) {
		switch c := s.line[s.at]; c {
		case '"':
			s.at++
			return nil
		case '$', '`':
			if err := s.dollar(true); err != nil {
				return err
			}
		case '\\':
			next := byte(0)
			if s.at+1 < len(s.line) {
				next = s.line[s.at+1]
			}
			switch {
			case next == '\n':
				s.at += 2
			case next != 0 && strings.IndexByte("$`\"\\", next) >= 0:
				s.at++
				s.take(1)
			default:
				s.take(1)
			}
		default:
			n := strings.IndexAny(s.line[s.at:], "\"$`\\")
			if n < 0 {
				n = len(s.line) - s.at
			}
			s.take(n)
		}
	}
	return &SplitError{Offset: start, Msg: "the quote \" is not closed"}
}
