package interpolate

import (
	"slices"
	"strings"

	"mcptest/internal/base/display"
	"mcptest/internal/base/placeholder"
)

// IsName reports whether s can be the name in a placeholder, which is followed by
// ":-" or "}": letters, digits, _, - and dots, beginning with a letter or _. After
// case. or steps., any name of a column or member is valid.
func IsName(s string) bool {
	if member, ok := cutRoot(s); ok {
		return member != "" && !strings.ContainsAny(member, "{}\n")
	}
	for i := range len(s) {
		c := s[i]
		switch {
		case c == '_', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
		case i > 0 && (c == '-' || c == '.' || c >= '0' && c <= '9'):
		default:
			return false
		}
	}
	return s != ""
}

// cutRoot returns the path after case. or steps.
func cutRoot(name string) (member string, ok bool) {
	if member, ok = strings.CutPrefix(name, "case."); ok {
		return member, true
	}
	return strings.CutPrefix(name, "steps.")
}

// isPlain returns the name of the variable that other tools write as env:NAME, env.NAME
// or { secrets.NAME }, or "".
func isPlain(name string) string {
	inside := strings.Trim(name, "{} ")
	root, short := "", inside
	if i := strings.LastIndexAny(inside, ":."); i >= 0 {
		root, short = strings.ToLower(inside[:i]), inside[i+1:]
	}
	foreign := root == "" && inside != name || slices.Contains([]string{"env", "process.env", "secrets", "var", "vars", "input"}, root)
	if !foreign || !IsName(short) {
		return ""
	}
	return short
}

// splitTemplate splits text at its placeholders and checks their names.
func splitTemplate(text string) ([]placeholder.Part, *placeholder.Error) {
	parts, bad := placeholder.Parse(text)
	placeholder.Each(parts, func(p placeholder.Part) {
		if bad != nil || IsName(p.Name) {
			return
		}
		bad = &placeholder.Error{
			Offset: p.Offset, Hint: placeholder.LiteralHint,
			Msg: display.Truncate(p.Text, 60) + " is not a placeholder: expected ${name} or ${name:-default}",
		}
		if trimmed := strings.TrimSpace(p.Name); IsName(trimmed) {
			bad.Hint = "write ${" + trimmed + "} without spaces"
		} else if name := isPlain(p.Name); name != "" {
			bad.Hint = "write ${" + name + "}"
			if strings.Contains(p.Name, "secrets.") { // of GitHub Actions
				bad.Hint += ", and in the workflow, at the step that runs mcptest: env: {" + name + ": \"${{ secrets." + name + " }}\"}"
			}
		}
	})
	if bad != nil {
		return nil, bad
	}
	return parts, nil
}
