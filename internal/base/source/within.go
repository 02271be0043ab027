package source

import (
	"strconv"
	"strings"

	"mcptest/internal/base/source/spelling"
)

// In returns the position of a byte offset inside a scalar's Text, so that a
// diagnostic about a regular expression, a path or a command inside the scalar
// points at the mistake. It handles quotes, escapes, line folding and the
// indentation of | blocks. If the offset can't be mapped to the file (a > block,
// a value from an alias of another form, replaced text), In returns the scalar's
// position.
func (n *Node) In(offset int) Pos {
	if n == nil {
		return Pos{}
	}
	f := n.Pos.File
	at := f.findOffset(n.Pos.Line, n.Pos.Col)
	if n.style == styleNone || at < 0 || offset < 0 || offset > len(n.Text) {
		return n.Pos
	}
	form, followed := map[style]byte{stylePlain: 0, styleSingle: '\'', styleDouble: '"', styleLiteral: '|'}[n.style]
	if !followed {
		return n.Pos
	}
	to, found := spelling.FindOffset(f.Data, at, form, n.Text, offset)
	if !found {
		return n.Pos
	}
	return f.At(to)
}

// Spelling returns a scalar as it is written in the file, such as 0x10 for the
// number 16 or True for true, or its Text if that is unknown.
func (n *Node) Spelling() string {
	f := n.Pos.File
	at := f.findOffset(n.Pos.Line, n.Pos.Col)
	if n.style != stylePlain || n.Kind == KindString || at < 0 {
		return n.Text
	}
	at = spelling.SkipProperties(f.Data, at)
	end := at
	for end < len(f.Data) && (strings.IndexByte("+-.", f.Data[end]) >= 0 || isAlphanumeric(f.Data[end])) {
		end++
	}
	return string(f.Data[at:end])
}

// Inline returns a value as it can be written inside { }: a short scalar of the author,
// in quotes if it needs them, or an ellipsis.
func (n *Node) Inline() string {
	switch {
	case n == nil || !n.IsScalar() || n.Origin != Written:
		return "…"
	case len(n.Text) > 2*shownText || n.Kind == KindNull && n.Text == "":
		return "…"
	case n.Kind == KindString && (n.Quoted || strings.ContainsAny(n.Text, ",[]{}") || strings.Contains(n.Text, ": ")):
		return strconv.Quote(n.Text)
	}
	return n.Spelling()
}

// AfterHash returns a hint for a value that is missing because "#" begins a comment.
func (n *Node) AfterHash() string {
	line := n.Pos.File.cutLine(n.Pos.Line)
	text := strings.TrimLeft(string(line[min(len(line), n.Pos.Col-1):]), " ")
	if len(text) > 1 && text[0] == '#' && text[1] != ' ' {
		return `"#" begins a comment; write ` + strconv.Quote(text)
	}
	return ""
}

func isAlphanumeric(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
