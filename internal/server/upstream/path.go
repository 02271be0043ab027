package upstream

import (
	"net/url"
	"slices"
	"strings"
)

// pathTemplate is a path with variables, split at its slashes.
type pathTemplate struct {
	text     string
	segments []segment
	rest     bool // it ends with *: anything may follow
}

// segment is the text between two slashes: a literal, or a variable. A variable
// without a name is *.
type segment struct {
	literal  string
	name     string
	variable bool
}

// below returns the beginning of a path whose rest matches the template, "" if there is
// none: the base path of an API, such as /v1.
func (p *pathTemplate) below(path string) string {
	for i := 1; i < len(path); i++ {
		_, wrong := p.match(path[i:])
		if path[i] == '/' && wrong == 0 {
			return path[:i]
		}
	}
	return ""
}

// parsePath parses a template; problem describes the mistake in it, if any.
func parsePath(text string) (p pathTemplate, problem, hint string) {
	p.text = text
	switch {
	case text == "*":
		p.rest = true
		return p, "", ""
	case strings.Contains(text, "://"):
		return p, "expected a path, got an address", "the host is that of stands_for"
	case !strings.HasPrefix(text, "/"):
		return p, "a path begins with a slash", `such as "/` + text + `"`
	case strings.ContainsAny(text, "?#"):
		return p, "a path must not have a query or a fragment", "write the parameters under query:"
	}
	parts := strings.Split(text[1:], "/")
	seen := map[string]bool{}
	for i, part := range parts {
		inner, variable := strings.CutPrefix(part, "{")
		switch {
		case part == "*" && i == len(parts)-1:
			p.rest = true
		case part == "*":
			p.segments = append(p.segments, segment{variable: true})
		case variable:
			name, closed := strings.CutSuffix(inner, "}")
			if !closed || name == "" || strings.ContainsAny(name, "{}") {
				return p, "a variable is a whole segment: {name}", ""
			}
			if seen[name] {
				return p, "the path has the variable {" + name + "} twice", ""
			}
			seen[name] = true
			p.segments = append(p.segments, segment{name: name, variable: true})
		case strings.ContainsAny(part, "{}"):
			return p, "a variable is a whole segment: {name}", ""
		default:
			literal, err := url.PathUnescape(part)
			if err != nil {
				return p, "the path has a bad escape: " + err.Error(), ""
			}
			p.segments = append(p.segments, segment{literal: literal})
		}
	}
	return p, "", ""
}

// has reports whether the template has a variable of this name.
func (p *pathTemplate) has(name string) bool {
	return slices.ContainsFunc(p.segments, func(s segment) bool { return s.variable && s.name == name })
}

// match returns the values of the variables, and the number of segments that differ.
func (p *pathTemplate) match(path string) (vars map[string]string, wrong int) {
	got := strings.Split(strings.TrimPrefix(path, "/"), "/")
	for i, s := range p.segments {
		if i >= len(got) {
			return nil, wrong + len(p.segments) - i
		}
		text, err := url.PathUnescape(got[i])
		if err != nil {
			text = got[i]
		}
		switch {
		case !s.variable && text != s.literal:
			wrong++
		case s.variable && text == "":
			wrong++
		case s.name != "":
			if vars == nil {
				vars = map[string]string{}
			}
			vars[s.name] = text
		}
	}
	if extra := len(got) - len(p.segments); extra > 0 && !p.rest {
		wrong += extra
	}
	return vars, wrong
}

// covers reports whether every path that q matches is matched by p.
func (p *pathTemplate) covers(q *pathTemplate) bool {
	for i, s := range p.segments {
		if i >= len(q.segments) {
			return false
		}
		t := q.segments[i]
		if !s.variable && (t.variable || t.literal != s.literal) {
			return false
		}
	}
	return p.rest || !q.rest && len(p.segments) == len(q.segments)
}
