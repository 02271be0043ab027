package surface

import (
	"slices"

	"mcptest/internal/jsonv"
)

// TokenCount says how Tokens counts, for output.
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
