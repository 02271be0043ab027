package suite

import (
	"strings"

	"mcptest/internal/display"
)

// part is literal text, or a placeholder when name is set.
type part struct {
	text   string // the literal; of a placeholder its spelling
	name   string
	def    []part // what follows ":-"
	hasDef bool
	offset int // of a placeholder, in the whole text
}

// badTemplate is a "${" that is no placeholder.
type badTemplate struct {
	offset    int
	msg, hint string
}

const literalHint = `write "$${" for a literal "${"`

// isName reports whether s may be between the braces in front of ":-":
// letters, digits, _, - and dots, beginning with a letter or _. What begins
// with case. or steps. may continue with any name of a column or of a member.
func isName(s string) bool {
	if member, ok := cutRoot(s); ok {
		return member != "" && !strings.ContainsAny(member, "{}\n")
	}
	for i := range len(s) {
		switch c := s[i]; {
		case c == '_', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
		case i > 0 && (c == '-' || c == '.' || c >= '0' && c <= '9'):
		default:
			return false
		}
	}
	return s != ""
}

// cutRoot returns the path behind case. or steps.
func cutRoot(name string) (member string, ok bool) {
	if member, ok = strings.CutPrefix(name, "case."); ok {
		return member, true
	}
	return strings.CutPrefix(name, "steps.")
}

// splitTemplate cuts text at its placeholders, which are ${name} and
// ${name:-default}; braces in a default are balanced, and placeholders in it
// are placeholders. "$${" is a literal "${". Anything else that begins with "${" is
// a mistake: left alone it would silently be something else than it looks.
func splitTemplate(text string) ([]part, *badTemplate) { return splitAt(text, 0) }

func splitAt(text string, base int) (parts []part, bad *badTemplate) {
	lit := ""
	add := func(s string) { lit += s }
	flush := func() {
		if lit != "" {
			parts = append(parts, part{text: lit})
			lit = ""
		}
	}
	for i := 0; i < len(text); {
		at := strings.Index(text[i:], "${")
		if at < 0 {
			add(text[i:])
			break
		}
		at += i
		if at > i && text[at-1] == '$' {
			add(text[i:at-1] + "${")
			i = at + 2
			continue
		}
		add(text[i:at])
		flush()
		end := closing(text, at+2)
		if end < 0 {
			return nil, &badTemplate{base + at, `"${" without a closing brace`, literalHint}
		}
		p, bad := placeholder(text[at:end+1], base+at)
		if bad != nil {
			return nil, bad
		}
		parts = append(parts, p)
		i = end + 1
	}
	flush()
	return parts, nil
}

// closing finds the brace that ends a placeholder whose body begins at i.
func closing(text string, i int) int {
	depth := 1
	for ; i < len(text); i++ {
		switch text[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// placeholder takes apart "${…}", which is at offset.
func placeholder(spelling string, offset int) (part, *badTemplate) {
	body := spelling[2 : len(spelling)-1]
	name, def, hasDef := strings.Cut(body, ":-")
	p := part{text: spelling, name: name, hasDef: hasDef, offset: offset}
	if !isName(name) {
		bad := &badTemplate{offset, display.Truncate(spelling, 60) + " is no placeholder: those are ${name} and ${name:-default}", literalHint}
		if trimmed := strings.TrimSpace(name); trimmed != name && isName(trimmed) {
			bad.hint = "write ${" + trimmed + "} without blanks"
		}
		return p, bad
	}
	if hasDef {
		var bad *badTemplate
		if p.def, bad = splitAt(def, offset+len("${")+len(name)+len(":-")); bad != nil {
			return p, bad
		}
	}
	return p, nil
}

// names adds the names of all placeholders, those in defaults included.
func names(parts []part, add func(p part)) {
	for _, p := range parts {
		if p.name != "" {
			add(p)
			names(p.def, add)
		}
	}
}
