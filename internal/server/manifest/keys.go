package manifest

import (
	"slices"
	"strings"
	"unicode"

	"mcptest/internal/base/source"
)

// spellInSnake returns a map whose camelCase keys are written in snake_case, the
// spelling of manifests: inputSchema becomes input_schema. Only the keys of the map
// itself are renamed, since those below may be data.
func spellInSnake(n *source.Node, path string, d *source.Decoder) *source.Node {
	return renameKeys(n, path, d, makeSnake)
}

// renameBlockKey renames the keys of content blocks to MCP's spelling.
func renameBlockKey(key string) string {
	if key == "mime_type" {
		return "mimeType"
	}
	return key
}

func renameKeys(n *source.Node, path string, d *source.Decoder, name func(string) string) *source.Node {
	if n.Kind != source.KindMap {
		return n
	}
	out := *n
	out.Fields = make([]source.Field, 0, len(n.Fields))
	for _, f := range n.Fields {
		if to := name(f.Key.Text); to != f.Key.Text {
			if n.Get(to) != nil {
				d.Errorf(f.Key, path, "%s and %s are the same key", f.Key.Text, to)
				continue
			}
			f.Key = f.Key.WithText(to)
		}
		out.Fields = append(out.Fields, f)
	}
	return &out
}

func makeSnake(key string) string {
	if key == "" || !unicode.IsLower(rune(key[0])) || strings.Contains(key, "_") {
		return key
	}
	var b strings.Builder
	for _, r := range key {
		if unicode.IsUpper(r) {
			b.WriteByte('_')
			r = unicode.ToLower(r)
		}
		b.WriteRune(r)
	}
	return b.String()
}

// countGiven returns the number of nodes that are not nil.
func countGiven(nodes ...*source.Node) int {
	return len(slices.DeleteFunc(nodes, func(n *source.Node) bool { return n == nil }))
}

// compileOptional compiles a node that may be left out.
func compileOptional[T any](n *source.Node, path string, compile func(*source.Node, string) T) (out T) {
	if n != nil {
		out = compile(n, path)
	}
	return out
}
