package lint

import (
	"regexp/syntax"
	"slices"
	"strconv"
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
		checkMatcher(d, item.Get("matcher"), at+".matcher", false)
		checkAlways(d, item.Get("target"), item.Get("matcher"), at+".matcher")
		if target := item.Get("target"); target != nil && boolean().MatchString(target.Text) {
			checkQuotedBoolean(d, target.Text, item.Get("matcher"), at+".matcher")
		}
	}
}

// boolean matches targets that MCP defines as true or false.
var boolean = lazy.Regexp(`^(result\.isError|.*\.annotations\.(readOnly|destructive|idempotent|openWorld)Hint|(server|result)\.capabilities\..*\.(listChanged|subscribe))$`)

// checkQuotedBoolean reports exact: "false" where the value is a boolean: it never passes, and
// its negation always does.
func checkQuotedBoolean(d *source.Decoder, target string, n *source.Node, path string) {
	if n == nil {
		return
	}
	for i, item := range n.Items {
		checkQuotedBoolean(d, target, item, source.PathIndex(path, i))
	}
	for _, f := range n.Fields {
		at := source.PathKey(path, f.Key.Text)
		v := f.Value
		if f.Key.Text == "exact" && isQuotedBoolean(v) {
			mistake := d.Errorf(v, at, "%s is a boolean, never the text %q", target, v.Text)
			mistake.Hint = "without quotes: exact: " + v.Text
			continue
		}
		checkQuotedBoolean(d, target, f.Value, at)
	}
}

// isQuotedBoolean reports whether a value is the text true or false.
func isQuotedBoolean(v *source.Node) bool {
	return v.Kind == source.KindString && v.Origin == source.Written && (v.Text == "true" || v.Text == "false")
}

// checkMatcher examines one matcher; negated says that it is one that must not pass.
func checkMatcher(d *source.Decoder, n *source.Node, path string, negated bool) {
	if n == nil || n.Kind != source.KindMap {
		return
	}
	for _, f := range n.Fields {
		name, at := strings.ReplaceAll(f.Key.Text, "_", "-"), source.PathKey(path, f.Key.Text)
		switch name {
		case "not", "none-of", "all-of", "any-of", "each", "any":
			inside := negated != (name == "not" || name == "none-of")
			checkMatcher(d, f.Value, at, inside)
			for i, item := range f.Value.Items {
				checkMatcher(d, item, source.PathIndex(at, i), inside)
			}
			continue
		}
		if name == "regex" {
			checkLiteral(d, f.Value, at)
		}
		if passes := explainVacuous(name, f.Value); passes != "" && !negated {
			warn(d, f.Value, at, "every "+passes+" passes this matcher", "to require only the kind of a value, write {type: …}")
		}
	}
}

// kinds are the targets that always have a value, with its JSON type.
var kinds = map[string]string{
	"duration_ms": "number", "response_bytes": "number", "turns": "number", "cost_usd": "number",
	"tokens.total": "number", "tokens.input": "number", "tokens.output": "number",
	"notifications": "array", "logs": "array", "progress": "array", "requests": "array", "leftover": "array", "calls": "array",
	"stderr": "string", "stdout": "string",
}

// checkAlways warns about a matcher that every value of its target passes, because the target
// always has a value of one type.
func checkAlways(d *source.Decoder, target, n *source.Node, path string) {
	if target == nil || n == nil || n.Kind != source.KindMap || len(n.Fields) != 1 {
		return
	}
	kind, name, f := kinds[target.Text], n.Fields[0].Key.Text, n.Fields[0].Value
	limit, err := strconv.ParseFloat(f.Text, 64)
	below := kind == "number" && err == nil && (limit < 0 || limit == 0 && name == "gte")
	at := source.PathKey(path, name)
	switch {
	case kind == "":
	case name == "exists" && f.Text == "true", name == "absent" && f.Text == "false", name == "type" && f.Text == kind:
		measured := target.Text == "duration_ms" || target.Text == "response_bytes" || target.Text == "turns"
		if kind != "number" || measured {
			warn(d, f, at, target.Text+" always passes this matcher", "compare its value")
		}
	case below && (name == "gte" || name == "gt"):
		msg := target.Text + " is never negative: it always passes this matcher"
		warn(d, f, at, msg, "to require a time or a number, write {lt: …} or {gt: 0}")
	}
}

// explainVacuous names the values that all pass a matcher, if it is one that no value of that
// kind fails.
func explainVacuous(name string, n *source.Node) string {
	switch name {
	case "contains", "icontains", "starts-with", "ends-with", "regex":
		if isEmpty(n) || name == "regex" && n.Origin == source.Written && matchesAnyText(n.Text) {
			return "text"
		}
		fallthrough
	case "subset":
		if n.Kind == source.KindMap && len(n.Fields) == 0 {
			return "object"
		}
	case "contains-any", "icontains-any":
		for _, item := range n.Items {
			if isEmpty(item) {
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

// matchesAnyText reports whether a regular expression matches every text, because it matches the
// empty one at its beginning or at its end: a*, (x)?, ^.*.
func matchesAnyText(expr string) bool {
	re, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return false
	}
	return matchesNothing(re, syntax.OpBeginText) || matchesNothing(re, syntax.OpEndText)
}

// matchesNothing reports whether an expression matches the empty text wherever the assertion anchor
// holds.
func matchesNothing(re *syntax.Regexp, anchor syntax.Op) bool {
	inside := func(sub *syntax.Regexp) bool { return matchesNothing(sub, anchor) }
	switch re.Op {
	case anchor, syntax.OpEmptyMatch, syntax.OpStar, syntax.OpQuest:
		return true
	case syntax.OpBeginLine:
		return anchor == syntax.OpBeginText
	case syntax.OpEndLine:
		return anchor == syntax.OpEndText
	case syntax.OpRepeat:
		return re.Min == 0 || inside(re.Sub[0])
	case syntax.OpPlus, syntax.OpCapture:
		return inside(re.Sub[0])
	case syntax.OpAlternate:
		return slices.ContainsFunc(re.Sub, inside)
	case syntax.OpConcat:
		return !slices.ContainsFunc(re.Sub, func(sub *syntax.Regexp) bool { return !inside(sub) })
	}
	return false
}

// isEmpty reports whether the author wrote an empty text.
func isEmpty(n *source.Node) bool {
	return n.Kind == source.KindString && n.Text == "" && n.Origin == source.Written && !n.Blank
}

// script matches a regular expression as JavaScript, Perl and Ruby write it: between
// slashes, with flags after them or with an anchor inside.
var script = lazy.Regexp(`^/((?:[^/\\]|\\.)+)/([dgimsuvy]*)$`)

// checkLiteral warns about the slashes of other languages, which are part of the expression
// here.
func checkLiteral(d *source.Decoder, n *source.Node, path string) {
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
