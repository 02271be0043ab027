package source

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/lazy"
	"mcptest/internal/base/lists"
)

// JSON returns the value as JSON with the order of maps and the digits of numbers. A
// nil node is an absent value.
func (n *Node) JSON() jsonv.Value {
	if n == nil {
		return jsonv.Value{}
	}
	switch n.Kind {
	case KindBool:
		return jsonv.Bool(n.Text == "true")
	case KindInt, KindFloat:
		if v, err := jsonv.Number(n.Text); err == nil {
			return v
		}
		return jsonv.String(n.Text)
	case KindString:
		return jsonv.String(n.Text)
	case KindList:
		return jsonv.List(n.Items, (*Node).JSON)
	case KindMap:
		members := lists.Map(n.Fields, func(f Field) jsonv.Member {
			return jsonv.Member{Key: f.Key.Text, Value: f.Value.JSON()}
		})
		return jsonv.Object(members...)
	}
	return jsonv.Null()
}

// FromJSON returns the value as nodes with the position pos. An absent value is a nil
// node. If an object contains a key twice, the last one counts.
func FromJSON(v jsonv.Value, pos Pos) *Node {
	return fromJSON(v, func(jsonv.Value) Pos { return pos })
}

// parseJSON parses a file that is JSON, nil if it is not. YAML does not allow some texts
// that JSON encoders write: pairs of escapes for one character, and certain line breaks.
func parseJSON(f *File) *Node {
	if len(f.Data) > MaxSize {
		return nil
	}
	bom := len(f.Data) - len(bytes.TrimPrefix(f.Data, utf8BOM))
	v, notes, err := jsonv.ParseWith(f.Data[bom:], jsonv.Options{MaxDepth: MaxDepth, MaxNodes: MaxNodes})
	if err != nil || len(notes) > 0 || v.Kind() != jsonv.KindObject && v.Kind() != jsonv.KindArray {
		return nil
	}
	return fromJSON(v, func(v jsonv.Value) Pos { return f.At(bom + v.Offset()) })
}

func fromJSON(v jsonv.Value, where func(jsonv.Value) Pos) *Node {
	pos := where(v)
	n := &Node{Pos: pos}
	switch v.Kind() {
	case jsonv.KindAbsent:
		return nil
	case jsonv.KindNull:
		n.Text = "null"
	case jsonv.KindBool:
		n.Kind, n.Text = KindBool, "false"
		if v.Bool() {
			n.Text = "true"
		}
	case jsonv.KindNumber:
		n.Kind, n.Text = KindInt, v.Literal()
		if isFloatLiteral(n.Text) {
			n.Kind = KindFloat
		}
	case jsonv.KindString:
		n.Kind, n.Text, n.Quoted, n.Blank = KindString, v.Text(), true, v.Text() == ""
	case jsonv.KindArray:
		n.Kind, n.Items = KindList, make([]*Node, 0, v.Len())
		for _, item := range v.Elems() {
			n.Items = append(n.Items, fromJSON(item, where))
		}
	case jsonv.KindObject:
		n.Kind, n.Fields = KindMap, make([]Field, 0, v.Len())
		at := make(map[string]int, v.Len())
		for key, val := range v.Members() {
			f := Field{Key: &Node{Pos: where(val), Kind: KindString, Text: key, Quoted: true}, Value: fromJSON(val, where)}
			if i, seen := at[key]; seen {
				n.Fields[i] = f
				continue
			}
			at[key] = len(n.Fields)
			n.Fields = append(n.Fields, f)
		}
	}
	return n
}

// plainText matches text that YAML reads as text without quotes, even in a flow list
// or map.
var plainText = lazy.Regexp(`^[0-9]+(ms|s|m|h)$|^\.\.$|^(\.{0,2}/|\.?[A-Za-z_$])[A-Za-z0-9_./$()*+<>=@^~-]*( [A-Za-z0-9_./$()*+<>=@^~-]+)*$`)

// reservedWords are not text without quotes in some version of YAML.
var reservedWords = map[string]bool{
	"null": true, "true": true, "false": true, "yes": true, "no": true, "on": true, "off": true, "y": true, "n": true,
	".inf": true, ".nan": true,
}

// Flow formats a value as YAML on one line, its strings with text.
func Flow(v jsonv.Value, text func(string) string) string {
	var items []string
	switch v.Kind() {
	case jsonv.KindArray:
		for _, item := range v.Elems() {
			items = append(items, Flow(item, text))
		}
		return "[" + strings.Join(items, ", ") + "]"
	case jsonv.KindObject:
		for key, val := range v.Members() {
			items = append(items, FlowText(key)+": "+Flow(val, text))
		}
		return "{" + strings.Join(items, ", ") + "}"
	case jsonv.KindString:
		return text(v.Text())
	}
	return v.String()
}

// FlowText formats a string as YAML, in quotes if necessary.
func FlowText(s string) string {
	if plainText().MatchString(s) && !reservedWords[strings.ToLower(s)] {
		return s
	}
	return string(append(AppendQuoted([]byte{'"'}, s), '"'))
}

// AppendQuoted appends a string as the inside of a text in double quotes. Characters
// that must not be shown are escaped.
func AppendQuoted(b []byte, s string) []byte {
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case display.IsHidden(r):
			b = display.AppendEscape(b, r)
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return b
}
