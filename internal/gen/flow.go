package gen

import (
	"regexp"
	"strings"
	"sync"

	"mcptest/internal/jsonv"
)

// plainText is text that YAML reads as text without quotes, in a list or map
// written on one line too.
var plainText = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[0-9]+(ms|s|m|h)$|^[A-Za-z_./$][A-Za-z0-9_./$()*+<>=@^~-]*( [A-Za-z0-9_./$()*+<>=@^~-]+)*$`)
})

// reserved are words that YAML does not read as text.
var reserved = map[string]bool{"null": true, "true": true, "false": true, "yes": true, "no": true, "on": true, "off": true}

// flow writes a value as YAML on one line.
func flow(v jsonv.Value) string {
	switch v.Kind() {
	case jsonv.KindArray:
		var items []string
		for _, item := range v.Elems() {
			items = append(items, flow(item))
		}
		return "[" + strings.Join(items, ", ") + "]"
	case jsonv.KindObject:
		var items []string
		for key, val := range v.Members() {
			items = append(items, flow(jsonv.String(key))+": "+flow(val))
		}
		return "{" + strings.Join(items, ", ") + "}"
	case jsonv.KindString:
		if text := v.Text(); plainText().MatchString(text) && !reserved[strings.ToLower(text)] && !strings.HasPrefix(text, ".") {
			return text
		}
	}
	return v.String()
}

// block writes a key and its value as YAML, over several lines where that
// reads better.
func block(key string, v jsonv.Value) string {
	line := key + ": " + flow(v)
	const short = 80
	nested := v.Kind() == jsonv.KindArray || v.Kind() == jsonv.KindObject
	if len(line) <= short || !nested || v.Len() == 0 {
		return line
	}
	var b strings.Builder
	b.WriteString(key + ":\n")
	appendBlock(&b, v, "  ")
	return strings.TrimSuffix(b.String(), "\n")
}

func appendBlock(b *strings.Builder, v jsonv.Value, indent string) {
	if v.Kind() == jsonv.KindArray {
		for _, item := range v.Elems() {
			first := indent + "- "
			if item.Kind() != jsonv.KindObject || item.Len() == 0 {
				b.WriteString(first + flow(item) + "\n")
				continue
			}
			for key, val := range item.Members() {
				b.WriteString(first + strings.ReplaceAll(block(key, val), "\n", "\n"+indent+"  ") + "\n")
				first = indent + "  "
			}
		}
		return
	}
	for key, val := range v.Members() {
		b.WriteString(indent + strings.ReplaceAll(block(flow(jsonv.String(key)), val), "\n", "\n"+indent) + "\n")
	}
}
