package source

import (
	"bytes"
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"mcptest/internal/display"

	yaml "go.yaml.in/yaml/v4"
)

// syntaxError says in plain words what the YAML library found, at our
// position. What the library calls "did not find expected key" has half a
// dozen everyday causes; the line itself tells which one it is.
func syntaxError(f *File, err error) Diagnostic {
	var le *yaml.LoadError
	if !errors.As(err, &le) {
		d := errorAt(Pos{File: f}, "not valid YAML: %v", err)
		d.Code = "syntax"
		return d
	}
	s := syntaxPlace{f: f, at: s2pos(f, le.Mark), start: s2pos(f, le.ContextMark), doing: le.ContextMsg}
	d := s.explain(le.Message)
	if d.Pos.IsZero() {
		d.Pos = s.at
	}
	if d.Pos.Line == 0 {
		d.Pos = Pos{File: f}
	}
	if d.Code == "" {
		d.Code = "syntax"
	}
	return d
}

func s2pos(f *File, m yaml.Mark) Pos {
	if m.Line <= 0 {
		return Pos{}
	}
	pos := Pos{File: f, Line: m.Line, Col: max(m.Column, 1)}
	// The end of the file is a line of its own to the library, and points at
	// nothing: the end of the last line with text is where to look.
	for n := pos.Line; n <= f.Lines(); n++ {
		if n > pos.Line || pos.Col == 1 {
			if len(bytes.TrimSpace(f.line(n))) > 0 {
				return pos
			}
			continue
		}
		return pos
	}
	for pos.Line > 1 && len(bytes.TrimSpace(f.line(pos.Line))) == 0 {
		pos.Line--
		pos.Col = utf8.RuneCount(bytes.TrimRight(f.line(pos.Line), " \t")) + 1
	}
	return pos
}

// syntaxPlace is where the library stopped (at) and where the thing it was
// reading began (start, may be zero).
type syntaxPlace struct {
	f     *File
	at    Pos
	start Pos
	doing string // in the library's words, such as "while scanning a tag"
}

// before and after return the line's text on either side of the place.
func (s syntaxPlace) before() string { return s.split(true) }
func (s syntaxPlace) after() string  { return s.split(false) }

func (s syntaxPlace) split(before bool) string {
	line := s.f.line(s.at.Line)
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

// next returns the character at the place, "the end of the line" or "the end
// of the file", as words.
func (s syntaxPlace) next() string {
	rest := s.after()
	if rest == "" {
		for n := s.at.Line + 1; n <= s.f.Lines(); n++ {
			if len(bytes.TrimSpace(s.f.line(n))) > 0 {
				return "the end of the line"
			}
		}
		return "the end of the file"
	}
	r, _ := utf8.DecodeRuneInString(rest)
	return quote(string(r))
}

// firstOnLine reports whether only white space comes before the place.
func (s syntaxPlace) firstOnLine() bool { return strings.TrimSpace(s.before()) == "" }

func (s syntaxPlace) explain(msg string) Diagnostic {
	if errors.Is(errTooDeep, errors.New(msg)) || strings.Contains(msg, errTooDeep.Error()) {
		return Diagnostic{Msg: errTooDeep.Error(), Code: "too-deep"}
	}
	if d, ok := s.explainTab(msg); ok {
		return d
	}
	switch msg {
	case "mapping values are not allowed in this context":
		return s.strayColon()
	case "did not find expected key":
		return s.noKey()
	case "did not find expected '-' indicator":
		return s.noItem()
	case "did not find expected ',' or ']'":
		return s.unclosed(`"," or "]"`, "the list begins here")
	case "did not find expected ',' or '}'":
		return s.unclosed(`"," or "}"`, "the map begins here")
	case "did not find expected node content":
		return Diagnostic{Msg: "expected a value, got " + s.next()}
	case "did not find expected <document start>":
		return Diagnostic{Msg: "unexpected " + s.next() + " after the end of the document"}
	case "block sequence entries are not allowed in this context":
		return Diagnostic{Msg: `a list item can't begin here`, Hint: `begin the list on a line of its own; if the "-" is part of the text, put the text in quotes`}
	case "mapping keys are not allowed in this context":
		return Diagnostic{Msg: `a "?" key can't begin here`, Hint: "put the text in quotes"}
	case "found unexpected end of stream":
		return Diagnostic{Pos: s.start, Msg: "the quoted text that begins here is never closed"}
	case "found unexpected document indicator":
		return Diagnostic{Pos: s.start, Msg: "the quoted text that begins here is not closed before the document ends"}
	case "could not find expected ':'":
		if d, ok := s.keyLine(s.start.Line); ok {
			return d
		}
		return Diagnostic{Pos: s.start, Msg: `expected ":" after this key`, Hint: `a key and its ":" must be on one line`}
	case "found character that cannot start any token":
		return Diagnostic{Msg: "a value can't begin with " + s.next(), Hint: "put it in quotes"}
	case "did not find expected alphabetic or numeric character":
		return s.noName()
	}
	return s.explainScalar(msg)
}

// explainScalar handles what can be wrong inside scalars, tags and directives.
func (s syntaxPlace) explainScalar(msg string) Diagnostic {
	if name, ok := strings.CutPrefix(msg, "unknown anchor '"); ok {
		name = strings.TrimSuffix(name, "' referenced")
		return Diagnostic{
			Msg:  "unknown alias " + quote("*"+name) + ": no " + quote("&"+name) + " comes before it",
			Hint: `if the "*" is part of the text, put the text in quotes`,
		}
	}
	switch msg {
	case "found unknown escape character":
		esc := s.after()
		if r := []rune(esc); len(r) > 2 {
			esc = string(r[:2])
		}
		return Diagnostic{Msg: "unknown escape " + esc + " in double quotes", Hint: `write \\ for a backslash, or use single quotes`}
	case "did not find expected hexadecimal number":
		return Diagnostic{Msg: "the escape is too short: expected a hexadecimal digit, got " + s.next()}
	case "found invalid Unicode character escape code":
		return Diagnostic{Msg: "the escape is not a Unicode character"}
	case "did not find expected comment or line break":
		return Diagnostic{Msg: "expected the end of the line, got " + s.next(), Hint: `the text of a block ("|" or ">") begins on the next line`}
	case "found an indentation indicator equal to 0":
		return Diagnostic{Msg: "the indentation of a block is a number from 1 to 9"}
	case "found a comment without preceding whitespace":
		return Diagnostic{Msg: `a comment needs a space before its "#"`}
	}
	switch {
	case strings.Contains(s.doing, "irective"):
		return Diagnostic{Pos: s.start, Msg: "not a YAML directive", Hint: `if the "%" is part of the text, put the text in quotes`}
	case strings.Contains(s.doing, "tag"), strings.Contains(msg, "tag"):
		return Diagnostic{Pos: s.start, Msg: `a value can't begin with "!"`, Hint: "put it in quotes"}
	}
	return Diagnostic{Msg: "not valid YAML: " + plainWords(msg)}
}

// plainWords rewrites the library's turns of phrase for the rare messages
// that have no explanation of their own.
func plainWords(msg string) string {
	return strings.NewReplacer(
		"did not find expected", "expected",
		"could not find expected", "expected",
		"did not find the expected", "expected",
		"block collection", "list",
		"flow sequence", "list",
		"block mapping", "map",
		"flow mapping", "map",
		"mapping", "map",
		"sequence", "list",
		"scalar", "text",
		"node", "value",
	).Replace(msg)
}

// explainTab recognizes the library's several ways to stumble over a tab.
func (s syntaxPlace) explainTab(msg string) (Diagnostic, bool) {
	about := strings.Contains(msg, "tab")
	if !about && msg != "found character that cannot start any token" {
		return Diagnostic{}, false
	}
	lead := s.f.line(s.at.Line)
	lead = lead[:len(lead)-len(bytes.TrimLeft(lead, " \t"))]
	tab := bytes.IndexByte(lead, '\t')
	switch {
	case tab >= 0 && (about || strings.HasPrefix(s.after(), "\t") || s.at.Col-1 <= len(lead)):
		return tabError(Pos{File: s.f, Line: s.at.Line, Col: tab + 1}), true
	case about || strings.HasPrefix(s.after(), "\t"):
		return tabError(s.at), true
	}
	return Diagnostic{}, false
}

// strayColon: a ": " where no key may be.
func (s syntaxPlace) strayColon() Diagnostic {
	if strings.Contains(s.before(), ": ") {
		return Diagnostic{Msg: `unexpected ":" inside a value`, Hint: "put the value in quotes if the colon is part of it"}
	}
	for n := s.at.Line - 1; n >= 1; n-- {
		prev := string(s.f.line(n))
		text := strings.TrimSpace(prev)
		if text == "" || text[0] == '#' {
			continue
		}
		if indentation(prev) != indentation(string(s.f.line(s.at.Line))) {
			break
		}
		if d, ok := s.keyLine(n); ok {
			return d
		}
		break
	}
	return Diagnostic{
		Pos: s.lineStart(), Msg: "this key is indented more than the line above allows",
		Hint: "line it up with the keys it belongs to",
	}
}

// keyLine explains a line that ought to begin with a key and doesn't.
func (s syntaxPlace) keyLine(n int) (Diagnostic, bool) {
	line := string(s.f.line(n))
	text := strings.TrimSpace(line)
	if text == "" || strings.Contains(text, ": ") || strings.HasSuffix(text, ":") || strings.ContainsAny(text[:1], "\"'[{") {
		return Diagnostic{}, false
	}
	pos := Pos{File: s.f, Line: n, Col: indentation(line) + 1}
	if i := strings.IndexByte(text, ':'); i > 0 {
		pos.Col += utf8.RuneCountInString(text[:i])
		return Diagnostic{Pos: pos, Msg: `no space after the ":"`, Hint: `a key and its value are separated by ": "`}, true
	}
	return Diagnostic{
		Pos: pos, Msg: `this line has no ":", so it is not a key`,
		Hint: "text of several lines is indented below its key, in quotes or after a |",
	}, true
}

func (s syntaxPlace) lineStart() Pos {
	return Pos{File: s.f, Line: s.at.Line, Col: indentation(string(s.f.line(s.at.Line))) + 1}
}

func indentation(line string) int {
	return len(line) - len(strings.TrimLeftFunc(line, unicode.IsSpace))
}

// noKey: inside a block map something that is no key.
func (s syntaxPlace) noKey() Diagnostic {
	if !s.firstOnLine() {
		before := strings.TrimSpace(s.before())
		if strings.HasSuffix(before, `"`) || strings.HasSuffix(before, "'") {
			return Diagnostic{
				Msg:  "unexpected text after the closing quote",
				Hint: `put the whole value in quotes; inside '…' write '' for a quote, inside "…" write \"`,
			}
		}
		return Diagnostic{Msg: "unexpected " + s.next() + " after the value"}
	}
	begins := []Related{{Pos: s.start, Msg: "the map begins here"}}
	if after := s.after(); after == "-" || strings.HasPrefix(after, "- ") {
		return Diagnostic{
			Msg: "a list item between the keys of a map", Related: begins,
			Hint: "indent it below the key it belongs to",
		}
	}
	return Diagnostic{Msg: "this line is not lined up with the keys above it", Related: begins}
}

// noItem: inside a block list something that is no item.
func (s syntaxPlace) noItem() Diagnostic {
	begins := []Related{{Pos: s.start, Msg: "the list begins here"}}
	if s.firstOnLine() {
		return Diagnostic{
			Msg: "this line is not lined up with the list above it", Related: begins,
			Hint: `a list item begins with "- " below the other items' "-"; a key of an item goes below the item's first key`,
		}
	}
	return Diagnostic{Msg: "unexpected " + s.next() + " after the list item", Related: begins}
}

func (s syntaxPlace) unclosed(want, begin string) Diagnostic {
	return Diagnostic{Msg: "expected " + want + ", got " + s.next(), Related: []Related{{Pos: s.start, Msg: begin}}, Hint: s.unquoted()}
}

// unquoted is the hint for a bracket that ends a plain text too early: that of
// a placeholder, or of a path.
func (s syntaxPlace) unquoted() string {
	before, after := s.before(), s.after()
	last, _ := utf8.DecodeLastRuneInString(before)
	switch {
	case strings.HasPrefix(after, "{") && last == '$':
	case strings.HasPrefix(after, "[") && (last == '_' || unicode.IsLetter(last) || unicode.IsDigit(last)):
	default:
		return ""
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
	return "inside { } and [ ], quote text that holds ${…} or [ ]: " + quote(display.Truncate(text, shownText))
}

// noName: "&" and "*" must be followed by a name.
func (s syntaxPlace) noName() Diagnostic {
	mark := "*"
	if line := string(s.f.line(s.start.Line)); s.start.Col >= 1 && s.start.Col <= len(line) && line[s.start.Col-1] == '&' {
		mark = "&"
	}
	return Diagnostic{Pos: s.start, Msg: "a value can't begin with " + quote(mark), Hint: "put it in quotes"}
}
