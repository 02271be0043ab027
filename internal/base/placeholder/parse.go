package placeholder

import "strings"

// Part is literal text or a placeholder.
type Part struct {
	Literal    bool
	Text       string // the literal text; of a placeholder its spelling
	Name       string // of a placeholder: what is between the braces, without the default
	Default    []Part // what follows ":-"
	HasDefault bool
	Offset     int // of a placeholder, in the whole text
}

// Error is a "${" that is no placeholder.
type Error struct {
	Offset    int // in the text
	Msg, Hint string
}

// Error returns the message.
func (e *Error) Error() string { return e.Msg }

// LiteralHint says how to write what is not meant as a placeholder.
const LiteralHint = `write "$${" for a literal "${"`

// Parse cuts a text at its placeholders. Braces in them are balanced, and
// placeholders in a default are placeholders. "$${" is a literal "${"; a "${"
// that is not closed is a mistake: left alone it would silently be something
// else than it looks.
func Parse(text string) ([]Part, *Error) { return parse(text, 0) }

func parse(text string, base int) (parts []Part, bad *Error) {
	literal := ""
	flush := func() {
		if literal != "" {
			parts, literal = append(parts, Part{Literal: true, Text: literal}), ""
		}
	}
	for i := 0; i < len(text); {
		at := strings.Index(text[i:], "${")
		if at < 0 {
			literal += text[i:]
			break
		}
		at += i
		if at > i && text[at-1] == '$' {
			literal += text[i:at-1] + "${"
			i = at + 2
			continue
		}
		literal += text[i:at]
		flush()
		end := End(text, at)
		if end < 0 {
			return nil, &Error{base + at, `"${" without a closing brace`, LiteralHint}
		}
		p := Part{Text: text[at:end], Offset: base + at}
		var def string
		p.Name, def, p.HasDefault = strings.Cut(text[at+2:end-1], ":-")
		if p.HasDefault {
			if p.Default, bad = parse(def, base+at+len("${")+len(p.Name)+len(":-")); bad != nil {
				return nil, bad
			}
		}
		parts, i = append(parts, p), end
	}
	flush()
	return parts, nil
}

// End returns where the placeholder that begins at i ends, -1 if it is not
// closed. Quotes have no meaning in it.
func End(text string, i int) int {
	depth := 0
	for ; i < len(text); i++ {
		switch text[i] {
		case '{':
			depth++
		case '}':
			depth--
			if depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}

// Each calls fn for every placeholder, those in defaults included.
func Each(parts []Part, fn func(p Part)) {
	for _, p := range parts {
		if !p.Literal {
			fn(p)
			Each(p.Default, fn)
		}
	}
}

// Whole reports whether the parts are nothing but one placeholder.
func Whole(parts []Part) bool { return len(parts) == 1 && !parts[0].Literal }
