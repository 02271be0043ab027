package source

import (
	"regexp"
	"strings"
	"sync"

	"mcptest/internal/display"
	"mcptest/internal/jsonv"
)

// plainText matches text that YAML reads as text without quotes, even in a flow list
// or map.
var plainText = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[0-9]+(ms|s|m|h)$|^\.\.$|^(\.{0,2}/|\.?[A-Za-z_$])[A-Za-z0-9_./$()*+<>=@^~-]*( [A-Za-z0-9_./$()*+<>=@^~-]+)*$`)
})

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
	b := []byte{'"'}
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case display.Hidden(r):
			b = display.AppendEscape(b, r)
		default:
			b = append(b, string(r)...)
		}
	}
	return string(append(b, '"'))
}
