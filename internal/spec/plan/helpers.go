package plan

import (
	"strings"

	"mcptest/internal/base/source"
)

// report adds an error at a position, which need not be that of a whole node.
func report(d *source.Decoder, pos source.Pos, path, msg, hint string) {
	d.Add(source.Diagnostic{Pos: pos, Path: path, Msg: msg, Hint: hint})
}

// firstName returns the part of a dotted name before its first dot or bracket.
func firstName(s string) string {
	if i := strings.IndexAny(s, ".["); i >= 0 {
		return s[:i]
	}
	return s
}
