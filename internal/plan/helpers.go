package plan

import (
	"errors"
	"slices"
	"strings"

	"mcptest/internal/shellwords"
	"mcptest/internal/source"
)

// report adds an error at a position, which need not be that of a whole node.
func report(d *source.Decoder, pos source.Pos, path, msg, hint string) {
	d.Add(source.Diagnostic{Pos: pos, Path: path, Msg: msg, Hint: hint})
}

func contains(list []string, s string) bool { return slices.Contains(list, s) }

func hasSlash(s string) bool { return strings.Contains(s, "/") }

// firstName returns the part of a dotted name before its first dot or bracket.
func firstName(s string) string {
	if i := strings.IndexAny(s, ".["); i >= 0 {
		return s[:i]
	}
	return s
}

func asSplit(err error, into **shellwords.SplitError) bool { return errors.As(err, into) }
