package compat

import (
	"strconv"
	"strings"
	"unicode"

	"mcptest/internal/base/lazy"
)

// The parts of a regular expression of ECMAScript in Unicode mode.
var (
	anyEscape   = `[dDwWsS]|[fnrtv]|0|c[A-Za-z]|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|u\{[0-9A-Fa-f]+\}|[pP]\{[A-Za-z0-9_=]+\}|[\^$\\.*+?()\[\]{}|/]`
	classEscape = lazy.Regexp(`^\\(?:` + anyEscape + `|[-b])`)
	atomEscape  = lazy.Regexp(`^\\(?:` + anyEscape + `|[1-9][0-9]*|k<[^>]+>)`)
	reference   = lazy.Regexp(`^\\(?:[1-9][0-9]*|k<[^>]+>|u\{[0-9A-Fa-f]+\})`)
	assertion   = lazy.Regexp(`^(?:\\[bB]|\^|\$)`)
	group       = lazy.Regexp(`^\((?:\?(?:[:=!]|<[=!]|<[A-Za-z_$][A-Za-z0-9_$]*>|[ims]*(?:-[ims]+)?:))?`)
	quantifier  = lazy.Regexp(`^(?:[*+?]|\{[0-9]+(?:,[0-9]*)?\})\??`)
)

// explainNotUnicode describes why Ajv, which compiles patterns in Unicode mode,
// rejects a pattern that other engines accept. It returns "" for a valid pattern, and
// ignores problems that every engine rejects.
func explainNotUnicode(p string) string {
	if fault := describeWrongReference(p); fault != "" {
		return fault
	}
	open := []bool{} // of each open group: a quantifier may follow it
	repeatable := false
	for p != "" {
		length := 1
		c := p[0]
		switch {
		case assertion().MatchString(p):
			length, repeatable = len(assertion().FindString(p)), false
		case c == '\\':
			if length = len(atomEscape().FindString(p)); length == 0 {
				return "invalid escape " + cutRunes(p, 2)
			}
			repeatable = true
		case c == '[':
			n, fault := measureClass(p)
			if fault != "" {
				return fault
			}
			length, repeatable = n, true
		case c == '(':
			head := group().FindString(p)
			if head == "(" && strings.HasPrefix(p, "(?") {
				return "invalid group " + cutRunes(p, 4)
			}
			lookaround := len(head) > 2 && strings.ContainsAny(head[2:], "=!")
			open, length, repeatable = append(open, !lookaround), len(head), false
		case c == ')' && len(open) > 0:
			repeatable, open = open[len(open)-1], open[:len(open)-1]
		case quantifier().MatchString(p):
			if !repeatable {
				return "nothing to repeat before " + cutRunes(p, 1)
			}
			length, repeatable = len(quantifier().FindString(p)), false
		case strings.IndexByte("{}]", c) >= 0:
			return "an unmatched bracket: " + cutRunes(p, 1)
		default:
			repeatable = c != '|'
		}
		p = p[length:]
	}
	return ""
}

// describeWrongReference describes a group that is named twice, a reference to a group that
// does not exist, or a character beyond Unicode.
func describeWrongReference(p string) string {
	groups, names, wanted := 0, map[string]bool{}, []string{}
	for p != "" {
		length := 1
		head := group().FindString(p)
		switch {
		case p[0] == '\\':
			escape := reference().FindString(p)
			length = max(2, len(escape))
			if escape != "" {
				wanted = append(wanted, escape)
			}
		case p[0] == '[':
			length, _ = measureClass(p)
			length = max(1, length)
		case strings.HasPrefix(head, "(?<") && strings.HasSuffix(head, ">"):
			name := head[3 : len(head)-1]
			if names[name] {
				return "the name of two groups: " + name
			}
			names[name] = true
			groups++
		case head == "(":
			groups++
		}
		p = p[min(length, len(p)):]
	}
	for _, escape := range wanted {
		n, _ := strconv.Atoi(escape[1:])
		code, _ := strconv.ParseInt(strings.Trim(escape, `\u{}`), 16, 64)
		switch {
		case escape[1] == 'k' && !names[strings.Trim(escape, `\k<>`)], escape[1] != 'k' && escape[1] != 'u' && n > groups:
			return "no group for " + escape
		case escape[1] == 'u' && code > unicode.MaxRune:
			return "no such character: " + escape
		}
	}
	return ""
}

// measureClass returns the length of the character class at the start of p.
func measureClass(p string) (length int, fault string) {
	set, dash := false, false // whether a class such as \w precedes, and a dash after that
	for i := 1; i < len(p); {
		n := 1
		isSet := false
		switch {
		case p[i] == ']':
			return i + 1, ""
		case p[i] == '\\':
			if n = len(classEscape().FindString(p[i:])); n == 0 {
				return 0, "invalid escape " + cutRunes(p[i:], 2)
			}
			isSet = strings.IndexByte("dDwWsSpP", p[i+1]) >= 0
		case p[i] == '-' && set && i+1 < len(p) && p[i+1] != ']':
			return 0, "a range that begins with a class: " + cutRunes(p, i+2)
		}
		if isSet && dash && i > 2 {
			return 0, "a range that ends with a class: " + cutRunes(p, i+n)
		}
		dash = p[i] == '-' && i > 1 && !dash && p[i-1] != '^'
		set, i = isSet, i+n
	}
	return len(p), ""
}

func cutRunes(s string, n int) string {
	r := []rune(s)
	return string(r[:min(n, len(r))])
}
