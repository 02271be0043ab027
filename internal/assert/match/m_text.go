package match

import (
	"fmt"
	"strings"

	"mcptest/internal/assert/shown"
	"mcptest/internal/assert/textdiff"
	"mcptest/internal/base/display"
	"mcptest/internal/base/jsonv"
	"mcptest/internal/base/source"
)

var rowStartsWith = Row{
	Name: "starts-with", Aliases: []string{"starts_with"}, Doc: "a string starts with this one",
	Example: `starts-with: "Error:"`, Passes: `"Error: no such file"`, Fails: `"An Error: no"`,
	schema: `{"type":"string"}`, compile: compileAffix("starts with", strings.HasPrefix),
}

var rowEndsWith = Row{
	Name: "ends-with", Aliases: []string{"ends_with"}, Doc: "a string ends with this one",
	Example: `ends-with: .md`, Passes: `"README.md"`, Fails: `"README.md.bak"`,
	schema: `{"type":"string"}`, compile: compileAffix("ends with", strings.HasSuffix),
}

func compileAffix(verb string, has func(s, affix string) bool) func(*Compiler, *source.Node, string) Matcher {
	return func(c *Compiler, n *source.Node, path string) Matcher {
		want, ok := c.Text(n, path, "text")
		if !ok {
			return nil
		}
		blank := n.Blank && want == ""
		return matchFunc(func(v jsonv.Value) Outcome {
			if v.Kind() != jsonv.KindString {
				return unfit("text", v)
			}
			if blank {
				return blankNeedle(v)
			}
			if has(v.Text(), want) {
				return passed
			}
			expected := "text that " + verb + " " + shown.Quote(display.Truncate(want, shown.InLine))
			return Outcome{
				Msg: "expected " + expected + ", got " + affixOf(v.Text(), verb == "ends with"), Expected: expected,
				Notes: extraBreak(want, func(t string) bool { return has(v.Text(), t) }),
			}
		})
	}
}

// extraBreak explains that a value matches but for the line break at the end of the
// expected text, which YAML's | adds.
func extraBreak(want string, matches func(string) bool) []string {
	if t := strings.TrimRight(want, "\n"); t != want && matches(t) {
		return []string{"only the line break at the end of the expected text is missing: write |- in place of |"}
	}
	return nil
}

// affixOf returns the beginning or the end of a text for messages.
func affixOf(s string, end bool) string {
	if end {
		return textdiff.Window(s, len(s))
	}
	return textdiff.Window(s, 0)
}

var rowLevenshtein = Row{
	Name: "levenshtein", Doc: "a string differs from value by at most max insertions, deletions or replacements of one character",
	Example: `levenshtein: {value: kitten, max: 3}`, Passes: `"sitting"`, Fails: `"sitting on"`,
	schema:  `{"type":"object","required":["value","max"],"additionalProperties":false,"properties":{"value":{"type":"string"},"max":{"type":"integer","minimum":0,"maximum":1000}}}`,
	compile: compileLevenshtein,
}

// The cost of a comparison is roughly the product of these limits.
const (
	maxEditDistance = 1000
	maxEditLength   = 100_000
)

func compileLevenshtein(c *Compiler, n *source.Node, path string) Matcher {
	var m levenshtein
	keys := []string{"value", "max"}
	if !c.Keys(n, path, "a map with value and max", keys, keys, func(key, at string, _, v *source.Node) (ok bool) {
		if key == "max" {
			m.max, ok = c.count(v, at, maxEditDistance)
		} else if m.value, ok = c.Text(v, at, "text"); ok {
			if m.runes = []rune(m.value); len(m.runes) > maxEditLength {
				c.Errorf(v, at, "", "the text is longer than %d characters", maxEditLength)
				ok = false
			}
		}
		return ok
	}) {
		return nil
	}
	return matchFunc(m.match)
}

type levenshtein struct {
	value string
	runes []rune
	max   int
}

func (m levenshtein) match(v jsonv.Value) Outcome {
	if v.Kind() != jsonv.KindString {
		return unfit("text", v)
	}
	if v.Text() == m.value {
		return passed
	}
	distance := fmt.Sprintf("more than %d", m.max)
	if n := v.Len(); n <= len(m.runes)+m.max && n >= len(m.runes)-m.max {
		if _, ok := textdiff.EditDistance(m.runes, []rune(v.Text()), m.max); ok {
			return passed
		}
	}
	// Compute the exact distance if that is cheap.
	if const1 := 500; len(m.runes) <= const1 && v.Len() <= const1 {
		d, _ := textdiff.EditDistance(m.runes, []rune(v.Text()), const1)
		distance = fmt.Sprint(d)
	}
	want := shown.Quote(display.Truncate(m.value, shown.InLine))
	return Outcome{
		Msg:      fmt.Sprintf("the edit distance to %s is %s, expected at most %d: got %s", want, distance, m.max, shown.Got(v)),
		Expected: fmt.Sprintf("at most %d edits from %s", m.max, want),
	}
}
