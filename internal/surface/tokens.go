package surface

import (
	"fmt"
	"io"
	"slices"

	"mcptest/internal/display"
	"mcptest/internal/jsonv"
)

// TokenCount describes how Tokens counts, for output.
const TokenCount = "estimate: bytes/4"

// Tokens estimates how many tokens a definition takes in the context of a model:
// a quarter of the bytes of its compact JSON, without icons and _meta, which
// clients do not pass on.
func Tokens(def jsonv.Value) int {
	return (len(def.Without("icons").Without("_meta").Append(nil)) + 3) / 4
}

// ToolTokens estimates the tokens of all tools, and returns the largest ones
// first.
func (s *Surface) ToolTokens() (total int, tools []Item) {
	for _, it := range s.Items {
		if it.Kind == Tool {
			total += Tokens(it.Def)
			tools = append(tools, it)
		}
	}
	slices.SortStableFunc(tools, func(a, b Item) int { return Tokens(b.Def) - Tokens(a.Def) })
	return total, tools
}

// WriteTokens lists the tools with their tokens, the largest ones first.
func (s *Surface) WriteTokens(w io.Writer, asJSON bool) {
	total, tools := s.ToolTokens()
	if asJSON {
		var list []jsonv.Value
		for _, it := range tools {
			list = append(list, jsonv.ObjectOf("name", jsonv.String(it.Name), "tokens", jsonv.Int(int64(Tokens(it.Def)))))
		}
		fmt.Fprintln(w, jsonv.ObjectOf("count", jsonv.String(TokenCount), "total", jsonv.Int(int64(total)), "tools", jsonv.Array(list...)))
		return
	}
	for _, it := range tools {
		fmt.Fprintf(w, "%6d  %s\n", Tokens(it.Def), display.Escape(it.Name))
	}
	fmt.Fprintf(w, "%6d  in all (%s)\n", total, TokenCount)
}
