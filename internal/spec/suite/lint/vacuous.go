package lint

import (
	"strings"

	"mcptest/internal/base/lazy"
	"mcptest/internal/base/source"
)

// Expectations warns about matchers of an `expect:` value that no response fails.
func Expectations(d *source.Decoder, n *source.Node, path string) {
	if n == nil {
		return
	}
	if n.Kind == source.KindMap {
		Expectations(d, n.Get("assertions"), path+".assertions")
		return
	}
	for i, item := range n.Items {
		at := source.PathIndex(path, i)
		for _, key := range []string{"assert-set", "assert_set"} {
			Expectations(d, item.Get(key), at+"."+key)
		}
		matcher(d, item.Get("matcher"), at+".matcher", false)
	}
}

// matcher examines one matcher; negated says that it is one that must not pass.
func matcher(d *source.Decoder, n *source.Node, path string, negated bool) {
	if n == nil || n.Kind != source.KindMap {
		return
	}
	for _, f := range n.Fields {
		name, at := strings.ReplaceAll(f.Key.Text, "_", "-"), source.PathKey(path, f.Key.Text)
		switch name {
		case "not", "none-of", "all-of", "any-of", "each", "any":
			inside := negated != (name == "not" || name == "none-of")
			matcher(d, f.Value, at, inside)
			for i, item := range f.Value.Items {
				matcher(d, item, source.PathIndex(at, i), inside)
			}
			continue
		}
		if name == "regex" {
			literal(d, f.Value, at)
		}
		if passes := vacuous(name, f.Value); passes != "" && !negated {
			warn(d, f.Value, at, "every "+passes+" passes this matcher", "to require only the kind of a value, write {type: …}")
		}
	}
}

// vacuous names the values that all pass a matcher, if it is one that no value of that
// kind fails.
func vacuous(name string, n *source.Node) string {
	switch name {
	case "contains", "icontains", "starts-with", "ends-with", "regex":
		if empty(n) {
			return "text"
		}
		fallthrough
	case "subset":
		if n.Kind == source.KindMap && len(n.Fields) == 0 {
			return "object"
		}
	case "contains-any", "icontains-any":
		for _, item := range n.Items {
			if empty(item) {
				return "text"
			}
		}
	case "schema":
		if n.Kind == source.KindMap && len(n.Fields) == 0 {
			return "value"
		}
	case "length":
		if low := n.Get("min"); low != nil && low.Text == "0" && len(n.Fields) == 1 {
			return "length"
		}
	}
	return ""
}

// empty reports whether the author wrote an empty text.
func empty(n *source.Node) bool {
	return n.Kind == source.KindString && n.Text == "" && n.Origin == source.Written && !n.Blank
}

// script matches a regular expression as JavaScript, Perl and Ruby write it: between
// slashes, with flags after them or with an anchor inside.
var script = lazy.Regexp(`^/((?:[^/\\]|\\.)+)/([dgimsuvy]*)$`)

// literal warns about the slashes of other languages, which are part of the expression
// here.
func literal(d *source.Decoder, n *source.Node, path string) {
	if n.Kind != source.KindString || n.Origin != source.Written || !strings.HasPrefix(n.Text, "/") {
		return
	}
	found := script().FindStringSubmatch(n.Text)
	if found == nil || found[2] == "" && !strings.HasPrefix(found[1], "^") && !strings.HasSuffix(found[1], "$") {
		return // a path
	}
	inside, flags := found[1], ""
	for _, r := range "ims" {
		if strings.ContainsRune(found[2], r) {
			flags += string(r)
		}
	}
	if flags != "" {
		inside = "(?" + flags + ")" + inside
	}
	warn(d, n, path, "the slashes are part of the regular expression, and so is what follows them", "write regex: '"+strings.ReplaceAll(inside, "'", "''")+"'")
}

func warn(d *source.Decoder, n *source.Node, path, msg, hint string) {
	d.AddNew(source.Diagnostic{Pos: n.Pos, Path: path, Severity: source.Warning, Code: "vacuous", Msg: msg, Hint: hint})
}
