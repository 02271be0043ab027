package gen

import (
	"strings"

	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
)

// flow writes a value as YAML on one line.
func flow(v jsonv.Value) string { return source.Flow(v, source.FlowText) }

// formatBlock writes a key and its value as YAML, over several lines where that
// reads better.
func formatBlock(key string, v jsonv.Value) string {
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
				b.WriteString(first + strings.ReplaceAll(formatBlock(key, val), "\n", "\n"+indent+"  ") + "\n")
				first = indent + "  "
			}
		}
		return
	}
	for key, val := range v.Members() {
		b.WriteString(indent + strings.ReplaceAll(formatBlock(flow(jsonv.String(key)), val), "\n", "\n"+indent) + "\n")
	}
}
