package agent

import (
	"slices"
	"strconv"
	"strings"

	"mcptest/internal/base/source"
)

// listRefusedTargets returns the selectors of calls whose refusal an expectation examines:
// [0] of calls[0].refused.
func listRefusedTargets(n *source.Node) []string {
	if n == nil {
		return nil
	}
	var out []string
	for _, f := range n.Fields {
		for _, member := range []string{".refused", ".result.isError"} {
			inner, isMember := strings.CutSuffix(f.Value.Text, member)
			selector, ofCalls := strings.CutPrefix(inner, "calls")
			if f.Key.Text == "target" && isMember && ofCalls {
				out = append(out, selector)
			}
		}
		out = append(out, listRefusedTargets(f.Value)...)
	}
	for _, item := range n.Items {
		out = append(out, listRefusedTargets(item)...)
	}
	return out
}

// Examines reports whether an assertion examines that the call at an index was refused.
// It may have several names. A selector of several calls counts for all.
func (c *Conversation) Examines(index int, names ...string) bool {
	return slices.ContainsFunc(c.refused, func(selector string) bool {
		inner, ok := strings.CutPrefix(selector, "[")
		if inner, closed := strings.CutSuffix(inner, "]"); ok && closed {
			if n, err := strconv.Atoi(inner); err == nil && n >= 0 {
				return n == index
			}
			if name := strings.Trim(inner, `"'`); len(name) == len(inner)-2 {
				return slices.Contains(names, name)
			}
		}
		return true
	})
}
