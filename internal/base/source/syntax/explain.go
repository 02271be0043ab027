package syntax

import (
	"bytes"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const shownText = 60 // columns of a quoted text in a message

// Text holds the lines of a text, from 1, without line ends.
type Text struct {
	Line  func(n int) []byte
	Lines int
}

// Pos is a position in a text, from line 1 and column 1; the zero value is none.
type Pos struct{ Line, Col int }

// Problem is an error of the YAML library: where it stopped, where the construct that
// it was reading began, and the description of that ("while scanning a tag").
type Problem struct {
	Msg, Doing string
	At, Start  Pos
}

// Explanation is an explained syntax error.
type Explanation struct {
	Pos             Pos
	Msg, Hint, Code string
	// Begin is the start of the construct, if BeginMsg is set.
	Begin    Pos
	BeginMsg string
}

// Explain explains an error of the library. An error such as "did not find expected
// key" has half a dozen common causes, which the line itself reveals.
func Explain(t Text, p Problem) Explanation {
	s := syntaxPlace{f: t, at: t.place(p.At), start: t.place(p.Start), doing: p.Doing}
	e := s.explain(p.Msg)
	if e.Pos == (Pos{}) {
		e.Pos = s.at
	}
	return e
}

// ExplainTab explains a tab that is used as indentation.
func ExplainTab(pos Pos) Explanation {
	return Explanation{Pos: pos, Msg: "a tab is used as indentation", Code: "tab", Hint: "indent with spaces"}
}

// place corrects a position of the library. At the end of the file, it uses a line
// that does not exist; the end of the last line with text is better.
func (t Text) place(pos Pos) Pos {
	if pos.Line <= 0 {
		return Pos{}
	}
	pos.Col = max(pos.Col, 1)
	for n := pos.Line; n <= t.Lines; n++ {
		if n == pos.Line && pos.Col > 1 || len(bytes.TrimSpace(t.Line(n))) > 0 {
			return pos
		}
	}
	for pos.Line > 1 && len(bytes.TrimSpace(t.Line(pos.Line))) == 0 {
		pos.Line--
		pos.Col = utf8.RuneCount(bytes.TrimRight(t.Line(pos.Line), " \t")) + 1
	}
	return pos
}

func quote(s string) string { return strconv.Quote(s) }

// syntaxPlace is where the library stopped (at) and where the construct began (start,
// may be zero).
type syntaxPlace struct {
	f     Text
	at    Pos
	start Pos
	doing string // of the library, such as "while scanning a tag"
}

// before and after return the line's text on either side of the position.
func (s syntaxPlace) before() string { return s.split(true) }
func (s syntaxPlace) after() string  { return s.split(false) }

func (s syntaxPlace) split(before bool) string {
	line := s.f.Line(s.at.Line)
	at := 0
	for n := s.at.Col - 1; n > 0 && at < len(line); n-- {
		_, size := utf8.DecodeRune(line[at:])
		at += size
	}
	if before {
		return string(line[:at])
	}
	return string(line[at:])
}

// readNext describes the character at the position, or returns "the end of the line" or
// "the end of the file".
func (s syntaxPlace) readNext() string {
	rest := s.after()
	if rest == "" {
		for n := s.at.Line + 1; n <= s.f.Lines; n++ {
			if len(bytes.TrimSpace(s.f.Line(n))) > 0 {
				return "the end of the line"
			}
		}
		return "the end of the file"
	}
	r, _ := utf8.DecodeRuneInString(rest)
	return quote(string(r))
}

// firstOnLine reports whether only white space precedes the position.
func (s syntaxPlace) firstOnLine() bool { return strings.TrimSpace(s.before()) == "" }

func (s syntaxPlace) explain(msg string) Explanation {
	if d, ok := s.explainTab(msg); ok {
		return d
	}
	switch msg {
	case "mapping values are not allowed in this context":
		return s.explainStrayColon()
	case "did not find expected key":
		return s.explainNoKey()
	case "did not find expected '-' indicator":
		return s.explainNoItem()
	case "did not find expected ',' or ']'":
		return s.explainUnclosed(`"," or "]"`, "the list begins here")
	case "did not find expected ',' or '}'":
		return s.explainUnclosed(`"," or "}"`, "the map begins here")
	case "did not find expected node content":
		return Explanation{Msg: "expected a value, got " + s.readNext(), Hint: s.suggestComment()}
	case "did not find expected <document start>":
		return Explanation{Msg: "unexpected " + s.readNext() + " after the end of the document"}
	case "block sequence entries are not allowed in this context":
		return Explanation{Msg: `a list item can't begin here`, Hint: `begin the list on a new line; if the "-" is part of the text, put the text in quotes`}
	case "mapping keys are not allowed in this context":
		return Explanation{Msg: `a "?" key can't begin here`, Hint: "put the text in quotes"}
	case "found unexpected end of stream", "found unexpected document indicator":
		return Explanation{Pos: s.start, Msg: "the quoted text that begins here is never closed"}
	case "could not find expected ':'":
		if d, ok := s.explainKeyLine(s.start.Line); ok {
			return d
		}
		return Explanation{Pos: s.start, Msg: `expected ":" after this key`, Hint: `a key and its ":" must be on one line`}
	case "found character that cannot start any token":
		if strings.HasPrefix(s.after(), "```") {
			return Explanation{Msg: "a code block of Markdown begins here", Hint: "the lines with ``` are not YAML: remove them"}
		}
		text, _, _ := strings.Cut(s.after(), ",")
		return Explanation{Msg: "a value can't begin with " + s.readNext(), Hint: "put it in quotes: " + quote(strings.TrimRight(text, " }]"))}
	case "did not find expected alphabetic or numeric character":
		return s.explainNoName()
	}
	return s.explainScalar(msg)
}

// explainScalar explains errors in scalars, tags and directives.
func (s syntaxPlace) explainScalar(msg string) Explanation {
	if name, ok := strings.CutPrefix(msg, "unknown anchor '"); ok {
		name = strings.TrimSuffix(name, "' referenced")
		return Explanation{
			Msg:  "unknown alias " + quote("*"+name) + ": no " + quote("&"+name) + " comes before it",
			Hint: "define it above, for example in an earlier test: args: &" + name + ` {…}; if the "*" is part of the text, put the text in quotes`,
		}
	}
	switch msg {
	case "found unknown escape character":
		esc := s.after()
		if r := []rune(esc); len(r) > 2 {
			esc = string(r[:2])
		}
		return Explanation{Msg: "unknown escape " + esc + " in double quotes", Hint: s.suggestSingleQuotes()}
	case "did not find expected hexadecimal number":
		return Explanation{Msg: "the escape is too short: expected a hexadecimal digit, got " + s.readNext(), Hint: s.suggestSingleQuotes()}
	case "found invalid Unicode character escape code":
		return Explanation{Msg: "the escape is not a Unicode character", Hint: s.suggestSingleQuotes()}
	case "did not find expected comment or line break":
		return Explanation{Msg: "expected the end of the line, got " + s.readNext(), Hint: `the text of a block ("|" or ">") begins on the next line`}
	case "found an indentation indicator equal to 0":
		return Explanation{Msg: "the indentation of a block is a number from 1 to 9"}
	case "found a comment without preceding whitespace":
		return Explanation{Msg: `a comment needs a space before its "#"`}
	}
	switch {
	case strings.Contains(s.doing, "irective"):
		return Explanation{Pos: s.start, Msg: "not a YAML directive", Hint: `if the "%" is part of the text, put the text in quotes`}
	case strings.Contains(s.doing, "tag"), strings.Contains(msg, "tag"):
		return Explanation{Pos: s.start, Msg: `a value can't begin with "!"`, Hint: "put it in quotes"}
	}
	return Explanation{Msg: "not valid YAML: " + simplifyWords(msg)}
}

// simplifyWords rewrites the library's rare messages without an explanation.
func simplifyWords(msg string) string {
	return strings.NewReplacer(
		"did not find expected", "expected",
		"could not find expected", "expected",
		"did not find the expected", "expected",
		"block collection", "list",
		"mapping", "map",
		"sequence", "list",
		"scalar", "text",
		"node", "value",
	).Replace(msg)
}

// explainTab recognizes the library's various errors caused by a tab.
func (s syntaxPlace) explainTab(msg string) (Explanation, bool) {
	about := strings.Contains(msg, "tab")
	if !about && msg != "found character that cannot start any token" {
		return Explanation{}, false
	}
	lead := s.f.Line(s.at.Line)
	lead = lead[:len(lead)-len(bytes.TrimLeft(lead, " \t"))]
	tab := bytes.IndexByte(lead, '\t')
	switch {
	case tab >= 0 && (about || strings.HasPrefix(s.after(), "\t") || s.at.Col-1 <= len(lead)):
		return ExplainTab(Pos{Line: s.at.Line, Col: tab + 1}), true
	case about || strings.HasPrefix(s.after(), "\t"):
		return ExplainTab(s.at), true
	}
	return Explanation{}, false
}

// explainStrayColon explains a ": " where no key is allowed.
func (s syntaxPlace) explainStrayColon() Explanation {
	if strings.Contains(s.before(), ": ") {
		hint := s.suggestTwoKeys("{", "{…}")
		if hint == "" {
			hint = "put the value in quotes if the colon is part of it"
			if braces := s.suggestTwoKeys("", "…"); braces != "" {
				hint += "; if it is a map, " + braces
			}
		}
		return Explanation{Msg: `unexpected ":" inside a value`, Hint: hint}
	}
	for n := s.at.Line - 1; n >= 1; n-- {
		prev := string(s.f.Line(n))
		if text := strings.TrimSpace(prev); text == "" || text[0] == '#' {
			continue
		}
		if measureIndentation(prev) != measureIndentation(string(s.f.Line(s.at.Line))) {
			break
		}
		if d, ok := s.explainKeyLine(n); ok {
			return d
		}
		break
	}
	return Explanation{
		Pos:  Pos{Line: s.at.Line, Col: measureIndentation(string(s.f.Line(s.at.Line))) + 1},
		Msg:  "this key is indented more than the line above allows",
		Hint: "line it up with the keys it belongs to",
	}
}

// explainKeyLine explains a line that should begin with a key.
func (s syntaxPlace) explainKeyLine(n int) (Explanation, bool) {
	line := string(s.f.Line(n))
	text := strings.TrimSpace(line)
	if text == "" || strings.Contains(text, ": ") || strings.HasSuffix(text, ":") || strings.ContainsAny(text[:1], "\"'[{") {
		return Explanation{}, false
	}
	pos := Pos{Line: n, Col: measureIndentation(line) + 1}
	if i := strings.IndexByte(text, ':'); i > 0 {
		pos.Col += utf8.RuneCountInString(text[:i])
		return Explanation{Pos: pos, Msg: `no space after the ":"`, Hint: `a key and its value are separated by ": "`}, true
	}
	d := Explanation{
		Pos: pos, Msg: `this line has no ":", so it is not a key`,
		Hint: "text of several lines is indented below its key, in quotes or after a |",
	}
	switch {
	case strings.HasPrefix(text, "//"):
		d.Hint = "a comment begins with #"
	case strings.HasPrefix(text, "<<<<<<<"), strings.HasPrefix(text, "======="), strings.HasPrefix(text, ">>>>>>>"):
		d.Msg, d.Hint = "a merge conflict of git begins here", "keep one of its two sides, and remove the lines <<<<<<<, ======= and >>>>>>>"
	}
	return d, true
}

func measureIndentation(line string) int {
	return len(line) - len(strings.TrimLeftFunc(line, unicode.IsSpace))
}

// explainNoKey explains a line in a block map that is not a key.
func (s syntaxPlace) explainNoKey() Explanation {
	if !s.firstOnLine() {
		before := strings.TrimSpace(s.before())
		if strings.HasSuffix(before, `"`) || strings.HasSuffix(before, "'") {
			if begin := s.openQuote(before[len(before)-1:]); begin != (Pos{}) {
				return Explanation{Pos: begin, Msg: "the quoted text that begins here is not closed on its line", Hint: "end it with " + before[len(before)-1:]}
			}
			return Explanation{
				Msg:  "unexpected text after the closing quote",
				Hint: `put the whole value in quotes; inside '…' write '' for a quote, inside "…" write \"`,
			}
		}
		return Explanation{Msg: "unexpected " + s.readNext() + " after the value"}
	}
	if after := s.after(); after == "-" || strings.HasPrefix(after, "- ") {
		return Explanation{
			Msg: "a list item between the keys of a map", Begin: s.start, BeginMsg: "the map begins here",
			Hint: "indent it below the key it belongs to",
		}
	}
	return Explanation{Msg: "this line is not lined up with the keys above it", Begin: s.start, BeginMsg: "the map begins here"}
}

// explainNoItem explains a line in a block list that is not an item.
func (s syntaxPlace) explainNoItem() Explanation {
	if s.firstOnLine() {
		return Explanation{
			Msg: "this line is not lined up with the list above it", Begin: s.start, BeginMsg: "the list begins here",
			Hint: `a list item begins with "- " below the other items' "-"; a key of an item goes below the item's first key`,
		}
	}
	return Explanation{Msg: "unexpected " + s.readNext() + " after the list item", Begin: s.start, BeginMsg: "the list begins here"}
}

func (s syntaxPlace) explainUnclosed(want, begin string) Explanation {
	hint := s.suggestTwoKeys("{", "{…}")
	if hint == "" {
		hint = s.suggestQuotes()
	}
	if hint == "" {
		hint = s.suggestComment()
	}
	return Explanation{Msg: "expected " + want + ", got " + s.readNext(), Begin: s.start, BeginMsg: begin, Hint: hint}
}

// explainNoName explains "&" and "*" without a name.
func (s syntaxPlace) explainNoName() Explanation {
	mark := "*"
	line := string(s.f.Line(s.start.Line))
	if s.start.Col >= 1 && s.start.Col <= len(line) && line[s.start.Col-1] == '&' {
		mark = "&"
	}
	return Explanation{Pos: s.start, Msg: "a value can't begin with " + quote(mark), Hint: "put it in quotes"}
}
